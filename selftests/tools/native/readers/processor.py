# SPDX-License-Identifier: GPL-2.0
"""Perfetto's trace and the JSON of Chrome, both read by Perfetto's trace processor, compared with the
items of the page."""

import bisect
import collections
import json
import math
import os
import struct

from common import output_of
from timeline import LIFE_BASE

QUERY = os.path.join(os.path.dirname(__file__), "../../../programs/query.mjs")

SLICES = """
SELECT 'slice', slice.id, ts, dur, slice.name, category, arg_set_id, utid, parent_id
    FROM slice LEFT JOIN (SELECT id, utid FROM thread_track) AS own ON own.id = slice.track_id"""
TRACKS = """
SELECT 'parent', track.id, track.parent_id, track.name FROM track"""
OWN_TRACKS = """
SELECT 'track', id, utid FROM thread_track"""
ON_TRACK = """
SELECT 'on', id, track_id FROM slice"""
ARGS = """
SELECT 'arg', arg_set_id, key, value_type, CASE value_type WHEN 'string' THEN string_value
    WHEN 'real' THEN real_value ELSE int_value END FROM args
    WHERE key LIKE 'debug.%' OR key LIKE 'args.%'"""
THREADS = """
SELECT 'thread', utid, tid, thread.name, upid, pid, process.name FROM thread
    LEFT JOIN process USING (upid)"""
STATES = """
SELECT 'state', utid, ts, dur, state, cpu, io_wait FROM thread_state"""
SWITCHES = "SELECT 'switch', ts, cpu, " + ", ".join(
    f"EXTRACT_ARG(arg_set_id, '{side}_{name}')" for side, name in (
        ("prev", "pid"), ("prev", "prio"), ("prev", "comm"), ("prev", "state"),
        ("next", "pid"), ("next", "prio"), ("next", "comm"))) + """
    FROM ftrace_event WHERE name = 'sched_switch'"""
COUNTERS = """
SELECT 'counter', ts, value, track.name, pid, process.name, track.upid FROM counter
    JOIN process_counter_track AS track ON counter.track_id = track.id
    LEFT JOIN process USING (upid)"""
COMPLAINTS = """
SELECT 'complaint', name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"""

Slice = collections.namedtuple("Slice", "begin length name process thread")


def number(text):
    return int(text) if text not in ("", "null", "undefined") else None


class Trace:
    """A trace as the trace processor reads it."""

    def __init__(self, path):
        queries = (SLICES, TRACKS, OWN_TRACKS, ON_TRACK, ARGS, THREADS, STATES, SWITCHES, COUNTERS,
                   COMPLAINTS)
        rows = collections.defaultdict(list)
        directory = os.environ["trace_processor"]
        for line in output_of("node", QUERY, directory, path, stdin=";".join(queries).encode()).split("\n"):
            kind, *row = line.split("\t")
            rows[kind].append(row)
        self.complaints = rows["complaint"]
        self.threads = {int(utid): (number(tid), name, number(upid), number(pid), process)
                        for utid, tid, name, upid, pid, process in rows["thread"]}
        self.parents = {int(id): (number(parent), name) for id, parent, name in rows["parent"]}
        self.own = {int(id): int(utid) for id, utid in rows["track"]}
        self.on = {int(id): int(track) for id, track in rows["on"]}
        self.args = collections.defaultdict(dict)
        for arg_set, key, kind, value in rows["arg"]:
            self.args[int(arg_set)][key.split(".", 1)[1]] = self.value(kind, value)
        self.slices = rows["slice"]
        self.states = rows["state"]
        self.switches = rows["switch"]
        self.counters = rows["counter"]

    @staticmethod
    def value(kind, text):
        if kind in ("int", "uint", "pointer"):
            return int(text) % (1 << 64)
        if kind == "bool":
            return bool(int(text))
        if kind == "real":
            return float({"Infinity": "inf", "-Infinity": "-inf"}.get(text, text))
        return text if kind == "string" else None

    def thread_of(self, track):
        """The thread of a track, or of a track around it."""
        while track is not None:
            if track in self.own:
                return self.threads[self.own[track]]
            track = self.parents.get(track, (None, None))[0]
        return None

    def all_slices(self):
        for id, begin, length, name, category, args, *_ in self.slices:
            thread = self.thread_of(self.on[int(id)])
            yield (Slice(int(begin), int(length), name, (thread[3], thread[4]) if thread else None,
                         thread[1] if thread else None), category, self.args.get(number(args), {}),
                   thread[0] if thread else None)


