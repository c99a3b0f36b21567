-- SPDX-License-Identifier: GPL-2.0
-- Which threads wait longest for a processor?
--
-- Prints for each thread how often it waited for a processor after it was woken, and how often
-- after it was preempted; the total time, percentile 99 and the longest time of these waits; and
-- how long the thread ran, for comparison. Needs the kernel events of the class sched.
--
-- parameter rows: number of rows, default 20
SELECT s.log, s.pid, s.tid, t.name AS thread,
       count(*) FILTER (WHERE s.state = 'runnable' AND NOT s.preempted) AS woken,
       count(*) FILTER (WHERE s.state = 'runnable' AND s.preempted) AS preempted,
       sum(s.duration_ns) FILTER (WHERE s.state = 'runnable') AS runnable_ns,
       quantile_disc(s.duration_ns, 0.99) FILTER (WHERE s.state = 'runnable') AS p99_ns,
       max(s.duration_ns) FILTER (WHERE s.state = 'runnable') AS max_ns,
       coalesce(sum(s.duration_ns) FILTER (WHERE s.state = 'running'), 0) AS running_ns
FROM states s LEFT JOIN threads t USING (log, utid)
GROUP BY s.log, s.utid, s.pid, s.tid, t.name
HAVING runnable_ns > 0
ORDER BY runnable_ns DESC, s.log, s.tid, s.utid
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
