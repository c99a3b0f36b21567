-- SPDX-License-Identifier: GPL-2.0
-- Which instances of scopes took the longest?
--
-- Each row is a complete instance. Prints its time with and without the scopes inside it, its
-- begin, its thread, and the fields of the event that begins it.
--
-- parameter scope: only the scope with this name
-- parameter rows: number of rows, default 20
SELECT s.log, s.name, s.duration_ns, s.self_ns, s.begin_ns, s.pid, s.tid, t.name AS thread, s.fields
FROM scopes s LEFT JOIN threads t USING (log, utid)
WHERE s.complete AND (getvariable('scope') IS NULL OR s.name = getvariable('scope'))
ORDER BY s.duration_ns DESC, s.log, s.begin_ns
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