# ----------------------------------------------------------------------
# The contents of the page

def flat(value, name, to):
    if isinstance(value, dict):
        for inner, element in value.items():
            flat(element, f"{name}.{inner}", to)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            flat(element, f"{name}[{index}]", to)
    else:
        to[name] = value
    return to


OTHER_NAMES = {"address": "program_address", "cpu": "on_cpu", "truncated": "data_truncated"}


def args_of(args, prefix=""):
    """The arguments of an event in Perfetto's form."""
    found = {}
    for name, value in args.items():
        if name == "fields":
            for field, inner in value.items():
                flat(inner, prefix + field, found)
        elif name == "units":
            for path, unit in value.items():
                found[f"{prefix}units.{path}"] = unit
        elif name != "counter":
            found[prefix + OTHER_NAMES.get(name, name)] = value
    return found


def same(shown, value):
    """Large and hexadecimal numbers are texts in JSON."""
    if isinstance(shown, bool) or isinstance(value, bool):
        return shown is value
    if isinstance(shown, float):
        value = float(value)
        return math.isnan(shown) and math.isnan(value) or shown == value or \
            struct.pack("f", shown) == struct.pack("f", value)
    if isinstance(shown, int):
        if isinstance(value, float):
            return shown == value
        return shown == (int(value, 0) if isinstance(value, str) else value) % (1 << 64)
    return str(shown) == str(value)


def is_shown_elsewhere(name, value, category, runs_on):
    """Kernel events leave out their thread and flags that are not set. All events leave out the CPU
    on which the trace shows their thread at that time."""
    if name == "on_cpu":
        return int(value) in runs_on
    return category == "kernel" and (value is False or name == "tid")


def args_differ(shown, args, category, runs_on):
    """The name of an argument that differs, or None."""
    if any(len(str(value)) >= 250 for value in args.values()):
        return None     # the page truncates it
    for name in shown.keys() | args.keys():
        if name not in shown and is_shown_elsewhere(name.removeprefix("end_"), args[name], category,
                                                    runs_on[name.startswith("end_")]):
            continue
        if name not in shown or name not in args or not same(shown[name], args[name]):
            return f"{name}: {shown.get(name)!r} instead of {args.get(name)!r}"
    return None


def expected_slice(item, first):
    """Returns the slice of an item and its arguments (None if they are not compared), or None."""
    process = (item.process[0], item.process[2]) if item.process and item.process[0] else None
    name, length, args = item.name, item.length, None
    if item.kind == "lost":
        return Slice(item.begin + first, 0, f"{item.name} events lost", None, None), {"lost": item.name}
    if item.kind in ("slice", "async"):
        args = args_of(item.args["begin"]) | args_of(item.args["end"], "end_")
        if "lost" in item.args:
            args["lost"] = item.args["lost"]
    elif item.kind == "instant":
        args = args_of(item.args)
        if name in ("sched_switch_in", "sched_switch_out", "sched_wakeup", "sched_migrate_task"):
            return None
    elif item.kind == "call" and "result" not in item.args:
        name, length = "syscall_entry", 0
    elif item.kind not in ("call", "irq"):
        return None
    thread = item.thread if process else None
    return Slice(item.begin + first, length, name, process, thread), args


def cpus_at(runs, time):
    """The CPUs on which a thread runs at a time, from its periods in order: two at most, as a period
    may begin when another ends."""
    after = bisect.bisect_right(runs, (time, math.inf))
    return {cpu for _, end, cpu in runs[max(after - 2, 0):after] if end >= time}


def compare_slices(trace, items, first, differences):
    left = collections.defaultdict(list)
    for item in items:
        found = expected_slice(item, first)
        if found:
            left[found[0]].append(found[1])
    runs = collections.defaultdict(list)
    for tid, begin, end, cpu in sorted(running_of(trace, math.inf)):
        runs[tid].append((begin, end, cpu))
    for slice_, category, shown, tid in trace.all_slices():
        wanted = left.get(slice_)
        if not wanted:
            differences.add("Perfetto, beside the page", f"has {slice_} {shown}")
            continue
        runs_on = [cpus_at(runs[tid], slice_.begin), cpus_at(runs[tid], slice_.begin + slice_.length)]
        wrong = [args is not None and args_differ(shown, args, category, runs_on) for args in wanted]
        best = next((i for i, found in enumerate(wrong) if not found), 0)
        if wrong[best]:
            differences.add("Perfetto, beside the page", f"{wrong[best]}: {slice_}")
        del wanted[best]
    for slice_, wanted in left.items():
        for args in wanted:
            differences.add("Perfetto, beside the page", f"lacks {slice_} {args}")


