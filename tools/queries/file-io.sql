-- SPDX-License-Identifier: GPL-2.0
-- Which files do processes read and write, how much and for how long?
--
-- Prints for each process and file the numbers of calls, the bytes and the times, for reading and
-- for writing. The file is null if the log does not show it. Needs the kernel events of the classes
-- syscall, strings and process.
--
-- parameter rows: number of rows, default 20
WITH io AS (
	SELECT log, upid, pid, file, duration_ns, greatest(result, 0) AS bytes,
	       name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'sendto', 'sendmsg')
		AS writes
	FROM syscalls
	WHERE complete AND name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'recvfrom', 'recvmsg',
		'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'sendto', 'sendmsg')
)
SELECT i.log, i.pid, p.name AS process, i.file,
       count(*) FILTER (WHERE NOT writes) AS reads,
       coalesce(sum(bytes) FILTER (WHERE NOT writes), 0) AS bytes_read,
       coalesce(sum(duration_ns) FILTER (WHERE NOT writes), 0) AS read_ns,
       count(*) FILTER (WHERE writes) AS writes,
       coalesce(sum(bytes) FILTER (WHERE i.writes), 0) AS bytes_written,
       coalesce(sum(duration_ns) FILTER (WHERE i.writes), 0) AS write_ns
FROM io i LEFT JOIN processes p USING (log, upid)
GROUP BY i.log, i.upid, i.pid, p.name, i.file
ORDER BY read_ns + write_ns DESC, i.log, i.pid, i.file
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
