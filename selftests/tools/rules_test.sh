#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the permission rules: the parameters trace_scope and kernel_classes, their values after
# "posixtrace load", and the messages of the commands when a rule refuses a stream. Unloads the
# module, and loads it again at the end. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 15
module=/run/vm/posixtrace.ko
parameters=/sys/module/posixtrace/parameters
sysctl=$tmp/sysctl
classes=sched:user,fault:user,signal:user,syscall:perfmon,irq:perfmon,process:user,strings:perfmon

loaded()
{
	[ -d "$parameters" ]
}

# is NAME VALUE: checks a parameter
is()
{
	[ "$(cat "$parameters/$1")" = "$2" ] || { echo "# $1 $(cat "$parameters/$1")"; return 1; }
}

set_parameter()
{
	echo "$2" >"$parameters/$1"
}

# reload ARGUMENT...: unloads the module and loads it again
reload()
{
	posixtrace unload && run 0 load --file=$module "$@"
}

run 0 status && says "^kernel_classes +$classes\$" && says '^trace_scope +0$'
result status_prints_the_rules $?

reload && is trace_scope 0 && is kernel_classes $classes
result sysctls_of_the_guest_change_nothing $?

reload --trace-scope=2 --kernel-classes=irq:user,sched:perfmon && is trace_scope 2 &&
	is kernel_classes sched:perfmon,fault:user,signal:user,syscall:perfmon,irq:user,process:user,strings:perfmon
result load_sets_the_rules $?

posixtrace unload
for option in --trace-scope=4 --trace-scope=-1 --trace-scope=none --kernel-classes=irq \
	--kernel-classes=irq:all "--kernel-classes=irq:user," --kernel-classes=irq:user,irq:user; do
	run 1 load --file=$module "$option" && complains 'refused the module or a parameter' &&
		! loaded || break
done && [ "$option" = --kernel-classes=irq:user,irq:user ] && run 2 load --trace-scope= &&
	complains '^posixtrace: --trace-scope: must be a value' && run 2 load '--kernel-classes=irq:user x=1' &&
	complains '^posixtrace: --kernel-classes: must be a value'
result wrong_rules_are_refused $?

# Simulate the sysctls, because some kernels lack them, or do not allow resetting them.
mkdir -p "$sysctl/yama"
echo 0 >"$sysctl/modules_disabled"
mount --bind "$sysctl" /proc/sys/kernel

for scope in 1 2 3; do
	echo $scope >"$sysctl/yama/ptrace_scope"
	echo 2 >"$sysctl/perf_event_paranoid"
	reload && is trace_scope $scope && is kernel_classes $classes || break
done && [ "$scope" = 3 ]
result load_derives_the_scope_from_yama $?

echo 4 >"$sysctl/yama/ptrace_scope"
reload && is trace_scope 3 && rm "$sysctl/yama/ptrace_scope" && reload && is trace_scope 0
result unknown_scope_is_the_strictest_and_none_is_0 $?

for paranoid in 3 0; do
	echo $paranoid >"$sysctl/perf_event_paranoid"
	reload && is kernel_classes $classes || break
done && [ "$paranoid" = 0 ] && echo -1 >"$sysctl/perf_event_paranoid" && reload &&
	is kernel_classes sched:user,fault:user,signal:user,syscall:user,irq:user,process:user,strings:user
result load_derives_the_classes_from_perf $?

echo 2 >"$sysctl/yama/ptrace_scope"
reload --trace-scope=1 --kernel-classes=process:perfmon && is trace_scope 1 &&
	is kernel_classes sched:user,fault:user,signal:user,syscall:perfmon,irq:perfmon,process:perfmon,strings:perfmon
result options_of_the_command_replace_what_is_derived $?

mkdir -p /etc/modprobe.d
echo 'options posixtrace user_streams=5 trace_scope=0 kernel_classes=fault:perfmon' \
	>/etc/modprobe.d/posixtrace.conf
reload && is trace_scope 0 && is user_streams 5 &&
	is kernel_classes sched:user,fault:perfmon,signal:user,syscall:perfmon,irq:perfmon,process:user,strings:perfmon &&
	reload --trace-scope=1 && is trace_scope 1
result options_of_modprobe_replace_what_is_derived $?
rm -r /etc/modprobe.d
umount /proc/sys/kernel

reload
mkdir -m 1777 "$tmp/users" && chmod 755 "$tmp"
sleeper=$(su -s /bin/sh nobody -c 'sleep 1000 >/dev/null 2>&1 & echo $!')
set_parameter trace_scope 1
# refuses MESSAGE: checks that each command explains why it may not trace the process
refuses()
{
	for command in "record --force -o $tmp/users/log" live stat; do
		run_as_nobody 1 "$command" "$sleeper" &&
			complains "^posixtrace: process $sleeper: $1" || return 1
	done
}

refuses 'module parameter trace_scope=1 allows only descendants of the caller$' &&
	complains 'see "Permissions" in posixtrace\(4\)$' &&
	run_as_nobody 0 record --force -o "$tmp/users/log" -- ./ticks_helper 3 0 && [ -s "$tmp/users/log" ]
result messages_name_the_scope_of_descendants $?

# The sleeper of this shell becomes a descendant of the command, unlike the other one.
su -s /bin/sh nobody -c "sleep 3 & exec posixtrace record --force -o $tmp/users/log --user=nobody" \
	>"$tmp/out" 2>"$tmp/err" &&
	complains '^posixtrace: not traced: 1 process that module parameter trace_scope=1 refuses$'
result messages_name_the_scope_of_processes_that_are_left_out $?

set_parameter trace_scope 2
refuses 'module parameter trace_scope=2 requires CAP_SYS_PTRACE$' &&
	run_as_nobody 1 live -- ./ticks_helper 3 0 &&
	complains 'module parameter trace_scope=2 requires CAP_SYS_PTRACE$' &&
	run 0 record -o "$tmp/log" -- ./ticks_helper 3 0
result messages_name_the_scope_of_the_capability $?

set_parameter trace_scope 3
refuses 'module parameter trace_scope=3 lets a process trace only itself$' &&
	run 1 live -- ./ticks_helper 3 0 &&
	complains 'module parameter trace_scope=3 lets a process trace only itself$'
result messages_name_the_scope_of_none $?

# Another rule refuses this process, whatever the trace scope is.
reload --trace-scope=1
run_as_nobody 1 live $$ && complains "^posixtrace: process $$: no permission to trace it\$" &&
	! complains trace_scope
result messages_blame_no_scope_for_processes_of_others $?
kill "$sleeper"

reload --kernel-classes=sched:perfmon
for class in sched syscall irq; do
	run_as_nobody 1 live -k process,$class -- ./ticks_helper 3 0 &&
		complains "^posixtrace: --kernel: module parameter kernel_classes=$class:perfmon requires CAP_PERFMON\$" &&
		! complains 'kernel_classes=process' || break
done && [ "$class" = irq ] && run_as_nobody 0 live -k process -- ./ticks_helper 3 0
result messages_name_the_class $?

posixtrace unload
insmod $module
finish
