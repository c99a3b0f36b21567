#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace why" with a program that has known contentions. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 3
log=$tmp/log

# Use a large stream: if events were lost, parts would be unknown.
posixtrace record --quiet --kernel=all --inherit --size=4M -o "$log" -- ./contention_helper \
	>"$tmp/out" 2>"$tmp/err"
sed 's/^/# /' "$tmp/err"

# why SCOPE: prints why the scope took so long; the output is also in the file out
why()
{
	run 0 why --scope="$1" --worst=1 "$log"
	status=$?
	sed 's/^/# /' "$tmp/out"
	[ "$status" -eq 0 ]
}

why lock && says '^most: .* holder-[0-9]+: running in the program' &&
	says ' blocked in futex, address 0x[0-9a-f]+, held by holder-[0-9]+, woken by holder-[0-9]+$'
result lock_is_explained_by_the_work_of_its_holder $?

why chain && says '^most: .* server-[0-9]+: running in the program' &&
	says ' blocked in futex, address 0x[0-9a-f]+, held by holder-[0-9]+, woken by holder-[0-9]+$' &&
	says ' holder-[0-9]+: blocked in read, fd [0-9]+, woken by server-[0-9]+ of process [0-9]+$'
result chain_of_waits_is_followed_into_another_process $?

why cpu && says ' runnable, preempted' && says ' rival-[0-9]+ ran there$'
result thread_that_takes_the_processor_is_named $?

finish
