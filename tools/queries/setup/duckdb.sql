-- SPDX-License-Identifier: GPL-2.0
-- Makes the tables that the queries use, from the output of "posixtrace export --format=csv":
--
--	posixtrace export --format=csv --output=tables hello.log
--	duckdb -init setup/duckdb.sql -c ".read slowest-scopes.sql"
--
-- For several logs, each in a directory below tables, SET VARIABLE tables = 'tables/*'. The logs get
-- numbers in the order of the names of their directories.
SET VARIABLE tables = coalesce(getvariable('tables'), 'tables');
CREATE TABLE logs AS
SELECT row_number() OVER (ORDER BY file)::UINTEGER AS log,
       regexp_replace(file, '/hosts[.]csv$', '') AS path
FROM glob(getvariable('tables') || '/hosts.csv');

CREATE TABLE events AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/events.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'time_ns': 'BIGINT', 'name': 'VARCHAR', 'type': 'UINTEGER', 'user': 'BOOLEAN',
	'utid': 'UINTEGER', 'upid': 'UINTEGER', 'pid': 'INTEGER', 'tid': 'INTEGER',
	'pthread': 'UBIGINT', 'comm': 'VARCHAR', 'cpu': 'UINTEGER',
	'address': 'UBIGINT', 'lost': 'UBIGINT', 'truncated': 'BOOLEAN',
	'fields': 'JSON', 'data': 'VARCHAR',
	'host': 'VARCHAR', 'error_ns': 'UBIGINT', 'unordered': 'BOOLEAN'
}) t JOIN logs l ON t.filename = l.path || '/events.csv';

CREATE TABLE scopes AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/scopes.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'begin_ns': 'BIGINT', 'end_ns': 'BIGINT', 'duration_ns': 'BIGINT',
	'complete': 'BOOLEAN', 'utid': 'UINTEGER', 'upid': 'UINTEGER',
	'pid': 'INTEGER', 'tid': 'INTEGER', 'name': 'VARCHAR', 'depth': 'UINTEGER',
	'self_ns': 'BIGINT', 'lost': 'UBIGINT', 'fields': 'JSON', 'end_fields': 'JSON'
}) t JOIN logs l ON t.filename = l.path || '/scopes.csv';

CREATE TABLE states AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/states.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'begin_ns': 'BIGINT', 'end_ns': 'BIGINT', 'duration_ns': 'BIGINT',
	'complete': 'BOOLEAN', 'utid': 'UINTEGER', 'upid': 'UINTEGER',
	'pid': 'INTEGER', 'tid': 'INTEGER', 'state': 'VARCHAR', 'cpu': 'UINTEGER',
	'letter': 'VARCHAR', 'io': 'BOOLEAN', 'preempted': 'BOOLEAN',
	'call': 'VARCHAR', 'woken_by': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/states.csv';

CREATE TABLE waits AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/waits.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'begin_ns': 'BIGINT', 'end_ns': 'BIGINT', 'duration_ns': 'BIGINT',
	'complete': 'BOOLEAN', 'utid': 'UINTEGER', 'upid': 'UINTEGER',
	'pid': 'INTEGER', 'tid': 'INTEGER', 'state': 'VARCHAR', 'letter': 'VARCHAR',
	'io': 'BOOLEAN', 'call': 'VARCHAR', 'woken_by': 'VARCHAR',
	'waker_utid': 'UINTEGER', 'waker_pid': 'INTEGER', 'waker_tid': 'INTEGER',
	'file': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/waits.csv';

CREATE TABLE syscalls AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/syscalls.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'begin_ns': 'BIGINT', 'end_ns': 'BIGINT', 'duration_ns': 'BIGINT',
	'complete': 'BOOLEAN', 'utid': 'UINTEGER', 'upid': 'UINTEGER',
	'pid': 'INTEGER', 'tid': 'INTEGER', 'name': 'VARCHAR', 'nr': 'BIGINT',
	'compat': 'BOOLEAN', 'cpu': 'UINTEGER', 'lost': 'UBIGINT', 'result': 'BIGINT',
	'arg0': 'UBIGINT', 'arg1': 'UBIGINT', 'arg2': 'UBIGINT', 'arg3': 'UBIGINT',
	'arg4': 'UBIGINT', 'arg5': 'UBIGINT', 'file': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/syscalls.csv';

CREATE TABLE counters AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/counters.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'time_ns': 'BIGINT', 'name': 'VARCHAR', 'utid': 'UINTEGER',
	'upid': 'UINTEGER', 'pid': 'INTEGER', 'tid': 'INTEGER', 'value': 'DOUBLE',
	'integer': 'BIGINT', 'unit': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/counters.csv';

CREATE TABLE processes AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/processes.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'upid': 'UINTEGER', 'pid': 'INTEGER', 'name': 'VARCHAR', 'command': 'VARCHAR',
	'first_ns': 'BIGINT', 'last_ns': 'BIGINT', 'events': 'UBIGINT',
	'host': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/processes.csv';

CREATE TABLE threads AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/threads.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'utid': 'UINTEGER', 'upid': 'UINTEGER', 'pid': 'INTEGER', 'tid': 'INTEGER',
	'pthread': 'UBIGINT', 'name': 'VARCHAR', 'first_ns': 'BIGINT',
	'last_ns': 'BIGINT', 'events': 'UBIGINT',
	'host': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/threads.csv';

CREATE TABLE hosts AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/hosts.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'node': 'VARCHAR', 'release': 'VARCHAR', 'machine': 'VARCHAR',
	'boot_id': 'VARCHAR', 'realtime_offset_ns': 'BIGINT',
	'boottime_offset_ns': 'BIGINT', 'clock': 'VARCHAR',
	'resolution_ns': 'UINTEGER', 'trace': 'VARCHAR', 'first_ns': 'BIGINT',
	'last_ns': 'BIGINT', 'events': 'UBIGINT', 'lost': 'UBIGINT',
	'overwritten': 'UBIGINT', 'damaged': 'UBIGINT', 'ended': 'BOOLEAN',
	'host': 'VARCHAR'
}) t JOIN logs l ON t.filename = l.path || '/hosts.csv';

CREATE TABLE losses AS
SELECT l.log, t.* EXCLUDE filename
FROM read_csv(getvariable('tables') || '/losses.csv', header = true, delim = ',', quote = '"', escape = '"',
	strict_mode = true, allow_quoted_nulls = false, auto_detect = false,
	filename = true, columns = {
	'from_ns': 'BIGINT', 'to_ns': 'BIGINT', 'kind': 'VARCHAR', 'count': 'UBIGINT'
}) t JOIN logs l ON t.filename = l.path || '/losses.csv';
