#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the packages in a booting system: runs in a guest, in the root directory with the
# installed packages. Prints TAP.
#
# usage: guest.sh VERSION
# shellcheck disable=SC2317	# check calls the functions

export PATH=/usr/sbin:/usr/bin:/sbin:/bin
# Without this, udevadm refuses to work in a chroot.
export SYSTEMD_IGNORE_CHROOT=1
version=$1
device=/dev/posixtrace
examples=/usr/share/doc/posixtrace-dkms/examples

# shellcheck source=selftests/tap.sh
. /tap.sh

settle()
{
	udevadm settle --timeout=30
}

is_not_there()
{
	! ls -l "$device"
}

# mode_is MODE OWNER GROUP: checks mode, owner and group of the device
mode_is()
{
	settle && stat -c '%a %U %G' "$device" && [ "$(stat -c '%a %U %G' "$device")" = "$*" ]
}

# The unit that systemd starts: the link enables it.
unit=/usr/lib/systemd/system/sysinit.target.wants/posixtrace.service

boot_inserts_it()
{
	start=$(sed -n 's/^ExecStart=//p' "$unit")
	# shellcheck disable=SC2086	# a command with its arguments
	$start && settle && ls -l "$device"
}

# Acts as if the administrator had set the sysctls in /etc/sysctl.d, which apply before the unit
# starts.
boot_obeys_the_sysctls()
{
	removes_it || return 1
	echo 1 >/proc/sys/kernel/yama/ptrace_scope && echo -1 >/proc/sys/kernel/perf_event_paranoid &&
		boot_inserts_it || return 1
	grep . /sys/module/posixtrace/parameters/*
	[ "$(cat /sys/module/posixtrace/parameters/trace_scope)" = 1 ] &&
		! grep perfmon /sys/module/posixtrace/parameters/kernel_classes
}

removes_it()
{
	modprobe -r posixtrace && settle && is_not_there
}

alias_inserts_it()
{
	modprobe posix_trace && mode_is 666 root root && removes_it
}

module_has_version()
{
	cat /sys/module/posixtrace/version && [ "$(cat /sys/module/posixtrace/version)" = "$version" ]
}

# as USER[:GROUP] COMMAND...: runs a command as this user and group
as()
{
	user=$1
	shift
	chroot --userspec="$user" / "$@"
}

user_traces_itself()
{
	as nobody:nogroup /hello >/tmp/hello || return 1
	cat /tmp/hello
	grep -q 'hello:greeting "world"' /tmp/hello
}

python_works()
{
	python3 /usr/share/doc/python3-posixtrace/examples/trace.py >/tmp/python 2>&1
	cat /tmp/python
	[ "$(grep ^cache /tmp/python)" = "\
cache:get {'id': 7, 'result': 'hit', 'key': 'user:42'}
cache:get {'id': 8, 'result': 'miss', 'key': 'user:43'}" ]
}

others_may_not_open()
{
	! as nobody:nogroup sh -c ": <$device"
}

group_gets_it()
{
	echo 'posixtrace:x:990:' >>/etc/group
	cp "$examples"/60-posixtrace.rules /etc/udev/rules.d/ && udevadm control --reload &&
		modprobe posixtrace && mode_is 660 root posixtrace
}

options_hold()
{
	removes_it || return 1
	rm /etc/udev/rules.d/60-posixtrace.rules
	cp "$examples"/posixtrace.conf /etc/modprobe.d/
	udevadm control --reload && modprobe posixtrace && settle || return 1
	grep . /sys/module/posixtrace/parameters/*
	[ "$(cat /sys/module/posixtrace/parameters/user_streams)" = 16 ] && mode_is 660 root root &&
		[ "$(cat /sys/module/posixtrace/parameters/trace_scope)" = 1 ] &&
		grep 'sched:perfmon,.*process:perfmon,' /sys/module/posixtrace/parameters/kernel_classes
}

plan 14
/usr/lib/systemd/systemd-udevd --daemon
check device_does_not_exist_before_boot is_not_there
check boot_inserts_the_module boot_inserts_it
check module_has_the_version_of_the_package module_has_version
check all_users_may_open_the_device mode_is 666 root root
check command_finds_the_module posixtrace status
check program_of_any_user_traces_itself user_traces_itself
check python_module_records_and_reads python_works
check rules_are_those_of_the_sysctls boot_obeys_the_sysctls
check module_can_be_removed removes_it
check modprobe_finds_it_by_its_alias alias_inserts_it
check example_of_a_rule_gives_the_device_to_a_group group_gets_it
check other_users_cannot_open_the_device others_may_not_open
check member_of_the_group_can_open_the_device as nobody:posixtrace /hello
check example_of_options_is_applied options_hold
finish
