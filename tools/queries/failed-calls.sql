-- SPDX-License-Identifier: GPL-2.0
-- Which system calls fail, with which error, on which file?
--
-- Prints for each process, system call, error and file how often the call failed, and the time that
-- the failed calls took. Needs the kernel events of the class syscall; files also need strings and
-- process.
--
-- parameter rows: number of rows, default 20
WITH errors(number, error) AS (VALUES
	(1, 'EPERM'), (2, 'ENOENT'), (3, 'ESRCH'), (4, 'EINTR'), (5, 'EIO'), (6, 'ENXIO'),
	(7, 'E2BIG'), (9, 'EBADF'), (10, 'ECHILD'), (11, 'EAGAIN'), (12, 'ENOMEM'), (13, 'EACCES'),
	(14, 'EFAULT'), (16, 'EBUSY'), (17, 'EEXIST'), (20, 'ENOTDIR'), (21, 'EISDIR'),
	(22, 'EINVAL'), (24, 'EMFILE'), (25, 'ENOTTY'), (27, 'EFBIG'), (28, 'ENOSPC'),
	(29, 'ESPIPE'), (30, 'EROFS'), (32, 'EPIPE'), (36, 'ENAMETOOLONG'), (38, 'ENOSYS'),
	(95, 'EOPNOTSUPP'), (98, 'EADDRINUSE'), (103, 'ECONNABORTED'), (104, 'ECONNRESET'),
	(110, 'ETIMEDOUT'), (111, 'ECONNREFUSED'), (115, 'EINPROGRESS'),
	(512, 'interrupted, restarted'), (514, 'interrupted, restarted'),
	(516, 'interrupted, restarted')
)
SELECT c.log, c.pid, p.name AS process, c.name AS call,
       coalesce(e.error, (-c.result)::VARCHAR) AS error, c.file, count(*) AS count,
       sum(c.duration_ns) AS duration_ns
FROM syscalls c LEFT JOIN processes p USING (log, upid) LEFT JOIN errors e ON e.number = -c.result
WHERE c.complete AND c.result BETWEEN -4095 AND -1
GROUP BY c.log, c.upid, c.pid, p.name, c.name, coalesce(e.error, (-c.result)::VARCHAR), c.file
ORDER BY count DESC, c.log, c.pid, c.upid, call, error, c.file
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
