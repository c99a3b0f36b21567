#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in the guest: records memcached while clients talk to it.
set -eu

# talk: sends standard input to memcached, and prints its answers
talk()
{
	sed 's/$/\r/' | nc 127.0.0.1 11211 | tr -d '\r'
}

cd /tmp
ifconfig lo up
posixtrace record -o log -- memcached -u root -l 127.0.0.1 -U 0 -t 2 -m 2 2>summary &
record=$!
tries=100
until grep -q '^ *[0-9]*: 0100007F:2BCB 00000000:0000 0A ' /proc/net/tcp; do	# it listens
	tries=$((tries - 1))
	[ "$tries" -gt 0 ]
	sleep 0.1
done

{
	talk <<-END_OF_COMMANDS
		set user:1 0 0 5
		alice
		get user:1
		get user:2
		add user:1 0 0 3
		bob
		delete user:1
		delete user:1
		mg user:1 v
		quit
	END_OF_COMMANDS
	# more than there is room for
	value=$(head -c 50000 /dev/zero | tr '\0' x)
	number=0
	while [ "$number" -lt 80 ]; do
		printf 'set page:%d 0 0 50000\n%s\n' "$number" "$value"
		number=$((number + 1))
	done | { cat; echo quit; } | talk | sort | uniq -c
	talk <<-END_OF_COMMANDS
		get page:0
		stats
		quit
	END_OF_COMMANDS
} >output

kill -USR1 "$(pidof memcached)"	# it waits for its threads
wait "$record"
cat summary >&2
tar -czf - log output | base64 | sed 's/^/file /' >/dev/report
