-- SPDX-License-Identifier: GPL-2.0
-- What is missing in the logs?
--
-- Prints for each log and kind of loss the number of places, the number of events (null: unknown),
-- the total time of the places, and the share of the time of the log in percent. A log without
-- losses has a row with the kind "none".
SELECT h.log, h.node, coalesce(l.kind, 'none') AS kind, count(l.kind) AS places,
       CASE WHEN count(l.kind) = count(l.count) THEN coalesce(sum(l.count), 0) END AS events,
       coalesce(sum(coalesce(l.to_ns, h.last_ns) - coalesce(l.from_ns, h.first_ns))
		FILTER (WHERE l.kind IS NOT NULL), 0) AS missing_ns,
       round(100 * missing_ns / nullif(h.last_ns - h.first_ns, 0), 3) AS percent
FROM hosts h LEFT JOIN losses l USING (log)
GROUP BY h.log, h.node, h.first_ns, h.last_ns, l.kind
ORDER BY h.log, kind;
