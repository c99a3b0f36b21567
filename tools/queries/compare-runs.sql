-- SPDX-License-Identifier: GPL-2.0
-- Which scopes take longer in the second log than in the first?
--
-- Prints for each scope the number of complete instances, the median and percentile 99 of their
-- time in both logs, the growth of the median, and how much longer all instances in the second log
-- took together. A column is null if the scope is not in that log. To check if events were lost,
-- use checked-percentiles.
--
-- logs: each on its own
-- parameter rows: number of rows, default 20
WITH a AS (
	SELECT name, count(*) AS n, sum(duration_ns) AS total, quantile_disc(duration_ns, 0.5) AS p50,
	       quantile_disc(duration_ns, 0.99) AS p99
	FROM scopes WHERE complete AND log = 1 GROUP BY name
), b AS (
	SELECT name, count(*) AS n, sum(duration_ns) AS total, quantile_disc(duration_ns, 0.5) AS p50,
	       quantile_disc(duration_ns, 0.99) AS p99
	FROM scopes WHERE complete AND log = 2 GROUP BY name
)
SELECT name, a.n AS count_1, b.n AS count_2, a.p50 AS p50_ns_1, b.p50 AS p50_ns_2,
       round(b.p50 / a.p50, 3) AS growth, a.p99 AS p99_ns_1, b.p99 AS p99_ns_2,
       coalesce(b.total, 0) - coalesce(a.total, 0) AS more_ns
FROM a FULL JOIN b USING (name)
ORDER BY more_ns DESC, name
LIMIT coalesce(getvariable('rows')::BIGINT, 20);
