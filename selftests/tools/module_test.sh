#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# "posixtrace load", "unload" and "status" from the command line. Takes the module out,
# and puts it in again at the end. Speaks TAP.

# shellcheck source=selftests/tools/tap.sh
. ./tap.sh
begin 21
module=/run/vm/posixtrace.ko
modules=/lib/modules/$(uname -r)
# ... in a pattern
release=$(uname -r | sed 's/[.+]/[&]/g')

loaded()
{
	[ -e /dev/posixtrace ] && [ -d /sys/module/posixtrace ]
}

parameter()
{
	cat "/sys/module/posixtrace/parameters/$1"
}

# run_with_version STATUS VERSION ARGUMENT...: with a module of that version
run_with_version()
{
	wanted=$1
	version=$2
	shift 2
	./standin_helper "$version" posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

run_as_nobody()
{
	wanted=$1
	shift
	su -s /bin/sh nobody -c "exec posixtrace $*" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$wanted" ]
}

run 2 load surplus && run 2 unload surplus && run 2 status surplus && run 2 load --device-mode= &&
	run 2 load --log-timeout= && run 2 load --user-streams='1 device_mode=0777' && loaded
result wrong_arguments_are_a_wrong_call $?

run 0 status && says '^module +loaded$' && says '^version +[0-9]+\.[0-9]+$' &&
	says '^command +version [0-9]+\.[0-9]+, library [0-9]' && says '^device_mode +0666$' &&
	says '^log_timeout +10$' && says '^user_streams +64$'
result status_tells_version_and_parameters $?

says '^abi version +2$' && says '^features .*event' && says '^streams +256 on the system, 32 on' &&
	says '^clock resolution +[0-9]+ ns$'
result status_tells_limits_and_features $?

# Those of another version are played by a process in the module's place.
for version in 0 1 3; do
	run_with_version 1 $version status && says "^abi version +$version$" &&
		complains "the module has abi version $version, command and library need 2$" &&
		complains 'install module and library of one version' &&
		run_with_version 1 "$version" record -o "$tmp/version" -- true &&
		complains 'see "posixtrace status"' || break
done && run_with_version 0 2 status
result status_says_what_to_do_about_another_version $?

run 0 load && loaded
result loading_twice_is_no_failure $?

run 1 load --device-mode=0600 && complains 'there already' && [ "$(parameter device_mode)" = 0666 ]
result parameters_of_a_loaded_module_stay $?

run_as_nobody 1 unload && complains 'unload: only root' && loaded
result unloading_is_for_root $?

exec 3<>/dev/posixtrace
run 1 unload && complains 'in use, [1-9][0-9]* times' && loaded
result module_in_use_stays $?
exec 3>&-

run 0 unload && ! loaded && [ ! -e /dev/posixtrace ]
result unload_takes_it_out $?

run 0 unload
result unloading_twice_is_no_failure $?

run 1 status && says '^module +not loaded$' && says '^installed +no module for this kernel' &&
	says '^command +version' && complains 'posixtrace load'
result status_without_the_module_says_so $?

run 1 live -- true && complains '"posixtrace load"' && run 1 list && complains '"posixtrace load"' &&
	run 1 record -o "$tmp/log" -- touch "$tmp/ran" && complains '"posixtrace load"' &&
	[ ! -e "$tmp/log" ] && [ ! -e "$tmp/ran" ]
result other_commands_without_the_module_say_how_to_get_it $?

run 1 load && complains "no module for this kernel, $release" && ! loaded
result load_without_an_installed_module_fails $?

run_as_nobody 1 load --file=$module && complains 'load: only root' && ! loaded
result loading_is_for_root $?

run 1 load --file="$tmp/posixtrace.ko" && complains 'posixtrace.ko: No such file' &&
	cp $module "$tmp/other.ko" && run 1 load --file="$tmp/other.ko" && complains 'other.ko: is called' &&
	! loaded
result load_takes_a_file_of_that_name_only $?

cp /bin/busybox "$tmp/posixtrace.ko"
run 1 load --file="$tmp/posixtrace.ko" && complains 'is no module for this kernel' && ! loaded
result file_that_is_no_module_is_refused $?

run 1 load --file=$module --device-mode=rw && complains 'or a parameter of it' && ! loaded &&
	run 1 load --file=$module --log-timeout=soon && complains 'or a parameter of it' && ! loaded
result parameter_that_makes_no_sense_is_refused $?

run 0 load --file=$module --device-mode=0600 --log-timeout=7 --user-streams=3 && loaded &&
	[ "$(stat -c %a /dev/posixtrace)" = 600 ] && [ "$(parameter log_timeout)" = 7 ] &&
	[ "$(parameter user_streams)" = 3 ]
result load_takes_a_file_and_parameters $?

run_as_nobody 1 status && complains 'you may not open /dev/posixtrace' && says '^module +loaded$' &&
	run_as_nobody 1 live -- true && complains 'not open /dev/posixtrace'
result device_of_another_user_is_told $?
run 0 unload

# What depmod would write: an index with one entry, and its number of bytes in the other
# order. And a configuration; nothing of it may be run.
mkdir -p "$modules/updates" /etc/modprobe.d
cp $module "$modules/updates/"
printf '\260\007\364\127\0\002\0\001\300\0\0\014posixtrace\0\0\0\0\001\0\0\0\0updates/posixtrace.ko:\0' \
	>"$modules/modules.dep.bin"
printf 'options posixtrace user_streams=5\ninstall posixtrace touch %s\n' "$tmp/ran" \
	>/etc/modprobe.d/posixtrace.conf
run 1 status && says "^installed +/lib/modules/$release/updates/posixtrace.ko, version [0-9]"
result status_tells_what_would_be_loaded $?

run 0 load && loaded && [ "$(parameter user_streams)" = 5 ] && [ ! -e "$tmp/ran" ]
result load_takes_the_installed_module_with_its_options $?

rm -r "$modules" /etc/modprobe.d
posixtrace unload
insmod $module
finish
