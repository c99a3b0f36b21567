#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: records programs with all kernel events, and prints the logs.
cd /tmp || exit 1

record()
{
	log=$1
	shift
	posixtrace record --quiet --inherit --kernel=all --size=4M --output="$log.log" -- "$@" >/dev/null
}

# shellcheck disable=SC2016 # for the inner shell
record pipes sh -c 'for i in 1 2 3 4; do seq 1 3000 | sort -n | tail -1 & done; wait
	for i in $(seq 1 50); do (exit "$i"); done; sleep 0.1'
record archive sh -c 'tar -cf - /usr | gzip | gzip -d | tar -tf - | wc -l'
record computes awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'
# so small that events are lost
posixtrace record --quiet --inherit --kernel=all --size=64K --policy=loop --output=losses.log -- \
	sh -c 'for i in 1 2 3; do seq 1 20000 | sort -n >/dev/null & done; wait' >/dev/null
tar -czf - ./*.log | base64 | sed 's/^/file /' >/dev/report
