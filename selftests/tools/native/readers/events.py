# SPDX-License-Identifier: GPL-2.0
"""The events of a log, one by one: from "dump --json", the reference for all others, from "dump", the
Python module, and <posixtrace/posixtrace.hpp> through show_events.cpp."""

import json
import math
import re
import struct

from common import SYSTEM_EVENTS, escaped, output_of

# The module keeps this many of a thread's last names until they are written to the log
# (PXT_LOGTASK_NAMES - 1).
NAMES_KEPT = 3


class Literal(str):
    """A floating point number, as it was written."""


class Event:
    """An event as "dump --json" shows it."""

    def __init__(self, line, first):
        self.line = line
        seconds, fraction = line["time"].split(".")
        self.time = int(seconds) * 1000000000 + int(fraction)
        self.ns = int(line["ns"])
        self.name, self.type, self.user = line["event"], line["type"], line["user"]
        self.pid, self.cpu, self.lost = line["pid"], line["cpu"], int(line["lost"])
        self.tid, self.comm = line.get("tid"), line.get("comm")
        self.thread, self.address = int(line["thread"], 16), int(line["address"], 16)
        self.truncated, self.late = line["truncated"], line.get("late", False)
        self.data, self.text = bytes.fromhex(line["data"]), line.get("text")
        self.fields, self.units = line.get("fields"), line.get("units", {})
        self.is_counter = line.get("counter", False)
        self.first = self.time if first is None else first
        self.raw_tid = None     # the thread id from Python, even if the thread has no name
        self.renamed = None     # the name before the last task_rename of the thread

    def __repr__(self):
        return json.dumps(self.line)


def read(log):
    events, first, renamed = [], None, {}
    for line in output_of("posixtrace", "dump", "--json", log).split("\n")[:-1]:
        event = Event(json.loads(line, parse_float=Literal), first)
        first = event.first
        event.renamed = renamed.get((event.pid, event.tid))
        if event.name == "task_rename" and event.fields:
            renamed[event.pid, event.tid] = event.fields["oldcomm"]
        events.append(event)
    return events


# ----------------------------------------------------------------------
# "dump"

def quoted(text):
    return '"' + text.replace('"', '\\"') + '"'


class Mismatch(Exception):
    pass


def take(text, *choices):
    """Removes the first choice that the text starts with."""
    for choice in choices:
        if text.startswith(choice):
            return text[len(choice):]
    raise Mismatch(f"{choices[0]!r} expected at {text[:80]!r}")


def take_value(text, value, units, path):
    if isinstance(value, dict):
        return take(take_fields(take(text, "{"), value, units, f"{path}."), "}")
    if isinstance(value, list):
        text = take(text, "[")
        for index, element in enumerate(value):
            text = take(text, ",") if index else text
            text = take_value(text, element, units, path)
        return take(text, "]")
    if isinstance(value, bool):
        text = take(text, "true" if value else "false")
    elif isinstance(value, str) and not isinstance(value, Literal):
        # a text, or a label or number that JSON cannot represent
        text = take(text, quoted(value), value)
    else:
        text = take(text, str(value))
    return take(text, " " + units[path]) if path in units else text


def take_fields(text, fields, units, before=""):
    for index, (name, value) in enumerate(fields.items()):
        text = take(text, f" {name}=" if index else f"{name}=")
        text = take_value(text, value, units, before + name)
    return text


def data_of(event, newly_lost):
    """The last column of an event without fields."""
    if SYSTEM_EVENTS <= event.type:
        if event.text is not None:
            return quoted(event.text)
        return " ".join(event.data[at:at + 4].hex() for at in range(0, len(event.data), 4))
    if event.name == "posix_trace_error":
        return "(the log is damaged here)"
    if event.name == "posix_trace_resume":
        return f"({newly_lost} event{'s' if newly_lost != 1 else ''} lost)"
    if event.name == "posix_trace_stop" and len(event.data) == 4 and any(event.data):
        return "(automatic: full)"
    return ""


def check_line(event, line, newly_lost):
    head = re.match(r"([\d.]+) +(\d+|-) +(-?\d+)  ", line)
    if not head:
        raise Mismatch("no columns")
    seconds, cpu, pid = head.groups()
    if seconds != event.line["time"] or int(pid) != event.pid or \
       cpu != ("-" if event.cpu is None else str(event.cpu)):
        raise Mismatch("other time, processor or process")
    rest = line[head.end():].lstrip(" ") if event.comm is None else line[head.end():]
    thread = f"{event.comm}-{event.tid}" if event.comm is not None else \
        f"{event.thread:#x}" if event.thread else "0"
    rest = take(rest, thread).lstrip(" ")
    rest = take(rest, event.name).lstrip(" ")
    if event.fields is not None:
        # an empty array or struct ends without a blank; without fields, the rest is empty
        rest = take_fields(rest, event.fields, event.units)
    else:
        rest = take(rest, data_of(event, newly_lost))
    # without data, there is no blank before it
    rest = take(rest, " (truncated)", "(truncated)") if event.truncated else rest
    rest = take(rest, " (late)", "(late)") if event.late else rest
    if rest.strip(" "):
        raise Mismatch(f"{rest[:80]!r} follows")


def compare_text(log, events, differences):
    lines = output_of("posixtrace", "dump", "--full", "--clock=seconds", log).split("\n")[:-1]
    if len(lines) != len(events):
        differences.add("dump", f"{len(lines)} events instead of {len(events)}")
    lost = 0
    for event, line in zip(events, lines):
        try:
            check_line(event, line, event.lost - lost)
        except Mismatch as mismatch:
            differences.add("dump", f"{mismatch}: {line}: {event}")
        lost = event.lost


