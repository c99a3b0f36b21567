// SPDX-License-Identifier: GPL-2.0
/*
 * Registers handlers of tracepoints (kmod/probe/) for the events of the kernel. The tracepoints are
 * found by name, and have a handler only while there is a stream that asks for their class.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <linux/posixtrace.h>

#include "tracepoints.h"
#include "probe/probe.h"
#include "stream/kevent.h"

static bool syscall_class;

static int set_syscall_class(const char *value, const struct kernel_param *param)
{
	if (sysfs_streq(value, "admin"))
		WRITE_ONCE(syscall_class, false);
	else if (sysfs_streq(value, "user"))
		WRITE_ONCE(syscall_class, true);
	else
		return -EINVAL;
	return 0;
}

static int get_syscall_class(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", READ_ONCE(syscall_class) ? "user" : "admin");
}

static const struct kernel_param_ops syscall_class_ops = {
	.set = set_syscall_class,
	.get = get_syscall_class,
};

module_param_cb(syscall_class, &syscall_class_ops, NULL, 0644);
MODULE_PARM_DESC(syscall_class, "Who may record system calls: admin (default) or user");

/* ------------------------------------------------------------------ */
/* Registration								*/

static const struct pxt_probes *const all[] = {
	&pxt_probes_sched,
	&pxt_probes_process,
	&pxt_probes_signal,
	&pxt_probes_syscall,
	&pxt_probes_fault,
	&pxt_probes_irq,
};

/*
 * Guards the registration. Outside of the kernel's lock of the tracepoints; inside of the lock of a
 * stream that ends. Its holders wait for the kernel only, not for a process.
 */
static DEFINE_MUTEX(pxt_tracepoints_lock);

/* Streams that ask for each class of all[]; with the lock. */
static unsigned int users[ARRAY_SIZE(all)];

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (j = 0; j < all[i]->count; j++) {
			if (!strcmp(tp->name, all[i]->probe[j].name))
				all[i]->probe[j].tp = tp;
		}
	}
}

/**
 * pxt_tracepoints_init() - look which tracepoints this kernel has
 *
 * There is no need for the opposite: a stream that ends removes its handlers, and
 * pxt_process_exit() waits for the last ones.
 */
void pxt_tracepoints_init(void)
{
	pxt_runnable_init();
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

static bool is_complete(const struct pxt_probes *probes)
{
	size_t i;

	for (i = 0; i < probes->count; i++) {
		if (!probes->probe[i].tp && !probes->probe[i].optional)
			return false;
	}
	return probes->count;
}

static u64 complete_classes(void)
{
	u64 classes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		classes |= is_complete(all[i]) ? all[i]->class : 0;
	return classes;
}

/* Handlers of system calls make those of all processes slower. */
static bool may_have_syscalls(void)
{
	return READ_ONCE(syscall_class) || perfmon_capable();
}

/**
 * pxt_tracepoints_classes() - the classes that this kernel can record for the caller
 *
 * Return: POSIXTRACE_CLASS_*.
 */
u64 pxt_tracepoints_classes(void)
{
	return complete_classes() & ~(may_have_syscalls() ? 0 : POSIXTRACE_CLASS_SYSCALL);
}

/**
 * pxt_tracepoints_check() - may the caller create a stream with these classes?
 * @classes: POSIXTRACE_CLASS_*
 *
 * Return: 0; -EPERM for the system calls; -EOPNOTSUPP if this kernel cannot record a class.
 */
int pxt_tracepoints_check(u64 classes)
{
	if (classes & POSIXTRACE_CLASS_SYSCALL && !may_have_syscalls())
		return -EPERM;
	return classes & ~complete_classes() ? -EOPNOTSUPP : 0;
}

static void unregister(const struct pxt_probes *probes, size_t count)
{
	while (count--) {
		if (probes->probe[count].tp)
			tracepoint_probe_unregister(probes->probe[count].tp,
						    probes->probe[count].function, NULL);
	}
}

static int register_all(const struct pxt_probes *probes)
{
	int err = 0;
	size_t i;

	if (probes->begin)
		probes->begin();
	for (i = 0; i < probes->count && !err; i++) {
		if (probes->probe[i].tp)
			err = tracepoint_probe_register(probes->probe[i].tp,
							probes->probe[i].function, NULL);
	}
	if (err)
		unregister(probes, i - 1);
	return err;
}

/* With the lock. @count: of all[] */
static void put_classes(u64 classes, size_t count)
{
	while (count--) {
		if (all[count]->class & classes && !--users[count])
			unregister(all[count], all[count]->count);
	}
}

/**
 * pxt_tracepoints_get() - one more stream has events of the kernel
 * @classes: POSIXTRACE_CLASS_*, checked
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -EINTR if the caller is killed.
 */
int pxt_tracepoints_get(u64 classes)
{
	int err = 0;
	size_t i;

	if (!classes)
		return 0;
	err = mutex_lock_killable(&pxt_tracepoints_lock);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (!(all[i]->class & classes))
			continue;
		if (!users[i])
			err = register_all(all[i]);
		if (err)
			break;
		users[i]++;
	}
	if (err)
		put_classes(classes, i);
	mutex_unlock(&pxt_tracepoints_lock);
	return err;
}

/**
 * pxt_tracepoints_put() - one stream with events of the kernel less
 * @classes: of pxt_tracepoints_get()
 *
 * A handler may still run when this returns. Context: may sleep.
 */
void pxt_tracepoints_put(u64 classes)
{
	if (!classes)
		return;
	mutex_lock(&pxt_tracepoints_lock);
	put_classes(classes, ARRAY_SIZE(all));
	mutex_unlock(&pxt_tracepoints_lock);
}
