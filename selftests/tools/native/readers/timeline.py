# SPDX-License-Identifier: GPL-2.0
"""The page and the JSON of Chrome: both are converted to lists of items, which must be equal, and each
event of the log must be in an item."""

import collections
import json
import os
import re
from decimal import Decimal

from common import hashable, output_of

KINDS = ("slice", "async", "instant", "lost", "counter", "call", "state", "irq")
STATES = ("unknown", "running", "runnable", "blocked (sleep)", "blocked (I/O)", "stopped")
LIFE_BASE = 10000000
STATES_BASE = 1000000
PAGE_DATA = 256     # the page shows at most this many bytes of data without fields

# process: (id, life, name); thread: label, or None for all threads; begin and length in nanoseconds
Item = collections.namedtuple("Item", "kind process thread name begin length args")


def from_page(path):
    """Reads the page with node, as a browser would."""
    script = os.path.join(os.path.dirname(__file__), "page.mjs")
    # Node writes large floating point numbers as integers.
    data = json.loads(output_of("node", script, path),
                      parse_int=lambda text: int(text) if abs(int(text)) < 1 << 53 else float(text))
    items = []
    threads = []
    for pid, _, label, *rest in data["threads"]:
        tid, life, process = rest or (0, 0, "")
        threads.append(((pid, life, process), label, tid))
    for kind, thread, name, begin, length, args in data["events"]:
        kind = KINDS[kind]
        process, label, _ = threads[thread] if kind != "lost" else (None, None, None)
        if kind in ("slice", "async", "instant", "counter"):
            name = data["names"][name]
        elif kind == "state":
            name = STATES[name]
            # does the same as state_name() of the page
            if args and args.get("letter") == "D" and not args.get("io"):
                name = "blocked (uninterruptible)"
        items.append(Item(kind, process, label, name, begin, length, args or {}))
    return items, threads, int(data["first"])


def exact_ns(number):
    """Lengths have more digits than nanoseconds need."""
    return int((number * 1000).to_integral_value())


def chrome_item(event, process, thread, ends):
    begin = exact_ns(event["ts"])
    kind, category, args = event["ph"], event["cat"], event["args"]
    length = exact_ns(event["dur"]) if kind == "X" else 0
    if kind == "b":
        last = ends[event["id"]]
        length, args = exact_ns(last["ts"]) - begin, args | last["args"]
    name = event["name"]
    if category == "lost":
        return Item("lost", None, None, args["lost"], begin, 0, {})
    if kind == "C":
        return Item("counter", process, None, name, begin, 0, args["counter"])
    found = {("i", "user"): "instant", ("i", "system"): "instant", ("i", "kernel"): "instant",
             ("X", "user"): "slice", ("b", "user"): "async", ("X", "syscall"): "call",
             ("b", "syscall"): "async call", ("X", "state"): "state", ("X", "irq"): "irq"}
    return Item(found[kind, category], process, thread, name, begin, length, args)


def from_chrome(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = json.loads(text, parse_float=Decimal)
    plain = json.loads(text)
    processes, threads, items, ends = {}, {}, [], {}
    for event in data["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "e":
            ends[event["id"]] = event
    for event, same in zip(data["traceEvents"], plain["traceEvents"]):
        if event["ph"] in "Me":
            continue
        event["args"] = same["args"]
        number = event["pid"]
        life = number // LIFE_BASE if number > 0 else 0
        process = (number - life * LIFE_BASE, life, processes.get(number))
        event["ts"], event["dur"] = map(Decimal, (event["ts"], event.get("dur", 0)))
        thread = threads.get((number, event["tid"]))
        if event["tid"] >= STATES_BASE and thread:
            thread = re.sub(r": states$", "", thread)
        items.append(chrome_item(event, process, thread, ends))
    return items, int(data["otherData"]["first_event_ns"]), int(data["otherData"]["events"])


def comparable(item):
    """Removes the parts that only one of the formats has."""
    args = item.args
    if item.kind == "async call":   # the page decides how to draw it
        item = item._replace(kind="call")
    if item.kind == "counter":
        if isinstance(args, dict):
            args = args["fields"]["counter"]
        return item._replace(thread=None, args=float(args))
    if item.kind in ("slice", "async", "instant"):
        for part in (args, args.get("begin", {}), args.get("end", {})):
            data = part.get("text", part.get("bytes", ""))
            if len(data) >= PAGE_DATA:
                return item._replace(args="long")
    return item._replace(args=hashable(args))


def compare(page, chrome, differences):
    differences.compare("chrome, beside the page", map(comparable, page), map(comparable, chrome))


# ----------------------------------------------------------------------
# Items and events

def thread_of(event):
    """The identity of a thread as far as a single event shows it."""
    if event.raw_tid:
        return event.pid, event.raw_tid
    return event.pid, f"{event.thread:#x}"


def args_of(event):
    """The arguments of an event in the page, except the data of an event without fields."""
    args = {}
    if event.fields is not None:
        args["fields"] = event.fields
        if event.units:
            args["units"] = event.units
        if event.is_counter:
            args["counter"] = True
    if event.truncated:
        args["truncated"] = True
    if event.address:
        args["address"] = f"{event.address:#x}"
    if event.cpu is not None:
        args["cpu"] = event.cpu
    return args


def plain(value):
    """Converts numbers in any notation to numbers."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(element) for element in value]
    return float(value) if type(value).__name__ == "Literal" else value


def without_data(args):
    return {name: value for name, value in args.items() if name not in ("text", "bytes", "data_len")}


class Events:
    """The events of a log that have not been matched with an item yet."""

    def __init__(self, events, first, differences):
        self.left = collections.defaultdict(list)
        self.first, self.differences = first, differences
        for event in events:
            self.left[event.name, event.time - first].append(event)

    def take(self, item, time, args, *names):
        for name in names:
            for event in self.left.get((name, time), ()):
                if event.pid == item.process[0] and (
                        args is None or
                        hashable(plain(args_of(event))) == hashable(without_data(args))):
                    self.left[name, time].remove(event)
                    return event
        self.differences.add("the page, beside the events", f"{names} at {time} of {item}")
        return None

    def rest(self):
        return [event for events in self.left.values() for event in events]


# Scheduler events are shown as states. An exit without its entry is not part of a duration.
IN_STATES = {"sched_switch_in", "sched_switch_out", "sched_wakeup", "sched_migrate_task"}


def compare_events(events, items, first, differences):
    left = Events(events, first, differences)
    for item in items:
        end = item.begin + item.length
        if item.kind in ("slice", "async"):
            left.take(item, item.begin, item.args["begin"], f"{item.name}_begin",
                      f"{item.name}:begin")
            left.take(item, end, item.args["end"], f"{item.name}_end", f"{item.name}:end")
        elif item.kind in ("instant", "counter"):
            left.take(item, item.begin, item.args, item.name)
        elif item.kind == "irq":
            left.take(item, end, None, "irq")
        elif item.kind == "call":
            left.take(item, item.begin, None, "syscall_entry")
            if "result" in item.args:
                left.take(item, end, None, "syscall_exit")
    for event in left.rest():
        if event.name not in IN_STATES:
            differences.add("the page, beside the events", f"lacks {event}")
