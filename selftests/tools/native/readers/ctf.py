# SPDX-License-Identifier: GPL-2.0
"""CTF traces, as babeltrace2 shows them."""

import collections
import math
import os
import re

from common import output_of

# A number and its label; the number only, if the enumeration has no labels.
Labelled = collections.namedtuple("Labelled", "label number")
Shown = collections.namedtuple("Shown", "time name cpu scopes")

IDLE = 0


class Parser:
    """Reads "{ a = 1, b = { c = "text" } }"."""

    WORD = re.compile(r"[^\s,{}()\[\]=\"]+")

    def __init__(self, text, at=0):
        self.text, self.at = text, at

    def take(self, word):
        if not self.text.startswith(word, self.at):
            raise ValueError(f"{word!r} expected at {self.text[self.at:self.at + 60]!r}")
        self.at += len(word)

    def takes(self, word):
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def string(self):
        self.take('"')
        begin = self.at
        while self.text[self.at] != '"':
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1
        return re.sub(r"\\(.)", r"\1", self.text[begin:self.at - 1])

    def word(self):
        match = self.WORD.match(self.text, self.at)
        if not match:
            raise ValueError(f"no value at {self.text[self.at:self.at + 60]!r}")
        self.at = match.end()
        return match[0]

    def number(self):
        word = self.word()
        try:
            return int(word, 0)
        except ValueError:
            return float(word)

    def enumeration(self):
        label = self.string() if self.text[self.at] == '"' else self.word()
        self.take(" : container = ")
        number = self.number()
        self.take(" )")
        return Labelled(None if label == "<unknown>" else label, number)

    def struct(self):
        found = {}
        if self.takes(" }"):
            return found
        self.take(" ")
        while True:
            name = self.word()
            self.take(" = ")
            found[name] = self.value()
            if not self.takes(", "):
                break
        self.take(" }")
        return found

    def array(self):
        found = []
        if self.takes(" ]"):
            return found
        self.take(" ")
        while True:
            self.take(f"[{len(found)}] = ")
            found.append(self.value())
            if not self.takes(", "):
                break
        self.take(" ]")
        return found

    def value(self):
        if self.text[self.at] == '"':
            return self.string()
        if self.takes("( "):
            return self.enumeration()
        if self.takes("{"):
            return self.struct()
        if self.takes("["):
            return self.array()
        return self.number()

    def scopes(self):
        found = []
        while True:
            self.take("{")
            found.append(self.struct())
            if not self.takes(", "):
                break
        if self.at != len(self.text):
            raise ValueError(f"{self.text[self.at:]!r} follows")
        return found


LINE = re.compile(r"\[(\d+)\.(\d{9})\] \(\+[^)]*\) ")


def read(path):
    """The events of a trace. Names may contain any characters, so scopes are parsed from the end."""
    found = []
    for line in output_of("babeltrace2", "--clock-seconds", path).split("\n")[:-1]:
        match = LINE.match(line)
        rest = line[match.end():]
        for separator in re.finditer(r": (?=\{)", rest):
            try:
                scopes = Parser(rest, separator.end()).scopes()
            except (ValueError, IndexError):
                continue
            break
        else:
            raise ValueError(f"babeltrace2: {line[:500]!r}")
        name = rest[:separator.start()]
        cpu = scopes.pop(0)["cpu_id"] if "cpu_id" in scopes[0] else None
        found.append(Shown(int(match[1] + match[2]), name, cpu, scopes))
    return found


# ----------------------------------------------------------------------
# User events

