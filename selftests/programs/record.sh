# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Records programs without trace points in a guest, with kernel events. Source scripts/common.sh first,
# and set traced: the directory for the logs.

: "${top:?}" "${build:?}" "${cache:?}"

# record NAME GUEST_ARGUMENTS [OPTION]...: runs NAME_guest.sh; options of selftests/vm/run
record()
{
	local name=$1 words=$2
	shift 2
	rm -rf "${traced:?}"
	mkdir -p "$traced"
	# shellcheck disable=SC2086	# a list
	"$top/selftests/vm/run" --smp 2 --log "$build/vm/programs-$name.log" \
		--result "$traced/report" "$@" -- "$top/selftests/programs/${name}_guest.sh" $words || return
	sed -n 's/^file //p' "$traced/report" | base64 -d | tar -xzf - -C "$traced"
}

record_states()
{
	record states ''
}

# Unpacks the programs for servers_guest.sh, without large unused files. Prints the directory.
server_tree()
{
	local tree=$cache/programs/servers-1
	if [ ! -d "$tree" ]; then
		rm -rf "$tree.new"
		mkdir -p "$cache/programs"
		"$top/scripts/apt" --suite bookworm tree "$tree.new" redis-server nginx-light \
			python3-minimal git postgresql-15 >&2 || return
		rm -rf "$tree.new"/dev "$tree.new"/usr/share/{doc,man,locale,perl,info,zoneinfo} \
			"$tree.new"/usr/lib/x86_64-linux-gnu/{gconv,perl,libLLVM*,libz3*}
		mv "$tree.new" "$tree"
	fi
	echo "$tree"
}

# record_servers [small]: see servers_guest.sh
record_servers()
{
	local tree
	tree=$(locked servers server_tree) || return
	record servers "${1-}" --mem 2048 --timeout 900 --tree "$tree"
}
