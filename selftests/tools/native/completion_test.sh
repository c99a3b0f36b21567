#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the completion of the posixtrace command in bash, zsh and fish, except words that depend on
# processes with trace points, which selftests/tools/completion_test.sh tests.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

completion=$native/../../../tools/completion

# For each line: the words that the shells must offer, in alphabetical order.
wanted=$(cat <<'END'
posixtrace d: dump
posixtrace export --format : arrow chrome csv ctf html jsonl parquet perfetto
posixtrace export --table events,s: scopes states syscalls
posixtrace export -O h: html
posixtrace dump --clock : delta relative seconds utc
posixtrace dump -c s: seconds
posixtrace record --policy : flush loop until-full
posixtrace record --log-policy a: append
posixtrace record --order : causal relaxed
posixtrace record -k sched,: all fault irq none process signal strings syscall
posixtrace record -k sys: syscall
posixtrace load --trace-scope : 0 1 2 3
posixtrace record --mo: --mode --most
posixtrace live --f: --filter --format-file --full
posixtrace dump --tid 1: 
posixtrace dump trace.: trace.log
posixtrace record -o trace.: trace.log
posixtrace load trace.: 
END
)
mapfile -t lines < <(sed -E 's/: .*//' <<<"$wanted")

# Prints what bash offers for a line, without the "=" after options and without the earlier words of
# a list.
in_bash()
{
	local line
	# shellcheck source=tools/completion/posixtrace.bash
	. "$completion/posixtrace.bash"
	for line; do
		read -ra COMP_WORDS <<<"$line"
		[[ $line != *' ' ]] || COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		# ignore the result of the function
		_posixtrace || :
		echo "$line: $(printf '%s\n' "${COMPREPLY[@]}" | sed 's/=$//; s/.*,//' | sort -u | paste -sd' ')"
	done
}

test_bash()
{
	touch trace.log
	in_bash "${lines[@]}" >got
	diff - got <<<"$wanted"
}

test_zsh()
{
	touch trace.log
	"$native/completion_zsh" "$completion" "${lines[@]}" >got
	diff - got <<<"$wanted"
}

test_fish()
{
	local line
	touch trace.log
	for line in "${lines[@]}"; do
		cat <<-END
			set words (complete -C '$line' | string replace -r '\t.*' '' |
				string replace -r '.*,' '' | sort -u)
			printf '%s: %s\n' '$line' "\$words"
		END
	done >script
	HOME=$PWD fish --no-config -C "source $completion/posixtrace.fish" script >got
	diff - got <<<"$wanted"
}

run_cases
