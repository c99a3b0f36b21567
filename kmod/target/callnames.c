// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the system calls, as texts for readers, and their numbers of arguments. Both come
 * from the headers of the kernel that the module is built for.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/unistd.h>

#include <linux/posixtrace.h>

#include "target/callnames.h"

/* One text for each POSIXTRACE_CALL_NAMES numbers. */
#define TEXTS	(POSIXTRACE_ID_UNNAMED - POSIXTRACE_ID_CALL_NAMES)

#define PXT_NATIVE(name, args, texts)[__NR_##name] = #name,
#define PXT_IA32(name)

static const char *const names[] = {
#include "callnames.inc"
};

#undef PXT_NATIVE
#undef PXT_IA32
#define PXT_NATIVE(name, args, texts)
#define PXT_IA32(name)[__NR_ia32_##name] = #name,

/* Names for 32-bit programs. Only the x86 headers have constants for both. */
static const char *const compat_names[] = {
#include "callnames.inc"
};

#undef PXT_NATIVE
#undef PXT_IA32
#define PXT_NATIVE(name, args, texts)[__NR_##name] = POSIXTRACE_KARGS - (args),
#define PXT_IA32(name)

const u8 pxt_call_unused[PXT_CALLS] = {
#include "callnames.inc"
};

#undef PXT_NATIVE
#define PXT_NATIVE(name, args, texts)[__NR_##name] = texts,

const u8 pxt_call_text_args[PXT_CALLS] = {
#include "callnames.inc"
};

/* Built by pxt_call_names_init(), then constant. */
static char *texts[TEXTS];

/**
 * pxt_call_names() - get the names of some system calls
 * @id: POSIXTRACE_ID_CALL_NAMES or _COMPAT_CALL_NAMES, plus a number
 *
 * Return: a text, as described at these constants, or NULL.
 */
const char *pxt_call_names(u32 id)
{
	u32 i = id - POSIXTRACE_ID_CALL_NAMES;

	return i < TEXTS ? texts[array_index_nospec(i, TEXTS)] : NULL;
}

/**
 * pxt_call_name() - get the name of a system call
 * @nr: any number
 * @compat: number of the 32-bit interface
 *
 * Return: the name, or "".
 */
const char *pxt_call_name(u32 nr, bool compat)
{
	const char *name = NULL;

	if (!compat && nr < ARRAY_SIZE(names))
		name = names[array_index_nospec(nr, ARRAY_SIZE(names))];
	else if (compat && nr < ARRAY_SIZE(compat_names))
		name = compat_names[array_index_nospec(nr, ARRAY_SIZE(compat_names))];
	return name ? name : "";
}

/* Make the text with @count names. Returns ERR_PTR(-ENOMEM), or NULL if all names are missing. */
static char *text_of(const char *const *name, size_t count)
{
	char *text;
	size_t i;
	int len = 0;

	while (count && !name[count - 1])
		count--;
	if (!count)
		return NULL;
	text = kmalloc(POSIXTRACE_DESCRIPTION_SIZE, GFP_KERNEL);
	if (!text)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < count; i++)
		len += scnprintf(text + len, POSIXTRACE_DESCRIPTION_SIZE - len, "%s%s",
				 i ? " " : "", name[i] ? name[i] : "-");
	return text;
}

static int add_texts(char **text, const char *const *name, size_t count)
{
	size_t at, i = 0;

	for (at = 0; at < count && i < TEXTS / 2; at += POSIXTRACE_CALL_NAMES, i++) {
		text[i] = text_of(name + at, min_t(size_t, count - at, POSIXTRACE_CALL_NAMES));
		if (IS_ERR(text[i])) {
			text[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * pxt_call_names_init() - build the texts
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int __init pxt_call_names_init(void)
{
	int err = add_texts(texts, names, ARRAY_SIZE(names));

	if (!err)
		err = add_texts(texts + TEXTS / 2, compat_names, ARRAY_SIZE(compat_names));
	if (err)
		pxt_call_names_exit();
	return err;
}

/**
 * pxt_call_names_exit() - free the texts
 */
void pxt_call_names_exit(void)
{
	size_t i;

	for (i = 0; i < TEXTS; i++) {
		kfree(texts[i]);
		texts[i] = NULL;
	}
}
