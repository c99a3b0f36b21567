-- SPDX-License-Identifier: GPL-2.0
-- How long do scopes take, by a field and by the version of the program?
--
-- Prints the number of complete instances and percentiles of their time. There is a row for each
-- scope, each value of a field of the event that begins it, and each value of a field with the
-- version of the program. If a parameter is not set, its column is null. To compare versions in
-- different logs, use --each, which gives each log its own rows.
--
-- parameter scope: only the scope with this name
-- parameter field: name of a field
-- parameter version: name of the field with the version
SELECT log, name,
       fields ->> (getvariable('field')::VARCHAR) AS field,
       fields ->> (getvariable('version')::VARCHAR) AS version,
       count(*) AS count,
       quantile_disc(duration_ns, 0.5) AS p50_ns,
       quantile_disc(duration_ns, 0.9) AS p90_ns,
       quantile_disc(duration_ns, 0.99) AS p99_ns,
       quantile_disc(duration_ns, 0.999) AS p999_ns,
       max(duration_ns) AS max_ns
FROM scopes
WHERE complete AND (getvariable('scope') IS NULL OR name = getvariable('scope'))
GROUP BY ALL
ORDER BY name, field, version, log;
