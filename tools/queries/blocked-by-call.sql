-- SPDX-License-Identifier: GPL-2.0
-- In which system calls, and on which files, are processes blocked?
--
-- Prints for each process, system call and file how often its threads were blocked, the total and
-- the longest time, and the number of waits that are not complete, which may have lasted longer.
-- The call is null if a thread was blocked outside of system calls, for example in a page fault.
-- Needs the kernel events of the class sched; files also need syscall, strings and process.
--
-- parameter rows: number of rows, default 20
SELECT w.log, w.pid, p.name AS process, w.call, w.file, count(*) AS count,
       sum(w.duration_ns) AS blocked_ns, max(w.duration_ns) AS max_ns,
       count(*) FILTER (WHERE w.complete IS NOT TRUE) AS incomplete
FROM waits w LEFT JOIN processes p USING (log, upid)
WHERE w.state <> 'stopped'
GROUP BY w.log, w.upid, w.pid, p.name, w.call, w.file
ORDER BY blocked_ns DESC, w.log, w.pid, w.upid, w.call, w.file
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
