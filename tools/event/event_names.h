/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the threads and processes that recorded events.
 */
#ifndef POSIXTRACE_EVENT_NAMES_H
#define POSIXTRACE_EVENT_NAMES_H

#include <posixtrace.h>
#include <stdbool.h>

#include "event/event.h"

/* Buffer size for event_thread_label() and event_process_label(). */
#define LABEL_SIZE	64

/**
 * event_thread_name() - get the name that the thread had when it recorded an event
 * @event: the event
 * @name: where to store it; may contain any bytes
 *
 * Return: true if the name is known.
 */
bool event_thread_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * event_label() - make a label from the name of a thread and its id
 * @event: ids of the thread; its source may be NULL
 * @name: the name, or NULL if unknown
 * @label: where to store the label (any bytes): if there are several hosts, also the host
 */
void event_label(const struct event *event, const char *name, char label[LABEL_SIZE]);

/**
 * event_last_name() - get the last name of a thread
 * @event: an event of the thread
 * @name: where to store it; may contain any bytes
 *
 * Return: true if the name is known.
 */
bool event_last_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * event_thread_label() - get a label for all events of a thread
 * @event: an event of the thread
 * @label: where to store the label (any bytes): event_label() with the last name of the thread, or
 *	what is known of it
 *
 * A label never has the name of another thread that had the same ids earlier or later.
 *
 * Return: true if the name is known.
 */
bool event_thread_label(const struct event *event, char label[LABEL_SIZE]);

/*
 * event_process_label() - get a label for a process: the name of its program or else of its main
 * thread, or else its id; returns true if the label is a name. It does not include the host.
 */
bool event_process_label(const struct event *event, char label[LABEL_SIZE]);

/*
 * event_host_label() - begin a label with the host of a process and a colon, if there are several
 * hosts; returns the number of bytes
 */
size_t event_host_label(const struct event *event, char label[LABEL_SIZE]);

/**
 * event_process_command() - get the last command line of a process
 * @event: an event of one of its threads
 * @text: where to store the arguments with blanks between them; may contain any bytes
 *
 * Return: number of bytes; 0 if the command line is unknown.
 */
size_t event_process_command(const struct event *event, char text[POSIXTRACE_PROGRAM_SIZE]);

#endif /* POSIXTRACE_EVENT_NAMES_H */
