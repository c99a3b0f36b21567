# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the tests of traces of existing programs. "run" sets traced (the directory of the
# program), patch and trace_processor. A test script sets points and scopes: the names of all its
# event types.

# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/native/cases.sh"

: "${traced:?run by selftests/programs/run}" "${patch:?}" "${trace_processor:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
limit=20	# lines

# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

# payloads TYPE: prints the fields of all events of the type as babeltrace2 shows them
payloads()
{
	babeltrace2 "$traced/ctf" >shown
	sed -n "s/^.* $1: .* truncated = 0 }, \\({ .* }\\)\$/\\1/p" shown
}

# ask <QUERIES: prints the answers of Perfetto's trace processor
ask()
{
	node "$here/query.mjs" "$trace_processor" "$traced/perfetto-trace"
}

test_patch_adds_few_lines()
{
	grep -c '^+\($\|[^+]\)' "$patch" | tee added
	[ "$(cat added)" -le "$limit" ]
	[ "$(cat added)" -gt 0 ]
	lacks '^-\($\|[^-]\)' "$patch"
}

# Debian's revision of the source may change as long as the patch applies.
test_source_has_the_version_of_the_patch()
{
	local wanted found
	wanted=$(sed -n 's/^Version: \([^ ]*\) .*/\1/p' "$patch")
	found=$(cat "$traced/version")
	echo "version $found, patch for $wanted"
	[ -n "$wanted" ]
	[ "${found%-*}" = "${wanted%-*}" ]
}

test_no_event_was_lost()
{
	posixtrace stat "$traced/log" | tee stat
	grep -qx 'lost *0' stat
}

# shellcheck disable=SC2154	# points and scopes: set by the test scripts
test_trace_points_are_listed()
{
	posixtrace list "$traced/$(basename "$patch" .patch)" >listed
	sed -n 's/^  \([a-z_][a-z_]*\(:[a-z]*\)\{0,1\}\)\( .*\)\{0,1\}$/\1/p' listed | sort -u >names
	{
		printf '%s\n' "${points[@]}"
		printf '%s:begin\n' "${scopes[@]}"
		printf '%s:end\n' "${scopes[@]}"
	} | sort | prints names
}

test_all_readers_show_the_same()
{
	compare_readers "$traced/log"
}

# The import must succeed without errors. There must be as many events as in CTF, and pairs must
# have become durations.
test_perfetto_has_all_events()
{
	local name count
	ask <<-'END_OF_SQL' >complaints
		SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0
	END_OF_SQL
	prints complaints </dev/null
	ask <<-'END_OF_SQL' >counts
		SELECT name, count(*) FROM slice GROUP BY name;
		SELECT track.name, count(*) FROM counter JOIN counter_track AS track
			ON counter.track_id = track.id GROUP BY track.name
	END_OF_SQL
	cat counts
	babeltrace2 "$traced/ctf" >shown
	for name in "${points[@]}" "${scopes[@]}"; do
		count=$(grep -cE " $name(:begin)?: \{" shown)
		echo "$name: $count events in CTF"
		[ "$count" -gt 0 ]
		grep -qx "$name	$count" counts
	done
	ask <<-'END_OF_SQL' >unfinished
		SELECT name FROM slice WHERE dur < 0 OR name LIKE '%:begin' OR name LIKE '%:end'
	END_OF_SQL
	prints unfinished </dev/null
}
