/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CDEV_H
#define PXT_CDEV_H

struct pxt_attachment;
struct pxt_stream;

enum pxt_role {
	PXT_ROLE_NONE,
	PXT_ROLE_TAKEN,		/* CREATE or ATTACH is in progress */
	PXT_ROLE_STREAM,
	PXT_ROLE_TARGET,
};

/**
 * struct pxt_file - one open file
 * @role: written by CREATE and ATTACH, see begin_role(); read by all
 * @stream: with PXT_ROLE_STREAM; a reference
 * @att: with PXT_ROLE_TARGET; a reference
 */
struct pxt_file {
	enum pxt_role role;
	union {
		struct pxt_stream *stream;
		struct pxt_attachment *att;
	};
};

int pxt_cdev_init(void);
void pxt_cdev_exit(void);

#endif /* PXT_CDEV_H */
