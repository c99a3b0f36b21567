#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the commands of Documentation/questions.rst, and compares their output with the document,
# except for numbers and blanks. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
doc=$PWD/questions.rst
begin "$(grep -c '^\.\. code-block:: console' "$doc")"
cp service_helper "$tmp/service"
cd "$tmp" || exit 1

# plain: replaces numbers, times and addresses by N. Without CONFIG_SCHED_INFO, the kernel does not
# know how long a thread has been blocked.
plain()
{
	sed -E 's/0x[0-9a-f]+/N/g; s/[0-9]+(\.[0-9]+)?/N/g; s/\bN [mun]?s\b/N s/g; s/[+-]N/N/g; s/, > N %/, N %/; s/ +/ /g; s/ < N s ([a-zN]+ futex)/ - \1/; s/^ //; s/ $//'
}

# question NUMBER: writes its title, its commands, and the lines of output in the document
question()
{
	awk -v wanted="$1" '
		/^=+$/ && title { seen = title }
		{ title = $0 }
		/^\.\. code-block:: console/ { number++; if (number == wanted) { print seen >"title"; on = 1 } else on = 0; next }
		number == wanted && on && /^[^ ]/ { on = 0 }
		on && /^   \$ / { print substr($0, 6) >"commands"; next }
		on && /^   / && !/^   \.\.\.$/ { print substr($0, 4) >"printed" }' "$doc"
}

number_of_question=0
while [ "$number_of_question" -lt "$(grep -c '^\.\. code-block:: console' "$doc")" ]; do
	number_of_question=$((number_of_question + 1))
	: >title
	: >commands
	: >printed
	question "$number_of_question"
	eval "$(cat commands)" >out 2>&1
	plain <out >real
	plain <printed | sort -u >wanted
	grep -vxFf real wanted >missing
	[ -s commands ] && [ -s printed ] && [ ! -s missing ]
	status=$?
	[ "$status" -eq 0 ] || sed 's/^/# missing: /' missing
	result "$(tr -c 'A-Za-z0-9\n' '_' <title | tr '[:upper:]' '[:lower:]')" "$status"
	# The first question leaves a process running.
	[ "$number_of_question" -ne 1 ] || { kill $! && wait $!; }
done

finish
