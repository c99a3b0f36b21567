-- SPDX-License-Identifier: GPL-2.0
-- Which chains of threads that wait for each other take the most time?
--
-- Begins with the longest complete waits. Follows each from the thread that waited to the thread
-- that woke it, then to the last wait of that thread which ended meanwhile, to the thread that woke
-- that one, and so on. Prints the chains with the system calls of the waits: how often each chain
-- occurred, and the total and the longest time of the first waits. Needs the kernel events of the
-- class sched.
--
-- parameter waits: number of waits to follow, default 1000
-- parameter depth: number of threads after the first, default 8
-- parameter rows: number of rows, default 20
WITH RECURSIVE followed AS (
	SELECT row_number() OVER () AS id, * FROM (
		SELECT * FROM waits WHERE complete AND state <> 'stopped'
		ORDER BY duration_ns DESC, log, begin_ns
		LIMIT coalesce(getvariable('waits')::BIGINT, 1000))
), chain AS (
	SELECT id, 0 AS depth, log, utid, call, waker_utid, waker_tid, woken_by, begin_ns, end_ns,
	       duration_ns AS first_ns
	FROM followed
	UNION ALL
	SELECT c.id, c.depth + 1, c.log, c.waker_utid, w.call, w.waker_utid, w.waker_tid, w.woken_by,
	       w.begin_ns, w.end_ns, c.first_ns
	FROM chain c LEFT JOIN waits w
	  ON w.log = c.log AND w.utid = c.waker_utid AND w.complete
	     AND w.end_ns > c.begin_ns AND w.end_ns <= c.end_ns
	WHERE c.waker_utid IS NOT NULL AND c.depth < coalesce(getvariable('depth')::BIGINT, 8)
	QUALIFY row_number() OVER (PARTITION BY c.id ORDER BY w.end_ns DESC NULLS LAST) = 1
), texts AS (
	SELECT c.id, any_value(c.log) AS log, any_value(c.first_ns) AS first_ns,
	       string_agg(coalesce(t.name, 'thread ' || t.tid)
			|| CASE WHEN c.end_ns IS NULL THEN ''
			        ELSE ' in ' || coalesce(c.call, 'no call') END
			|| CASE WHEN c.end_ns IS NULL OR c.waker_utid IS NOT NULL THEN ''
			        ELSE ' <- ' || coalesce(c.woken_by || coalesce(' ' || c.waker_tid, ''),
						'unknown') END,
			' <- ' ORDER BY c.depth) AS chain
	FROM chain c LEFT JOIN threads t ON t.log = c.log AND t.utid = c.utid
	GROUP BY c.id
)
SELECT log, count(*) AS count, sum(first_ns) AS blocked_ns, max(first_ns) AS max_ns, chain
FROM texts GROUP BY log, chain
ORDER BY blocked_ns DESC, log, chain
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
