#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares all readers with each other, like readers_test, on the large logs of real programs in logs/
# and on more random logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

# The log of "git gc" is from a module that wrote the name of a program only after its exec.
test_real_programs()
{
	local name
	for name in gitgc git postgres; do
		xz -dc "$native/logs/$name.log.xz" >"$name.log"
	done
	compare_readers --late-names gitgc.log
	compare_readers git.log postgres.log
}

# One random log in five has no kernel events, and one in four has no losses.
test_random_logs()
{
	local seed
	for seed in 1 2 {5..9}; do
		python3 "$native/readers/random_log.py" "$seed" | write_log "$seed.log"
	done
	compare_readers ./*.log
}

test_random_fields()
{
	python3 "$native/random_fields.py" write 2 | write_log log
	compare_readers log
}

run_cases
