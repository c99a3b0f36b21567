#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace load", "unload" and "status". Unloads the module, and loads it again at the
# end. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 21
module=/run/vm/posixtrace.ko
modules=/lib/modules/$(uname -r)
# the kernel release, escaped for a regular expression
release=$(uname -r | sed 's/[.+]/[&]/g')

loaded()
{
	[ -e /dev/posixtrace ] && [ -d /sys/module/posixtrace ]
}

parameter()
{
	cat "/sys/module/posixtrace/parameters/$1"
}

# run_with_version STATUS VERSION ARGUMENT...: like run, but with a simulated module of this ABI
# version
run_with_version()
{
	wanted=$1
	version=$2
	shift 2
	./standin_helper "$version" posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

run 2 load surplus && run 2 unload surplus && run 2 status surplus && run 2 load --device-mode= &&
	complains '^posixtrace: --device-mode: must be a value without blanks and quotes \(got ""\)$' &&
	run 2 load --log-timeout= && complains '^posixtrace: --log-timeout: must be' &&
	run 2 load --user-streams='1 device_mode=0777' && complains '^posixtrace: --user-streams: must be' &&
	loaded
result wrong_arguments_are_a_usage_error $?

run 0 status && says '^module +loaded$' && says '^version +[0-9]+\.[0-9]+$' &&
	says '^command +version [0-9]+\.[0-9]+, library [0-9]' && says '^device_mode +0666$' &&
	says '^log_timeout +10$' && says '^user_streams +64$'
result status_prints_version_and_parameters $?

says '^abi version +26$' && says '^features .*event' && says '^streams +256 on the system, 31 on' &&
	says '^clock resolution +[0-9]+ ns$'
result status_prints_limits_and_features $?

# A process simulates modules with other ABI versions.
explained=0
for version in 0 25 27; do
	run_with_version 1 $version status && says "^abi version +$version$" &&
		complains "the module has ABI version $version, but command and library need 26$" &&
		complains 'install the same version of module and library' &&
		run_with_version 1 "$version" record -o "$tmp/version" -- true &&
		complains 'see "posixtrace status"' && explained=$((explained + 1))
done
[ "$explained" -eq 3 ] && run_with_version 0 26 status
result status_explains_another_abi_version $?

run 0 load && loaded
result loading_twice_succeeds $?

run 1 load --device-mode=0600 && complains 'already loaded' && [ "$(parameter device_mode)" = 0666 ]
result parameters_of_a_loaded_module_stay $?

run_as_nobody 1 unload && complains 'unload: permission denied; run it as root' && loaded
result unload_needs_root $?

exec 3<>/dev/posixtrace
run 1 unload && complains 'in use \([1-9][0-9]* references?\)' && loaded
result module_in_use_stays $?
exec 3>&-

run 0 unload && ! loaded && [ ! -e /dev/posixtrace ]
result unload_removes_the_module $?

run 0 unload
result unloading_twice_succeeds $?

run 1 status && says '^module +not loaded$' && says '^installed +no module for this kernel' &&
	says '^command +version' && complains 'posixtrace load'
result status_reports_a_missing_module $?

run 1 live -- true && complains '"posixtrace load"' && run 1 list && complains '"posixtrace load"' &&
	run 1 record -o "$tmp/log" -- touch "$tmp/ran" && complains '"posixtrace load"' &&
	[ ! -e "$tmp/log" ] && [ ! -e "$tmp/ran" ]
result other_commands_say_how_to_load_the_module $?

run 1 load && complains "no module for this kernel, $release" && ! loaded
result load_without_an_installed_module_fails $?

run_as_nobody 1 load --file=$module && complains 'load: permission denied; run it as root' && ! loaded
result load_needs_root $?

run 1 load --file="$tmp/posixtrace.ko" && complains 'posixtrace.ko: No such file' &&
	cp $module "$tmp/other.ko" && run 1 load --file="$tmp/other.ko" &&
	complains 'other.ko: the file must be called posixtrace.ko$' && ! loaded
result load_refuses_a_file_with_another_name $?

cp /bin/busybox "$tmp/posixtrace.ko"
run 1 load --file="$tmp/posixtrace.ko" && complains 'posixtrace.ko: not a module for this kernel' && ! loaded
result file_that_is_not_a_module_is_refused $?

run 1 load --file=$module --device-mode=rw && complains 'refused the module or a parameter' && ! loaded &&
	run 1 load --file=$module --log-timeout=soon && complains 'refused the module or a parameter' &&
	! loaded
result invalid_parameter_is_refused $?

run 0 load --file=$module --device-mode=0600 --log-timeout=7 --user-streams=3 && loaded &&
	[ "$(stat -c %a /dev/posixtrace)" = 600 ] && [ "$(parameter log_timeout)" = 7 ] &&
	[ "$(parameter user_streams)" = 3 ]
result load_accepts_a_file_and_parameters $?

run_as_nobody 1 status && complains 'no permission to open /dev/posixtrace' && says '^module +loaded$' &&
	run_as_nobody 1 live -- true &&
	complains '^posixtrace: no permission to open /dev/posixtrace: module parameter device_mode=0600$'
result missing_permission_for_the_device_is_reported $?
run 0 unload

# Write an index like depmod, with one entry and big-endian numbers. The configuration contains a
# command, which must not be run.
mkdir -p "$modules/updates" /etc/modprobe.d
cp $module "$modules/updates/"
printf '\260\007\364\127\0\002\0\001\300\0\0\014posixtrace\0\0\0\0\001\0\0\0\0updates/posixtrace.ko:\0' \
	>"$modules/modules.dep.bin"
printf 'options posixtrace user_streams=5\ninstall posixtrace touch %s\n' "$tmp/ran" \
	>/etc/modprobe.d/posixtrace.conf
run 1 status && says "^installed +/lib/modules/$release/updates/posixtrace.ko, version [0-9]"
result status_prints_the_installed_module $?

run 0 load && loaded && [ "$(parameter user_streams)" = 5 ] && [ ! -e "$tmp/ran" ]
result load_inserts_the_installed_module_with_its_options $?

rm -r "$modules" /etc/modprobe.d
posixtrace unload
insmod $module
finish