def same(shown, value):
    """True if a CTF field equals the value in the JSON."""
    if isinstance(value, dict):
        return (isinstance(shown, dict) and list(shown) == list(value) and
                all(same(shown[name], value[name]) for name in value))
    if isinstance(value, list):
        return (isinstance(shown, list) and len(shown) == len(value) and
                all(map(same, shown, value)))
    if isinstance(value, bool):
        return shown == Labelled("true" if value else "false", int(value))
    if isinstance(shown, Labelled):
        # babeltrace2 does not have labels that Trace Compass rejects; some numbers have no label
        return value == shown.label if shown.label is not None else same(shown.number, value)
    if isinstance(shown, float) or type(value).__name__ == "Literal":
        return same_real(float(shown), float(value))
    if isinstance(shown, int):
        return is_number(value) and int(str(value), 0) == shown or not is_number(value) and \
            shown in (-1 << 63, *range(1 << 63, (1 << 63) + 1)) or \
            not is_number(value) and shown >= 1 << 63
    # babeltrace2 2.0.4 shows an earlier text instead of an empty one
    return value == shown or value == ""


def is_number(value):
    return isinstance(value, int) or bool(re.fullmatch(r"-?\d+|0x[0-9a-f]+", str(value)))


def same_real(shown, value):
    """babeltrace2 prints six digits."""
    return math.isnan(shown) and math.isnan(value) or shown == value or \
        math.isclose(shown, value, rel_tol=1e-5)


def payload_differs(event, scopes, name):
    fields = scopes[1] if len(scopes) > 1 else {}
    if event.fields is not None and not event.truncated and not name.endswith(" (bytes)"):
        return not same(fields, event.fields)
    return bytes(fields.get("data", [])) != event.data[:len(fields.get("data", []))] or \
        fields.get("len", len(event.data)) != len(event.data)


def user_differs(event, shown):
    expected = {"pid": event.pid, "tid": event.raw_tid, "comm": event.comm or "",
                "thread": event.thread, "address": event.address, "truncated": int(event.truncated)}
    context = dict(shown.scopes[0])
    if not expected["comm"]:
        context["comm"] = ""    # see same()
    for name, value in expected.items():
        if context.get(name) != value:
            return f"{name} {context.get(name)!r} instead of {value!r}"
    if shown.cpu != event.cpu:
        return f"processor {shown.cpu}"
    return "fields" if payload_differs(event, shown.scopes, shown.name) else None


def compare_user(path, events, differences):
    """Events with the same time may be in any order."""
    left = collections.defaultdict(list)
    for event in events:
        left[event.name, event.time].append(event)
    for shown in read(path):
        name = shown.name
        plain = name.removesuffix(" (bytes)")
        number = re.search(r" \(type (\d+)\)$", plain)
        found = left.get((name, shown.time)) or left.get((plain, shown.time))
        if not found and number:
            # two types share a name
            found = left.get((plain[:number.start()], shown.time))
        if not found:
            differences.add("CTF", f"{name} at {shown.time} is not an event")
            continue
        wrong = [user_differs(event, shown) for event in found]
        best = wrong.index(None) if None in wrong else 0
        if wrong[best]:
            differences.add("CTF", f"{wrong[best]}: {shown}: {found[best]}")
        del found[best]
    for found in left.values():
        for event in found:
            differences.add("CTF", f"lacks {event}")


# ----------------------------------------------------------------------
# Events of the kernel

SAME = {"sched_process_fork", "sched_process_exec", "sched_process_exit", "sched_migrate_task",
        "task_rename", "signal_generate", "signal_deliver"}


def kernel_names(event):
    """LTTng's names for an event, or None if it does not correspond to a single event."""
    fields = event.fields
    if event.name in SAME:
        return [event.name]
    if event.name == "sched_wakeup":
        return ["sched_wakeup_new"] if fields["new"] else ["sched_waking", "sched_wakeup"]
    if event.name == "page_fault":
        return [f"x86_exceptions_page_fault_{'user' if fields['user'] else 'kernel'}"]
    if event.name in ("syscall_entry", "syscall_exit"):
        return [("compat_" if fields["compat"] else "") + event.name + "_"]
    if event.name == "irq":
        return {"irq": ["irq_handler_exit"], "softirq": ["irq_softirq_exit"]}.get(
            fields["kind"], [f"x86_irq_vectors_{fields['name']}_exit"])
    return None


