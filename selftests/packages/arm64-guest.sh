#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs in an arm64 guest, in the Debian with our packages: builds the module with DKMS, loads it,
# and compiles and runs an example.
# shellcheck disable=SC2317	# check calls the functions
version=$1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root
# shellcheck source=selftests/tap.sh
. /tap.sh

dkms_builds()
{
	release=$(uname -r)
	dkms add "posixtrace/$version" || return
	dkms build "posixtrace/$version" -k "$release" || {
		cat "/var/lib/dkms/posixtrace/$version/build/make.log"
		return 1
	}
	dkms install "posixtrace/$version" -k "$release" &&
		dkms status | grep "posixtrace/$version, $release, aarch64: installed"
}

module_is_loaded()
{
	modprobe posixtrace && [ -c /dev/posixtrace ]
}

command_finds_the_module()
{
	posixtrace status | tee /tmp/status && grep -q "^version *$version$" /tmp/status
}

example_runs()
{
	gcc -Wall -Werror /usr/share/doc/libposixtrace-dev/examples/hello.c -o /tmp/hello -lposixtrace &&
		/tmp/hello | tee /tmp/hello.out && grep -q hello /tmp/hello.out
}

plan 4
check dkms_builds_the_module dkms_builds
check module_is_loaded module_is_loaded
check command_finds_the_module command_finds_the_module
check example_compiles_and_runs example_runs
finish
