# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests that compare all readers of logs. Source cases.sh first.

: "${native:?}"

# compare_readers [OPTION]... LOG...: in a directory where it may write
compare_readers()
{
	local stage=$native/../../../build/stage/usr
	: "${trace_processor:=$("$native/../../programs/trace_processor")}"
	[ -x show_events ] ||
		g++ -std=c++17 -Wall -Wextra -Werror -pthread -I"$stage/include" -o show_events \
			"$native/readers/show_events.cpp" "$stage/lib/libposixtrace.a"
	env PATH="$PATH:$PWD" PYTHONPATH="$native/../../../lib/python" LC_ALL=C.UTF-8 \
		PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$stage/lib" \
		trace_processor="$trace_processor" "$native/readers/compare" "$@"
}