def compare_counters(trace, items, first, differences):
    expected = [(item.begin + first, float(item.args["fields"]["counter"]), item.name,
                 item.process[0], item.process[2]) for item in items if item.kind == "counter"]
    shown = [(int(ts), float(value), name, number(pid), process)
             for ts, value, name, pid, process, _ in trace.counters]
    differences.compare("Perfetto, counters", expected, shown)


IDLE = 0
ANOTHER = 2147483647    # used for threads that are not traced
UNKNOWN = 1 << 30       # used for threads without an id: larger than any id


def running_of(trace, last=0):
    """The periods in which threads ran. The last one of a CPU has length -1: it is @last, unless 0."""
    found = []
    for utid, begin, length, state, cpu, _ in trace.states:
        length = last if int(length) < 0 else int(length)
        if state == "Running" and length > 0 and trace.threads[int(utid)][0] != IDLE:
            found.append((trace.threads[int(utid)][0], int(begin), int(begin) + length, number(cpu)))
    return found


LETTERS = {"running": "Running", "runnable": "R", "stopped": "T", "blocked (sleep)": "S",
           "blocked (I/O)": "D", "blocked (uninterruptible)": "D"}


def compare_starts(trace, items, threads, first, differences):
    """The states that begin with the log, on the page and in the trace."""
    tids = {(process, label): tid for process, label, tid in threads}
    expected = [(tids[item.process, item.thread], LETTERS[item.name], item.args.get("cpu"))
                for item in items if item.kind == "state" and not item.begin and item.length and
                item.name in LETTERS]
    shown = [(trace.threads[int(utid)][0], state, number(cpu))
             for utid, begin, length, state, cpu, _ in trace.states
             if int(begin) == first and int(length)]
    differences.compare("Perfetto, states at the start", expected, shown)


def compare_threads(trace, threads, wakers, differences):
    """Expects each thread of the page once. Other threads have no name: the trace processor gives each
    process a main thread, and some threads only wake others."""
    known = {tid for _, _, tid in threads}
    mains = {process[0] for process, _, _ in threads}
    shown = [(0 if tid >= UNKNOWN else tid, name, pid, process)
             for tid, name, _, pid, process in trace.threads.values() if tid not in (IDLE, ANOTHER) and
             (name or tid in known or tid not in mains | wakers)]
    expected = [(tid, label, process[0], process[2]) for process, label, tid in threads
                if process[0] and label != "further threads"]
    differences.compare("Perfetto, threads", expected, shown)


def compare_complaints(what, trace, differences):
    for name, value in trace.complaints:
        # the state after a loss: see posixtrace-export(1)
        if name == "task_state_invalid":
            continue
        differences.add(what, f"the trace processor complains: {name} {value}")


def compare_chrome(trace, items, differences):
    """Compares the JSON of Chrome, with times from the first event. The trace processor truncates
    lengths to nanoseconds, so a length may be 1 shorter if it ends just before the next begin."""
    expected, shown = collections.Counter(), collections.Counter()
    for item in items:
        process = item.process and (item.process[0] + LIFE_BASE * item.process[1], item.process[2])
        thread = f"{item.thread}: states" if item.kind in ("state", "irq") else item.thread
        if item.kind in ("lost", "counter", "async", "async call") or \
           item.kind == "instant" and item.name.startswith("posix_trace_"):
            continue    # the event is not on a thread
        expected[Slice(item.begin, item.length, item.name, process, thread)] += 1
    for slice_, category, *_ in trace.all_slices():
        if category in ("lost", "system") or slice_.thread is None:
            continue
        longer = slice_._replace(length=slice_.length + 1)
        if not expected[slice_] and expected[longer]:
            slice_ = longer
        shown[slice_] += 1
    differences.compare("Chrome by the trace processor", +expected, shown)
