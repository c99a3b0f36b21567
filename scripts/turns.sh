# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What takes turns in .ci/run: the number of commits decides what runs, so each commit tests
# something else, and N commits in a row test everything. What changed lately always runs. Sourced
# after scripts/common.sh by scripts that call begin_turns first.

: "${top:?source scripts/common.sh first}"
# the number of commits; empty: everything runs
turn=''
# the files that changed lately, one per line
recent_files=''

# begin_turns COMMITS: "lately" means in this many commits, or not committed. Everything runs with
# POSIXTRACE_CI=all, and where the number of commits is not known, as in a shallow clone.
begin_turns()
{
	local number changed
	turn='' recent_files=''
	[ "${POSIXTRACE_CI-}" != all ] || return 0
	[ "$(git -C "$top" rev-parse --is-shallow-repository 2>/dev/null)" = false ] || return 0
	number=$(git -C "$top" rev-list --count HEAD 2>/dev/null) || return 0
	changed=$(git -C "$top" diff --name-only "HEAD~$1" 2>/dev/null) || return 0
	recent_files=$changed$'\n'$(git -C "$top" ls-files --others --exclude-standard)
	turn=$number
}

# in_turn N NUMBER: true in one of N commits. NUMBER (0 to N-1) says in which one.
in_turn()
{
	[ -z "$turn" ] || [ $((turn % $1)) -eq "$2" ]
}

# changed_lately PATTERN...: true if the name of a file that changed lately matches. A * also
# matches slashes.
changed_lately()
{
	local file pattern
	[ -n "$turn" ] || return 0
	while IFS= read -r file; do
		for pattern; do
			# shellcheck disable=SC2053	# a pattern
			[[ $file != $pattern ]] || return 0
		done
	done <<<"$recent_files"
	return 1
}

# by_turn N: reads names of files, and prints those that changed lately, and an Nth of the others. A
# hash of the name decides when it is the turn of a file, so a new file does not change the turns of
# the others.
by_turn()
{
	[ -n "$turn" ] || { cat; return; }
	awk -v every="$1" -v turn="$turn" '
		BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }
		NR == FNR { recent[$0] = 1; next }
		{
			hash = 0
			for (i = 1; i <= length($0); i++)
				hash = (hash * 31 + code[substr($0, i, 1)]) % 65521
			if ($0 in recent || (hash + turn) % every == 0)
				print
		}' <(echo "$recent_files") -
}
