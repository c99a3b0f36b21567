#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares all readers with each other, using readers/compare, on the small logs of real programs in
# logs/ and on a few random logs with every kind of event. readers_large_test does the same with the
# others.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

# The log of tar is from a module that wrote the name of a program only after its exec.
test_real_programs()
{
	local name
	for name in tar nginx python redis; do
		xz -dc "$native/logs/$name.log.xz" >"$name.log"
	done
	compare_readers --late-names tar.log
	compare_readers nginx.log python.log redis.log
}

# Log 4 has no losses.
test_random_logs()
{
	local seed
	for seed in 3 4; do
		python3 "$native/readers/random_log.py" "$seed" | write_log "$seed.log"
	done
	compare_readers ./*.log
}

test_random_fields()
{
	python3 "$native/random_fields.py" write 1 | write_log 1.log
	compare_readers 1.log
}

run_cases
