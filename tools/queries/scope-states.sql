-- SPDX-License-Identifier: GPL-2.0
-- What did threads do in the slowest instances of scopes?
--
-- Each row is an instance. Prints how long its thread ran, waited for a processor, slept, waited
-- for a block device and was stopped; and the system call and the file in which it was blocked
-- longest. During the rest of the time, the state is unknown. Needs the kernel events of the class
-- sched.
--
-- parameter scope: only the scope with this name
-- parameter rows: number of rows, default 20
WITH slowest AS (
	SELECT row_number() OVER () AS id, log, utid, name, pid, tid, begin_ns, end_ns, duration_ns
	FROM scopes
	WHERE complete AND (getvariable('scope') IS NULL OR name = getvariable('scope'))
	ORDER BY duration_ns DESC, log, begin_ns
	LIMIT coalesce(getvariable('rows')::BIGINT, 20)
), parts AS (
	SELECT s.id, t.state, least(s.end_ns, t.end_ns) - greatest(s.begin_ns, t.begin_ns) AS ns
	FROM slowest s JOIN states t
	  ON t.log = s.log AND t.utid = s.utid AND t.begin_ns < s.end_ns AND t.end_ns > s.begin_ns
), sums AS (
	SELECT id, sum(ns) FILTER (WHERE state = 'running') AS running_ns,
	       sum(ns) FILTER (WHERE state = 'runnable') AS runnable_ns,
	       sum(ns) FILTER (WHERE state = 'sleep') AS sleep_ns,
	       sum(ns) FILTER (WHERE state = 'disk') AS disk_ns,
	       sum(ns) FILTER (WHERE state = 'stopped') AS stopped_ns
	FROM parts GROUP BY id
), blocked AS (
	SELECT s.id, w.call, w.file,
	       sum(least(s.end_ns, w.end_ns) - greatest(s.begin_ns, w.begin_ns)) AS ns
	FROM slowest s JOIN waits w
	  ON w.log = s.log AND w.utid = s.utid AND w.begin_ns < s.end_ns AND w.end_ns > s.begin_ns
	GROUP BY s.id, w.call, w.file
	QUALIFY row_number() OVER (PARTITION BY s.id ORDER BY ns DESC, w.call, w.file) = 1
)
SELECT log, name, begin_ns, pid, tid, duration_ns, running_ns, runnable_ns, sleep_ns, disk_ns,
       stopped_ns, call, file, ns AS blocked_ns
FROM slowest LEFT JOIN sums USING (id) LEFT JOIN blocked USING (id)
ORDER BY duration_ns DESC, log, begin_ns;
