-- SPDX-License-Identifier: GPL-2.0
-- How many processors does each process use over time?
--
-- Divides the time into steps. Prints for each step and process how long its threads ran, in total
-- and as a number of processors. A step in which the process did not run has no row. Needs the
-- kernel events of the class sched.
--
-- parameter step_ms: length of a step in ms, default 100
WITH step AS (
	SELECT coalesce(getvariable('step_ms')::BIGINT, 100) * 1000000 AS ns
), origin AS (
	SELECT log, min(begin_ns) AS at FROM states GROUP BY log
), ran AS (
	SELECT s.log, s.upid, s.pid, s.begin_ns - o.at AS begins, s.end_ns - o.at AS ends, step.ns,
	       unnest(range((s.begin_ns - o.at) // step.ns, (s.end_ns - o.at - 1) // step.ns + 1))
		AS number
	FROM states s JOIN origin o USING (log) CROSS JOIN step
	WHERE s.state = 'running' AND s.end_ns > s.begin_ns
)
SELECT r.log, r.number * r.ns // 1000000 AS from_ms, r.pid, p.name AS process,
       sum(least(r.ends, (r.number + 1) * r.ns) - greatest(r.begins, r.number * r.ns)) AS running_ns,
       round(running_ns / r.ns, 3) AS processors
FROM ran r LEFT JOIN processes p USING (log, upid)
GROUP BY r.log, r.number, r.ns, r.upid, r.pid, p.name
ORDER BY r.log, r.number, running_ns DESC, r.pid;
