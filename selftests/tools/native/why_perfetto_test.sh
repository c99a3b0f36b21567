#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares the path of "posixtrace why" with the critical path that Perfetto's trace processor finds
# in the export of the same log.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

trace_processor=$("$native/../../programs/trace_processor")
export trace_processor

test_real_logs_have_the_path_of_perfetto()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
	done
	"$native/check_why" perfetto ./*.log
}

run_cases
