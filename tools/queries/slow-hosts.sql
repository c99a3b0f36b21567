-- SPDX-License-Identifier: GPL-2.0
-- Which host is slower than the others?
--
-- Prints for each host and scope the number of complete instances, the median and percentile 99 of
-- their time, the median of the percentile 99 of all hosts, and the ratio of the percentile 99 of
-- this host to that median. Several logs of a host count together. The slowest host comes first.
--
-- logs: each on its own
-- parameter scope: only the scope with this name
-- parameter rows: number of rows, default 20
WITH of_hosts AS (
	SELECT coalesce(h.node, l.path) AS host, s.name, count(*) AS count,
	       quantile_disc(s.duration_ns, 0.5) AS p50_ns, quantile_disc(s.duration_ns, 0.99) AS p99_ns
	FROM scopes s JOIN logs l USING (log) LEFT JOIN hosts h USING (log)
	WHERE s.complete AND (getvariable('scope') IS NULL OR s.name = getvariable('scope'))
	GROUP BY ALL
)
SELECT host, name, count, p50_ns, p99_ns,
       median(p99_ns) OVER (PARTITION BY name)::BIGINT AS p99_ns_of_hosts,
       round(p99_ns / median(p99_ns) OVER (PARTITION BY name), 3) AS times
FROM of_hosts
ORDER BY times DESC, name, host
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
