// SPDX-License-Identifier: GPL-2.0
/*
 * The tables about the whole log: see table_log.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "export/table_log.h"
#include "export/table_schemas.h"
#include "util/escape.h"

/* Writes the losses up to @event, or up to the end if NULL. */
static int put_loss(struct table *table, const struct table_losses *losses,
		    const struct event *event, const char *kind, uint64_t count)
{
	if (losses->seen)
		table_set(table, LOSS_FROM, (int64_t)losses->last);
	if (event)
		table_set(table, LOSS_TO, (int64_t)event->time);
	table_set_text(table, LOSS_KIND, kind);
	if (count)
		table_set(table, LOSS_COUNT, (int64_t)count);
	return table_row(table);
}

static int put_losses(struct table *table, const struct table_losses *losses,
		      const struct logend *end, const struct event *event)
{
	int err = 0;

	if (losses->lost || end->gaps > losses->gaps)
		err = put_loss(table, losses, event, "lost", losses->lost);
	if (!err && end->damaged > losses->damaged)
		err = put_loss(table, losses, event, "damaged", 0);
	return err;
}

static int count_event(struct table_losses *losses, const struct export *export,
		       const struct event *event)
{
	struct table_host *host;

	if (!losses->hosts)
		losses->hosts = calloc(source_hosts(export->source) + 1, sizeof(*losses->hosts));
	if (!losses->hosts)
		return -ENOMEM;
	host = &losses->hosts[event->host];
	if (event->type != POSIX_TRACE_ERROR) {
		if (!host->last || event->time < host->first)
			host->first = event->time;
		if (event->time > host->last)
			host->last = event->time;
	}
	host->events++;
	return 0;
}

int table_losses_event(struct table *table, struct table_losses *losses,
		       const struct export *export, const struct event *event)
{
	int err = count_event(losses, export, event);

	if (err)
		return err;
	losses->lost += export->newly_lost;
	if (event->type == POSIX_TRACE_ERROR)
		return 0;
	if (table_is_wanted(table))
		err = put_losses(table, losses, &export->end, event);
	losses->lost = 0;
	losses->gaps = export->end.gaps;
	losses->damaged = export->end.damaged;
	if (!losses->seen || event->time < losses->first)
		losses->first = event->time;
	if (event->time > losses->last)
		losses->last = event->time;
	losses->seen = true;
	return err;
}

int table_losses_end(struct table *table, struct table_losses *losses, const struct logend *end)
{
	int err;

	losses->lost += end->lost_after;
	err = put_losses(table, losses, end, NULL);
	if (err || !end->overwritten)
		return err;
	if (losses->seen)
		table_set(table, LOSS_TO, (int64_t)losses->first);
	table_set_text(table, LOSS_KIND, "overwritten");
	table_set(table, LOSS_COUNT, (int64_t)end->overwritten);
	return table_row(table);
}

static const char *clock_name(unsigned int counter)
{
	switch (counter) {
	case POSIXTRACE_CLOCK_KERNEL:
		return "kernel";
	case POSIXTRACE_CLOCK_TSC:
		return "tsc";
	case POSIXTRACE_CLOCK_CNTVCT:
		return "cntvct";
	default:
		return NULL;
	}
}

static void set_name(struct table *table, size_t column, const char *name)
{
	if (name && *name)
		table_set_text(table, column, name);
}

static void set_host(struct table *table, const struct posixtrace_host_info *host,
		     struct buffer *boot_id)
{
	static const unsigned char none[sizeof(host->boot_id)];

	set_name(table, HOST_NODE, host->node);
	set_name(table, HOST_RELEASE, host->release);
	set_name(table, HOST_MACHINE, host->machine);
	set_name(table, HOST_CLOCK, clock_name(host->counter));
	table_set(table, HOST_REALTIME_OFFSET, host->realtime_offset);
	table_set(table, HOST_BOOTTIME_OFFSET, host->boottime_offset);
	table_set(table, HOST_RESOLUTION, host->resolution);
	if (!memcmp(host->boot_id, none, sizeof(none)))
		return;
	escape_hex(boot_id, host->boot_id, sizeof(host->boot_id));
	table_set_bytes(table, HOST_BOOT_ID, boot_id->data, boot_id->len);
}

/* Adds what is missing in the logs of a host. */
static int sum_host(const struct source *source, unsigned int host, struct logend *sum, bool *ended)
{
	struct posixtrace_log_info info;
	struct logend end;
	int err = 0;

	*ended = true;
	for (size_t i = 0; !err && i < source_logs(source); i++) {
		if (source_log_host(source, i) != host)
			continue;
		err = logend_read_log(&end, source, i);
		if (err)
			break;
		sum->lost += end.lost;
		sum->overwritten += end.overwritten;
		sum->damaged += end.damaged;
		if (posixtrace_get_log_info(source_log_trid(source, i), &info) ||
		    !(info.flags & POSIXTRACE_LOG_ENDED))
			*ended = false;
	}
	return err;
}

static int put_host(struct table *table, const struct table_host *host,
		    const struct posixtrace_host_info *info, const char *name,
		    const struct logend *end, const char *trace, bool ended)
{
	struct buffer boot_id = { };
	int err;

	if (info)
		set_host(table, info, &boot_id);
	set_name(table, HOST_HOST, name);
	set_name(table, HOST_TRACE, trace);
	if (host->last) {
		table_set(table, HOST_FIRST, (int64_t)host->first);
		table_set(table, HOST_LAST, (int64_t)host->last);
	}
	table_set(table, HOST_EVENTS, (int64_t)host->events);
	table_set(table, HOST_LOST, (int64_t)end->lost);
	table_set(table, HOST_OVERWRITTEN, (int64_t)end->overwritten);
	table_set(table, HOST_DAMAGED, (int64_t)end->damaged);
	table_set(table, HOST_ENDED, ended);
	err = table_row(table);
	buffer_free(&boot_id);
	return err;
}

/* Finds the first log of a host. */
static trace_id_t first_log(const struct source *source, unsigned int host)
{
	size_t log = 0;

	while (log + 1 < source_logs(source) && source_log_host(source, log) != host)
		log++;
	return source_log_trid(source, log);
}

int table_hosts_put(struct table *table, const struct table_losses *losses,
		    const struct export *export, const struct logend *end)
{
	const struct source *source = export->source;
	const unsigned int count = source_hosts(source);
	static const struct table_host none;
	struct posixtrace_host_info info;
	char trace[TRACE_NAME_MAX + 1];
	struct logend one = *end;
	bool known, ended = logend_ended(source);
	int err = 0;

	export_trace_name(export, trace, sizeof(trace));
	for (unsigned int i = count > 1; !err && i < count + (count > 1); i++) {
		if (i) {
			one = (struct logend){ };
			err = sum_host(source, i, &one, &ended);
		}
		known = !posixtrace_get_host(first_log(source, i), &info);
		if (!err)
			err = put_host(table, losses->hosts ? &losses->hosts[i] : &none,
				       known ? &info : NULL, source_host_name(source, i), &one,
				       i ? "" : trace, ended);
	}
	return err;
}

void table_losses_free(struct table_losses *losses)
{
	free(losses->hosts);
}
