-- SPDX-License-Identifier: GPL-2.0
-- Which percentiles of scopes can be trusted in spite of losses?
--
-- Prints percentiles for each scope, but null if they are uncertain: if instances are not complete,
-- or if whole instances may be missing, because events were lost or a part of the log is damaged.
-- The column verdict says why. If a log with the policy loop has overwritten events before its
-- first one, the percentiles of the rest are still certain.
--
-- parameter scope: only the scope with this name
WITH missing AS (
	SELECT log, count(*) AS places, sum(count) AS events
	FROM losses WHERE kind <> 'overwritten' GROUP BY log
), names AS (
	SELECT log, name, count(*) FILTER (WHERE complete) AS complete,
	       count(*) FILTER (WHERE NOT complete) AS incomplete,
	       count(*) FILTER (WHERE complete IS NULL) AS unknown,
	       quantile_disc(duration_ns, 0.5) FILTER (WHERE complete) AS p50_ns,
	       quantile_disc(duration_ns, 0.99) FILTER (WHERE complete) AS p99_ns
	FROM scopes
	WHERE getvariable('scope') IS NULL OR name = getvariable('scope')
	GROUP BY log, name
), judged AS (
	SELECT *, CASE
		WHEN unknown > 0 THEN 'unknown: options left out events'
		WHEN places > 0 THEN 'incomplete: '
			|| coalesce(events || ' events', 'an unknown number of events')
			|| ' missing at ' || places || CASE places WHEN 1 THEN ' place' ELSE ' places' END
		WHEN incomplete > 0 THEN 'incomplete: begin or end of ' || incomplete || ' missing'
		ELSE 'complete' END AS verdict
	FROM names LEFT JOIN missing USING (log)
)
SELECT log, name, complete, incomplete,
       CASE verdict WHEN 'complete' THEN p50_ns END AS p50_ns,
       CASE verdict WHEN 'complete' THEN p99_ns END AS p99_ns, verdict
FROM judged ORDER BY log, name;
