/* SPDX-License-Identifier: MIT */
/* The order of the events of a log. */
#ifndef PXTU_LOGMERGE_H
#define PXTU_LOGMERGE_H

#include "log/log.h"

/**
 * pxtu_log_next() - take the next event
 * @log: the log
 * @event: the event, valid until the next call; NULL if there is no event
 *
 * Return: 0; -ENOMEM, then no event is lost; -ESHUTDOWN if the program closed our
 * descriptor.
 */
int pxtu_log_next(struct pxtu_log *log, const struct posixtrace_batch_event **event);

/**
 * pxtu_log_unread() - put the last event back
 * @log: the log
 */
void pxtu_log_unread(struct pxtu_log *log);

#endif /* PXTU_LOGMERGE_H */
