#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares all readers with each other, using readers/compare, on logs of real programs in logs/ and
# on random logs with every kind of event.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

# These logs are from a module that wrote the name of a program only after its exec.
test_real_programs()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
	done
	compare_readers --late-names ./*.log
}

# One random log in five has no kernel events, and one in four has no losses.
test_random_logs()
{
	local seed
	for seed in {1..8}; do
		python3 "$native/readers/random_log.py" "$seed" | write_log "$seed.log"
	done
	compare_readers ./*.log
}

test_random_fields()
{
	local seed
	for seed in {1..2}; do
		python3 "$native/random_fields.py" write "$seed" | write_log "$seed.log"
	done
	compare_readers ./*.log
}

run_cases
