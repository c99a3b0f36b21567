-- SPDX-License-Identifier: GPL-2.0
-- Which threads let others wait longest for their locks?
--
-- A lock is a futex, identified by its address in its process. Prints for each lock and each thread
-- that woke others how often and for how long they were blocked, the longest time, and the number
-- of threads that waited. For a mutex, the thread that wakes is the one that unlocked it, but
-- others may have held the mutex earlier during the same wait. For a condition variable, it is the
-- thread that signalled. Needs the kernel events of the classes sched and syscall.
--
-- parameter rows: number of rows, default 20
WITH calls AS (
	SELECT log, utid, begin_ns, end_ns, arg0 FROM syscalls WHERE name IN ('futex', 'futex_wait')
), locked AS (
	SELECT w.log, w.upid, w.pid, w.utid, w.waker_utid, w.waker_pid, w.waker_tid, w.duration_ns,
	       CASE WHEN c.end_ns IS NULL OR c.end_ns >= w.end_ns THEN c.arg0 END AS address
	FROM waits w ASOF LEFT JOIN calls c
	  ON c.log = w.log AND c.utid = w.utid AND w.begin_ns >= c.begin_ns
	WHERE w.complete AND w.call IN ('futex', 'futex_wait') AND w.woken_by = 'thread'
)
SELECT l.log, l.pid, printf('0x%x', l.address) AS lock, l.waker_pid AS holder_pid,
       l.waker_tid AS holder_tid, t.name AS holder, count(*) AS waits,
       sum(l.duration_ns) AS blocked_ns, max(l.duration_ns) AS max_ns,
       count(DISTINCT l.utid) AS waiters
FROM locked l LEFT JOIN threads t ON t.log = l.log AND t.utid = l.waker_utid
GROUP BY l.log, l.upid, l.pid, l.address, l.waker_utid, l.waker_pid, l.waker_tid, t.name
ORDER BY blocked_ns DESC, l.log, lock, holder_tid, l.upid, l.waker_utid
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
