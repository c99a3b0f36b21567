# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Runs "make" targets one after the other or side by side, and adds up the counts in their last
# lines. Sourced by .ci/run and scripts/check-release, which call parts_begin first.

# parts_begin COUNT [PART...]: announces the number of parts, and which others do not run this time.
# The sum is the last line, however the parts end.
parts_begin()
{
	parts=$1
	shift
	resting=("$@")
	show_resting
	parts_dir=$(mktemp -d)
	trap parts_end EXIT
}

parts_end()
{
	local passed=0 failed=0 skipped=0 reported=0 p f s
	trap - EXIT
	# shellcheck disable=SC2046	# a list
	kill $(jobs -p) 2>/dev/null || true
	while read -r p f s; do
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		reported=$((reported + 1))
	done < <(find "$parts_dir" -name 'counts.*' -exec cat {} +)
	# If a part has not reported, the run was interrupted, which is a failure.
	[ "$reported" -eq "$parts" ] || failed=$((failed + 1))
	[ ! -e "$parts_dir/times" ] || sort -t: -k2nr "$parts_dir/times"
	show_resting
	show_failures
	rm -rf "$parts_dir"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

# show_resting: lists the parts that do not run because it is not their turn
show_resting()
{
	[ ${#resting[@]} -eq 0 ] || printf '== not the turn of: make %s\n' "${resting[@]}"
}

# show_failures: repeats the lines that name failures, or the last lines, of each part that failed.
# They are at the end, which usually survives if a long output is cut.
show_failures()
{
	local log lines
	for log in "$parts_dir"/failed.*; do
		[ -e "$log" ] || continue
		lines=$(grep -aE '^not ok|: Test (failed|terminated)|:Expected |timed out|[Ww]arning:|[Ee]rror:' \
			"$log" | head -n 40 || true)
		echo "== failed: $(head -n 1 "$log")"
		echo "${lines:-$(tail -n 20 "$log")}"
	done
}

# run_part NUMBER TARGET [VARIABLE=VALUE...]: shows the output once the part has ended, and
# stores the counts of its last line. With $nice, other parts go first.
run_part()
{
	local log=$parts_dir/log.$1 counts=$parts_dir/counts.$1 new=$parts_dir/new.$1
	local status=0 start=$SECONDS last p=0 f=1 s=0
	shift
	nice -n "${nice:-0}" make --no-print-directory "$@" </dev/null >"$log" 2>&1 || status=$?
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1 || true)
	if [ -n "$last" ]; then
		read -r p _ f _ s _ <<<"${last//,/}"
		# Count a failure that the counts do not show.
		[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	fi
	(
		flock 9
		echo "== make $*"
		cat "$log"
		echo "== make $*: $((SECONDS - start)) s" | tee -a "$parts_dir/times"
	) 9>"$parts_dir/lock"
	if [ "$f" -gt 0 ]; then
		{ echo "make $*"; cat "$log"; } >"$parts_dir/failed.${new##*.}"
	fi
	echo "$p $f $s" >"$new"
	mv "$new" "$counts"
}

# run_queue NUMBER WORKERS PART...: runs the parts with WORKERS workers. A worker takes the next
# part when its last one has ended. The parts are numbered from NUMBER on, and no two parts of a run
# may have the same number. Pass long parts first, so that all workers end at about the same time.
run_queue()
{
	local number=$1 workers=$2 worker
	shift 2
	echo 0 >"$parts_dir/next.$number"
	for ((worker = 0; worker < workers; worker++)); do
		run_worker "$number" "$@" &
	done
	wait
}

# run_worker NUMBER PART...: runs parts until all have been taken. Called for a queue that run_queue
# started before, it helps the workers of that queue.
run_worker()
{
	local number=$1 list i
	shift
	list=("$@")
	while i=$(take_number "$parts_dir/next.$number") && [ "$i" -lt $# ]; do
		# shellcheck disable=SC2086	# target and variables
		run_part $((number + i)) ${list[i]}
	done
}

# take_number FILE: prints the number in FILE, and increments it
take_number()
{
	local number
	(
		flock 9
		read -r number <"$1"
		echo $((number + 1)) >"$1"
		echo "$number"
	) 9>"$1.lock"
}
