#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the trace of SQLite.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/programs/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034	# for common.sh
points=(sqlite_result sqlite_error sqlite_write sqlite_memory)
scopes=(sqlite_prepare sqlite_step sqlite_read sqlite_commit sqlite_rollback)

test_sqlite_answers()
{
	prints "$traced/output" <<-'END'
		apple
		plum
		1000|100.0
		wal
	END
}

# There is one step per row, and a final one without a row. "(internal)" is SQLite reading its
# schema.
test_steps_show_their_sql()
{
	payloads sqlite_step:begin | sed 's/^{ sql = "\(.*\)" }$/\1/' | grep -vxF '(internal)' >got
	prints got <<-'END'
		CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
		INSERT INTO item VALUES(1, \'apple\', 0.5), (2, \'pear\', 0.7), (3, \'plum\', 0.2);
		SELECT name FROM item WHERE price < 0.6 ORDER BY name;
		SELECT name FROM item WHERE price < 0.6 ORDER BY name;
		SELECT name FROM item WHERE price < 0.6 ORDER BY name;
		BEGIN;
		DELETE FROM item;
		ROLLBACK;
		WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO item SELECT i, \'item number \' || i, i / 10.0 FROM n;
		SELECT count(*), max(price) FROM item;
		SELECT count(*), max(price) FROM item;
		PRAGMA journal_mode=WAL;
		PRAGMA journal_mode=WAL;
		UPDATE item SET price = price * 2 WHERE id <= 3;
	END
}

# 101 is the result code SQLITE_DONE.
test_results_show_changes()
{
	payloads sqlite_result >got
	grep -qx '{ code = 101, changes = 3 }' got
	grep -qx '{ code = 101, changes = 997 }' got
}

test_errors_of_the_parser_are_shown()
{
	payloads sqlite_error >got
	prints got <<-'END'
		{ code = 1, message = "no such column: colour" }
	END
}

# The database has ten pages. After .open, the cache is empty.
test_pages_are_read_in_order()
{
	payloads sqlite_read:begin >got
	for page in {1..10} {1..3}; do
		echo "{ page = $page, file = \"/tmp/shop.db\" }"
	done | prints got
}

# The last write goes to the write-ahead log.
test_writes_show_pages_and_file()
{
	payloads sqlite_write >got
	for page in 1 2 1 2 {1..10} 1 3; do
		echo "{ page = $page, pages = 1, file = \"/tmp/shop.db\" }"
	done | prints got
}

# The second rollback is of a temporary file, which has no name.
test_rollbacks_show_the_file()
{
	payloads sqlite_rollback:begin | head -n 1 >got
	prints got <<-'END'
		{ file = "/tmp/shop.db" }
	END
}

test_perfetto_nests_commits_in_statements()
{
	ask <<-'END_OF_SQL' >got
		SELECT EXTRACT_ARG(step.arg_set_id, 'debug.sql'), EXTRACT_ARG(part.arg_set_id, 'debug.file'),
			part.dur BETWEEN 1 AND step.dur
			FROM slice AS part JOIN slice AS step ON part.parent_id = step.id
			WHERE part.name = 'sqlite_commit' AND step.name = 'sqlite_step' ORDER BY part.ts
	END_OF_SQL
	sed 's/$/	\/tmp\/shop.db	1/' <<-'END' | prints got
		CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
		INSERT INTO item VALUES(1, 'apple', 0.5), (2, 'pear', 0.7), (3, 'plum', 0.2);
		WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO item SELECT i, 'item number ' || i, i / 10.0 FROM n;
		PRAGMA journal_mode=WAL;
		UPDATE item SET price = price * 2 WHERE id <= 3;
	END
}

test_perfetto_shows_the_fields()
{
	ask <<-'END_OF_SQL' >got
		SELECT EXTRACT_ARG(arg_set_id, 'debug.code'), EXTRACT_ARG(arg_set_id, 'debug.message')
			FROM slice WHERE name = 'sqlite_error';
		SELECT max(EXTRACT_ARG(arg_set_id, 'debug.changes')) FROM slice WHERE name = 'sqlite_result';
		SELECT sum(EXTRACT_ARG(arg_set_id, 'debug.page')) FROM slice WHERE name = 'sqlite_read';
		SELECT DISTINCT process.name, thread.name LIKE 'sqlite3-%' FROM slice
			JOIN thread_track ON thread_track.id = track_id
			JOIN thread USING (utid) JOIN process USING (upid) WHERE slice.name = 'sqlite_step'
	END_OF_SQL
	prints got <<-'END'
		1	no such column: colour
		997
		61
		sqlite3	1
	END
}

# The counter is the memory of the allocator: at least the page cache, and less than a megabyte.
test_perfetto_shows_memory_as_a_counter()
{
	ask <<-'END_OF_SQL' >got
		SELECT count(*) = (SELECT count(*) FROM slice WHERE name = 'sqlite_step'),
			min(value) > 40960, max(value) < 1048576
			FROM counter JOIN counter_track AS track ON counter.track_id = track.id
			WHERE track.name = 'sqlite_memory'
	END_OF_SQL
	prints got <<-'END'
		1	1	1
	END
}

run_cases
