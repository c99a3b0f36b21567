#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the trace of memcached. Compares it with memcached's answers and statistics.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/programs/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034	# for common.sh
points=(cache_get cache_set cache_delete cache_evict connections bytes) scopes=(connection command)

# statistic NAME: prints the value that memcached reported, after all other commands but "quit"
statistic()
{
	sed -n "s/^STAT $1 //p" "$traced/output"
}

test_memcached_answers()
{
	head -n 10 "$traced/output" >answers
	prints answers <<-'END_OF_ANSWERS'
		STORED
		VALUE user:1 0 5
		alice
		END
		END
		NOT_STORED
		DELETED
		NOT_FOUND
		EN
		     80 STORED
	END_OF_ANSWERS
}

# "mg" also counts as a get.
test_gets_show_hits_sizes_and_keys()
{
	payloads cache_get >got
	prints got <<-'END'
		{ hit = ( "true" : container = 1 ), bytes = 5, key = "user:1" }
		{ hit = ( "false" : container = 0 ), bytes = 0, key = "user:2" }
		{ hit = ( "false" : container = 0 ), bytes = 0, key = "user:1" }
		{ hit = ( "false" : container = 0 ), bytes = 0, key = "page:0" }
	END
}

test_sets_show_sizes_and_keys()
{
	local number
	payloads cache_set >got
	{
		echo '{ stored = ( "true" : container = 1 ), bytes = 5, key = "user:1" }'
		echo '{ stored = ( "false" : container = 0 ), bytes = 3, key = "user:1" }'
		for ((number = 0; number < 80; number++)); do
			echo "{ stored = ( \"true\" : container = 1 ), bytes = 50000, key = \"page:$number\" }"
		done
	} | prints got
}

test_deletes_show_hits_and_keys()
{
	payloads cache_delete >got
	prints got <<-'END'
		{ hit = ( "true" : container = 1 ), key = "user:1" }
		{ hit = ( "false" : container = 0 ), key = "user:1" }
	END
}

test_evictions_are_those_that_memcached_counts()
{
	payloads cache_evict >got
	echo "memcached evicted $(statistic evictions)"
	[ "$(wc -l <got)" -eq "$(statistic evictions)" ]
	[ "$(grep -cx '{ idle = [0-9]*, key = "page:[0-9]*" }' got)" -eq "$(statistic evictions)" ]
	[ "$(statistic evictions)" -gt 0 ]
}

test_commands_show_their_lines()
{
	payloads command:begin | sed 's/^{ fd = [0-9]*, line = "\(.*\)" }$/\1/' >got
	{
		printf '%s\n' 'set user:1 0 0 5' 'get user:1' 'get user:2' 'add user:1 0 0 3' \
			'delete user:1' 'delete user:1' 'mg user:1 v' quit
		printf 'set page:%d 0 0 50000\n' {0..79}
		printf '%s\n' quit 'get page:0' stats quit
	} | prints got
}

test_perfetto_shows_the_fields()
{
	ask <<-'END_OF_SQL' >got
		SELECT name, EXTRACT_ARG(arg_set_id, 'debug.hit'), EXTRACT_ARG(arg_set_id, 'debug.bytes'),
			EXTRACT_ARG(arg_set_id, 'debug.key')
			FROM slice WHERE name IN ('cache_get', 'cache_delete') ORDER BY ts;
		SELECT EXTRACT_ARG(arg_set_id, 'debug.line') FROM slice WHERE name = 'command'
			ORDER BY ts LIMIT 3;
		SELECT DISTINCT EXTRACT_ARG(arg_set_id, 'debug.bytes') FROM slice
			WHERE name = 'cache_set' ORDER BY ts
	END_OF_SQL
	prints got <<-'END'
		cache_get	1	5	user:1
		cache_get	0	0	user:2
		cache_delete	1		user:1
		cache_delete	0		user:1
		cache_get	0	0	user:1
		cache_get	0	0	page:0
		set user:1 0 0 5
		get user:1
		get user:2
		5
		3
		50000
	END
}

# A worker handles each command while it handles the connection, so commands are nested in
# connections.
test_perfetto_nests_commands_in_connections()
{
	ask <<-'END_OF_SQL' >got
		SELECT DISTINCT parent.name, parent_fd = fd, thread.name LIKE 'mc-worker%', process.name
			FROM (SELECT *, EXTRACT_ARG(arg_set_id, 'debug.fd') AS fd FROM slice
				WHERE name = 'command') AS command
			JOIN (SELECT *, EXTRACT_ARG(arg_set_id, 'debug.fd') AS parent_fd FROM slice) AS parent
				ON parent.id = command.parent_id
			JOIN thread_track ON thread_track.id = command.track_id
			JOIN thread USING (utid) JOIN process USING (upid)
	END_OF_SQL
	prints got <<-'END'
		connection	1	1	memcached
	END
}

# One socket listens, and three clients connect one after the other. A client may connect before
# memcached has counted the end of the previous connection. No set follows the statistics.
test_counters_are_those_of_memcached()
{
	ask <<-'END_OF_SQL' >got
		SELECT track.name, count(*), min(value), max(value) BETWEEN 2 AND 3 FROM counter
			JOIN counter_track AS track ON counter.track_id = track.id
			WHERE track.name = 'connections' GROUP BY track.name;
		SELECT value FROM counter JOIN counter_track AS track ON counter.track_id = track.id
			WHERE track.name = 'bytes' ORDER BY ts DESC LIMIT 1
	END_OF_SQL
	prints got <<-END
		connections	8	0	1
		$(statistic bytes)
	END
	[ "$(statistic bytes)" -gt 500000 ]
}

run_cases
