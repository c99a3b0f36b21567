/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CREATE_H
#define PXT_CREATE_H

struct file;
struct posixtrace_create;
struct pxt_stream;

struct pxt_stream *pxt_create(const struct posixtrace_create *arg, struct file *file);
void pxt_create_result(const struct pxt_stream *stream, struct posixtrace_create *arg);

#endif /* PXT_CREATE_H */
