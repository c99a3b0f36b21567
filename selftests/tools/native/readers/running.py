# SPDX-License-Identifier: GPL-2.0
"""When threads ran: from scheduler events alone, and from each reader that draws it."""

import collections

# begins: the time of the event that begins the run, and the time of the previous event if both
# became a single switch; end: the time of the end. All times are in nanoseconds since the Epoch.
Ran = collections.namedtuple("Ran", "tid begins end cpu")


def certain(events):
    """The times that the events prove: from a sched_switch_in to the sched_switch_out of the same
    thread, on a processor where no other thread ran and no event was lost. The last thread of a
    process ends with its exit: the module may stop recording it at any time after that."""
    since, left, found, gone = {}, {}, [], set()

    def end(event):
        begin, begins = since.pop(event.cpu, (None, None))
        tid = event.fields["tid"]
        if begin and begin.fields["tid"] == tid and begin.lost == event.lost and \
           begin.pid == event.pid and begin.time < event.time and tid not in gone:
            found.append(Ran(tid, frozenset(begins), event.time, event.cpu))

    for event in events:
        if not event.fields:
            continue
        if event.name == "sched_process_fork":
            gone.discard(event.fields["child_tid"])
        elif event.name == "sched_process_exit" and event.fields["group_dead"]:
            end(event)
            gone.add(event.fields["tid"])
        elif event.name == "sched_switch_in":
            out = left.pop(event.cpu, None)
            begins = {event.time}
            if out and event.fields["tid"] == out.fields["next_tid"] or \
               out and out.fields["tid"] == event.fields["prev_tid"]:
                begins.add(out.time)
            since[event.cpu] = (event, begins)
        elif event.name == "sched_switch_out":
            end(event)
            left[event.cpu] = event
    return found


def compare(what, certain_times, shown, differences):
    """shown: (tid, begin, end, cpu)"""
    shown = collections.Counter(shown)
    for ran in certain_times:
        for begin in ran.begins:
            key = (ran.tid, begin, ran.end, ran.cpu)
            if shown[key]:
                shown[key] -= 1
                break
        else:
            differences.add(what, f"lacks {ran}")
    return +shown
