/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files on which system calls work: the file of the descriptor that they use, or the file that
 * they open.
 */
#ifndef POSIXTRACE_CALL_FILES_H
#define POSIXTRACE_CALL_FILES_H

#include "analyze/calls.h"
#include "analyze/descriptors.h"
#include "analyze/intervals.h"
#include "event/source.h"

/**
 * call_files_note() - note the file of a call
 * @descriptors: the state before @event if it is a syscall_entry, after it if it is a syscall_exit
 * @event: the syscall_entry or syscall_exit
 * @kevent: its fields
 * @path: in and out: path of the current call of the thread, or ""
 */
void call_files_note(const struct descriptors *descriptors, const struct event *event,
		     const struct kevent *kevent, char path[DESCRIPTORS_PATH_SIZE]);

struct call_files;

/**
 * call_files_new() - start to follow the files of the calls of all threads
 * @source: a log, at its first event; every event must be passed to call_files_event()
 * @max: highest number of a thread; threads with higher numbers have no files
 * @files: where to store it
 *
 * Return: 0 or a negative error number.
 */
int call_files_new(struct source *source, size_t max, struct call_files **files);

/**
 * call_files_event() - process an event; call it before spans_event() gets the event
 * @files: from call_files_new()
 * @thread: number of the thread of @event, or 0
 * @event: the event
 *
 * Return: 0 or -ENOMEM.
 */
int call_files_event(struct call_files *files, uint32_t thread, const struct event *event);

/* call_files_of_call() - get the path of a call that ends (any bytes); NULL if unknown */
const char *call_files_of_call(const struct call_files *files, const struct call *call);

/* call_files_of_wait() - get the path of the call in which a thread was blocked, or NULL */
const char *call_files_of_wait(const struct call_files *files, const struct interval *interval);

void call_files_free(struct call_files *files);

#endif /* POSIXTRACE_CALL_FILES_H */
