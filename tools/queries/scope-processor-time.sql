-- SPDX-License-Identifier: GPL-2.0
-- How much processor time do scopes take?
--
-- Prints for each scope the number of complete instances, the total time from begin to end, the
-- time for which their threads ran, the same in percent, and the longest time for which an instance
-- ran. The time of a scope inside another one counts for both. Needs the kernel events of the class
-- sched.
--
-- parameter rows: number of rows, default 20
WITH instances AS (
	SELECT row_number() OVER () AS id, log, utid, name, begin_ns, end_ns, duration_ns
	FROM scopes WHERE complete
), ran AS (
	SELECT i.id, sum(least(i.end_ns, r.end_ns) - greatest(i.begin_ns, r.begin_ns)) AS running_ns
	FROM instances i JOIN states r
	  ON r.log = i.log AND r.utid = i.utid AND r.begin_ns < i.end_ns AND r.end_ns > i.begin_ns
	WHERE r.state = 'running'
	GROUP BY i.id
)
SELECT log, name, count(*) AS count, sum(duration_ns) AS duration_ns,
       coalesce(sum(running_ns), 0) AS running_ns,
       round(100 * coalesce(sum(running_ns), 0) / sum(duration_ns), 1) AS percent,
       coalesce(max(running_ns), 0) AS max_running_ns
FROM instances LEFT JOIN ran USING (id)
GROUP BY log, name
ORDER BY running_ns DESC, log, name
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