# ----------------------------------------------------------------------
# Python

def same(value, other):
    """True if a Python value equals the value in the JSON."""
    if isinstance(value, dict):
        return (isinstance(other, dict) and list(value) == list(other) and
                all(same(value[name], other[name]) for name in value))
    if isinstance(value, list):
        return isinstance(other, list) and len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, bool):
        return value is other
    if isinstance(value, str):
        return escaped(value) == other
    if isinstance(value, float):
        number = float(other)
        if math.isnan(value) or math.isinf(value):
            return isinstance(other, str) and (value == number or math.isnan(number))
        return value == number or struct.pack("f", value) == struct.pack("f", number)
    # Hexadecimal and large numbers are texts.
    return value == (int(other, 0) if isinstance(other, str) else other)


class PythonEvent:
    """An event as the Python module shows it, valid after its log was closed."""

    def __init__(self, event):
        for name in ("type", "name", "user", "time", "pid", "tid", "thread", "address", "cpu", "data",
                     "truncated", "late", "lost", "fields", "process_name", "program"):
            setattr(self, name, getattr(event, name))
        self.comm = event.thread_name

    def __repr__(self):
        return repr(self.__dict__)


def python_differs(event, other):
    """The name of the first attribute that differs, or None."""
    shown = {
        "type": other.type, "name": escaped(other.name), "user": other.user, "time": other.time,
        "pid": other.pid, "thread": other.thread, "address": other.address, "cpu": other.cpu,
        "truncated": other.truncated, "late": other.late, "lost": other.lost,
        "data": other.data,
        "comm": None if other.comm is None else escaped(other.comm),
    }
    for name, value in shown.items():
        if value != getattr(event, name):
            return name
    if event.tid is not None and other.tid != event.tid:
        return "tid"
    if (other.fields is None) != (event.fields is None) or \
       other.fields is not None and not same(other.fields, event.fields):
        return "fields"
    return None


def compare_units(event, units, differences):
    if {name: escaped(unit) for name, unit in units.items()} != event.units:
        differences.add("Python", f"units {units}: {event}")


def renamings(events):
    """The times at which each thread was renamed, by (pid, tid)."""
    times = {}
    for event in events:
        if event.name == "task_rename" and event.fields:
            times.setdefault((event.pid, event.tid), []).append(event.time)
    return times


def is_other_name(event, other, late_names, renamed):
    """True if the library may know another name: at a rename, the new name; no name if the thread was
    renamed several times before the module could write them; in a log of a kernel module that wrote
    the name of a program only after its exec, the previous name."""
    name = None if other.comm is None else escaped(other.comm)
    if name is None:
        later = [time for time in renamed.get((event.pid, event.tid), []) if time >= event.time]
        return len(later) >= NAMES_KEPT
    return (event.name == "task_rename" and event.fields and name == event.fields["newcomm"] or
            late_names and name == event.renamed)


def compare_python(log, events, late_names, differences):
    """Returns the events of the Python module."""
    import posixtrace
    others, renamed = [], renamings(events)
    with posixtrace.Log(log) as opened:
        iterator = iter(opened)
        for event, made in zip(events, iterator):
            other = PythonEvent(made)
            others.append(other)
            wrong = python_differs(event, other)
            event.raw_tid = other.tid
            if wrong == "comm" and is_other_name(event, other, late_names, renamed):
                wrong = None
            if wrong:
                differences.add("Python", f"{wrong} {getattr(other, wrong)!r}: {event}")
            if event.fields:
                compare_units(event, opened.fields(event.type).units, differences)
        rest = sum(1 for _ in iterator)
    if len(others) != len(events) or rest:
        differences.add("Python", f"{len(others)} and {rest} events instead of {len(events)}")
    return others


# ----------------------------------------------------------------------
# C++

def hex_of(text):
    return (text or "").encode("utf-8", "surrogateescape").hex()


def flat(value, name=""):
    """The values within structs and arrays, with their names in C++."""
    if isinstance(value, dict):
        return [each for inner, element in value.items()
                for each in flat(element, f"{name}.{inner}" if name else inner)]
    if isinstance(value, list):
        return [each for index, element in enumerate(value) for each in flat(element, f"{name}[{index}]")]
    return [(name, value)]


def same_value(kind, number, value):
    if isinstance(value, bool):
        return kind == "bool" and bool(number) == value
    if isinstance(value, float):
        return kind == "float" and struct.pack("Q", number) == struct.pack("d", value)
    if isinstance(value, str):
        return kind in ("text", "label") and number == hex_of(value)
    return kind == "int" and number == value


def same_fields(fields, other):
    expected = flat(other.fields or {})
    return len(fields) == len(expected) and all(
        name == hex_of(wanted) and same_value(kind, number, value)
        for (name, (kind, number), _), (wanted, value) in zip(fields, expected))


def compare_cxx(log, others, differences):
    """Compares with the events of the Python module."""
    lines = output_of("show_events", log).split("\n")[:-1]
    if len(lines) != len(others):
        differences.add("C++", f"{len(lines)} events instead of {len(others)}")
    for other, line in zip(others, lines):
        *shown, fields = json.loads(line)
        expected = [
            hex_of(other.name), other.type, int(other.user), other.time, other.pid, other.tid,
            other.thread, other.address, -1 if other.cpu is None else other.cpu, other.lost,
            int(other.late), int(other.truncated), other.data.hex(), hex_of(other.comm),
            hex_of(other.process_name), [hex_of(word) for word in other.program or []],
        ]
        if shown != expected:
            differences.add("C++", f"{shown} instead of {expected}")
        elif not same_fields(fields, other):
            differences.add("C++", f"fields {fields}: {other!r}")
