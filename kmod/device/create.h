/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CREATE_H
#define PXT_CREATE_H

#include <linux/types.h>

struct file;
struct hlist_head;
struct posixtrace_create;
struct pxt_stream;
struct pxt_table;
struct pxt_target;
struct task_struct;

struct task_struct *pxt_create_find(pid_t nr);
struct pxt_target *pxt_create_target(struct task_struct *task, struct pxt_table *table);
int pxt_create_link(struct pxt_stream *stream, struct pxt_target *target, struct task_struct *task,
		    int (*link)(struct pxt_stream *stream, struct pxt_target *target,
				struct hlist_head *memory));
struct pxt_stream *pxt_create(const struct posixtrace_create *arg, struct file *file);
void pxt_create_result(const struct pxt_stream *stream, struct posixtrace_create *arg);

#endif /* PXT_CREATE_H */