def same_words(words, fields):
    """Arguments are as wide as their types, and texts are addresses."""
    for word, shown in zip(words, fields.values()):
        shown = int(shown, 16) if isinstance(shown, str) else shown
        if isinstance(shown, int) and (shown - int(word, 16)) % (1 << 16):
            return False
    return True


def kernel_differs(event, shown):
    context, payload = shown.scopes[0], shown.scopes[-1]
    fields = event.fields
    if shown.cpu != event.cpu:
        return f"processor {shown.cpu}"
    # Wake-ups and signals have the context of the thread that ran.
    if event.name not in ("sched_wakeup", "signal_generate", "sched_migrate_task", "task_rename") and \
       (context["pid"], context["tid"]) != (event.pid, event.raw_tid):
        return "thread"
    if event.name in ("syscall_entry", "syscall_exit", "page_fault", "irq") and \
       context["procname"] != (event.comm or "") and event.comm:
        return "name of the thread"
    if event.name == "syscall_entry":
        args = payload.get("args", payload)
        args = {f"{i}": word for i, word in enumerate(args)} if isinstance(args, list) else args
        return None if same_words(fields["args"], args) else "arguments"
    if event.name == "syscall_exit":
        result = int(fields["result"])
        error = str(fields.get("error", -result if -4096 < result < 0 else "none"))
        return None if (payload["ret"], payload["error"]) == (
            int(fields["result"]), error) else "result"
    if event.name == "page_fault":
        return None if (payload["address"], payload["ip"]) == (
            int(fields["address"], 16), int(fields["ip"], 16)) else "address"
    for name in ("tid", "child_tid", "target_cpu", "dest_cpu", "filename", "newcomm", "sig"):
        other = payload.get(name, payload.get("child_tid"))
        if name in fields and name in payload and isinstance(other, (int, str)) and \
           isinstance(fields[name], type(other)) and other != fields[name] and fields[name] != "":
            return f"{name} {other!r}"
    return None


def running_of(shown):
    """The times that threads had a processor, from the switches."""
    since, found = {}, []
    for event in shown:
        if event.name != "sched_switch":
            continue
        payload = event.scopes[-1]
        begin = since.pop(event.cpu, None)
        if begin and payload["prev_tid"] != IDLE:
            if begin[0] != payload["prev_tid"]:
                found.append(("another thread", *begin, event))
            else:
                found.append((begin[0], begin[1], event.time, event.cpu))
        if payload["next_tid"] != IDLE:
            since[event.cpu] = (payload["next_tid"], event.time)
    return found


def compare_kernel(path, events, differences):
    shown = read(path)
    left = collections.defaultdict(list)
    for each in shown:
        name = re.sub(r"^((?:compat_)?syscall_(?:entry|exit)_).*", r"\1", each.name)
        left[name, each.time].append(each)
    for event in events:
        for name in kernel_names(event) or ():
            found = left.get((name, event.time), [])
            wrong = [kernel_differs(event, each) for each in found]
            if not found:
                differences.add("CTF, kernel", f"lacks {name}: {event}")
            elif None in wrong:
                del found[wrong.index(None)]
            else:
                differences.add("CTF, kernel", f"{wrong[0]}: {found[0]}: {event}")
    for (name, _), found in left.items():
        for each in found:
            if not name.endswith("_entry") and name not in ("sched_switch", "sched_process_free"):
                differences.add("CTF, kernel", f"has {each}")
    return running_of(shown)


def compare(path, events, differences):
    """Returns the times that threads ran, or None without events of the kernel."""
    if not os.path.exists(os.path.join(path, "user")):
        compare_user(path, events, differences)
        return None
    kernel, others = [], []
    for event in events:
        # LTTng has no event for texts or futexes alone
        is_kernel = 16 <= event.type < 64 and event.fields is not None and \
            event.name not in ("syscall_text", "futex_wait")
        (kernel if is_kernel else others).append(event)
    compare_user(os.path.join(path, "user"), others, differences)
    if not os.path.exists(os.path.join(path, "kernel")):
        return None
    return compare_kernel(os.path.join(path, "kernel"), kernel, differences)
