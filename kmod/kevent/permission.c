// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter kernel_classes: which users may record which classes of kernel events.
 * target/rights.c checks the right to trace a process.
 */
#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include <linux/posixtrace.h>

#include "kevent/permission.h"

static const struct {
	const char *name;
	u64 class;
} classes[] = {
	{ "sched", POSIXTRACE_CLASS_SCHED },
	{ "fault", POSIXTRACE_CLASS_FAULT },
	{ "signal", POSIXTRACE_CLASS_SIGNAL },
	{ "syscall", POSIXTRACE_CLASS_SYSCALL },
	{ "irq", POSIXTRACE_CLASS_IRQ },
	{ "process", POSIXTRACE_CLASS_PROCESS },
	{ "strings", POSIXTRACE_CLASS_STRINGS },
};

/*
 * POSIXTRACE_CLASS_* that need CAP_PERFMON: system calls and their strings, because the handlers
 * slow down all processes; interrupts, because their events reveal device activity for other users.
 * The other classes show no more about a user's own processes than /proc and getrusage().
 *
 * Written with the kernel's lock of the module parameters; read without.
 */
static u64 restricted = POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_IRQ | POSIXTRACE_CLASS_STRINGS;

/* Do the first @len characters of the text equal the word? */
static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !strncmp(text, word, len);
}

static u64 find_class(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		if (is_word(text, len, classes[i].name))
			return classes[i].class;
	}
	return 0;
}

/* Parse "irq:perfmon" and advance @text past it. Each class is allowed once. */
static int parse_class(const char **text, u64 *named, u64 *perfmon)
{
	const char *who;
	size_t len;
	u64 class;

	len = strcspn(*text, ":");
	class = find_class(*text, len);
	if (!class || class & *named || !(*text)[len])
		return -EINVAL;
	who = *text + len + 1;
	len = strcspn(who, ",\n");
	if (is_word(who, len, "perfmon"))
		*perfmon |= class;
	else if (!is_word(who, len, "user"))
		return -EINVAL;
	*named |= class;
	*text = who + len;
	return 0;
}

static int set_kernel_classes(const char *value, const struct kernel_param *param)
{
	u64 named = 0, perfmon = 0;
	int err;

	for (;;) {
		err = parse_class(&value, &named, &perfmon);
		if (err)
			return err;
		if (*value != ',')
			break;
		value++;
	}
	if (*value == '\n')
		value++;
	if (*value)
		return -EINVAL;
	WRITE_ONCE(restricted, (restricted & ~named) | perfmon);
	return 0;
}

static int get_kernel_classes(char *buffer, const struct kernel_param *param)
{
	u64 perfmon = READ_ONCE(restricted);
	int len = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		len += sysfs_emit_at(buffer, len, "%s%s:%s", i ? "," : "", classes[i].name,
				     perfmon & classes[i].class ? "perfmon" : "user");
	len += sysfs_emit_at(buffer, len, "\n");
	return len;
}

static const struct kernel_param_ops kernel_classes_ops = {
	.set = set_kernel_classes,
	.get = get_kernel_classes,
};

module_param_cb(kernel_classes, &kernel_classes_ops, NULL, 0644);
__MODULE_PARM_TYPE(kernel_classes, "CLASS:WHO,...");
MODULE_PARM_DESC(kernel_classes,
		 "Who may record a class of kernel events, user or perfmon (default irq:perfmon,strings:perfmon,syscall:perfmon, others user)");

/**
 * pxt_permission_classes() - get the classes of kernel events that the caller may record
 *
 * This kernel may not support all of them: see pxt_tracepoints_classes().
 *
 * Return: POSIXTRACE_CLASS_*.
 */
u64 pxt_permission_classes(void)
{
	u64 perfmon = READ_ONCE(restricted);

	return perfmon && !perfmon_capable() ? POSIXTRACE_CLASS_VALID & ~perfmon :
					       POSIXTRACE_CLASS_VALID;
}
