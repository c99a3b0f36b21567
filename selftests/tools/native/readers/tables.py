# SPDX-License-Identifier: GPL-2.0
"""The tables of "posixtrace stat" with counts of events and of their fields."""

import collections
import json
import re

from common import output_of


def sections(text):
    """The lines below each head, by the first words of the head."""
    found, head = collections.defaultdict(list), None
    for line in text.split("\n"):
        match = re.match(r" *(EVENT|FIELD|PROCESS +THREAD|FROM BEGIN TO END) ", line)
        if match:
            head = match[1].split()[0]
        elif not line:
            head = None
        elif head:
            found[head].append(line)
    return found


def compare_types(lines, events, differences):
    shown = {}
    for line in lines:
        match = re.match(r"(.*?) +(\d+) +(?:[\d.]+ \S*/s|-)", line)
        if not match:
            differences.add("stat", f"no counts in {line}")
            continue
        shown[match[1]] = int(match[2])
    # Types that share a name have separate lines.
    names = collections.Counter(event.name for event in events)
    types = {event.name: set() for event in events}
    for event in events:
        types[event.name].add(event.type)
    for name, count in names.items():
        if len(types[name]) == 1 and shown.get(name) != count:
            differences.add("stat", f"{shown.get(name)} events {name} instead of {count}")
    if shown.keys() - names.keys():
        differences.add("stat", f"events {shown.keys() - names.keys()}")


def compare_threads(lines, events, differences):
    """Counts of user events, by process."""
    shown = collections.Counter()
    for line in lines:
        match = re.match(r" *(-?\d+) +(\S.*?) +(\d+) +(?:[\d.]+ \S*/s|-)", line)
        if match:
            shown[int(match[1])] += int(match[3])
    expected = collections.Counter(event.pid for event in events if event.user)
    differences.compare("stat, user events of processes", +expected, +shown)


def numbers_of(value, name, to):
    """The values of the outermost field. Members of a struct in it have separate names."""
    if isinstance(value, dict):
        for inner, element in value.items():
            numbers_of(element, f"{name}.{inner}", to)
    elif isinstance(value, list):
        for element in value:
            numbers_of(element, name, to)
    else:
        to[name].append(value)


def compare_fields(lines, events, differences):
    """How many values each field has."""
    expected, shown = collections.Counter(), collections.Counter()
    for event in events:
        if event.fields is None:
            continue
        found = collections.defaultdict(list)
        for name, value in event.fields.items():
            numbers_of(value, name, found)
        for name, values in found.items():
            expected[event.name, name] += len(values)
    for line in lines:
        match = re.match(r"(.*?): (\w[\w.]*)(?: = .*?)? +(\d+)(?: |$)", line)
        if match:
            shown[match[1], match[2]] += int(match[3])
    for key, count in shown.items():
        if expected[key] != count:
            differences.add("stat", f"{count} values of {key} instead of {expected[key]}")


def compare_pairs(lines, items, differences):
    """Expects as many pairs as durations in the page; pairs across a gap are not measured."""
    expected, across = collections.Counter(), collections.Counter()
    for item in items:
        if item.kind in ("slice", "async"):
            (across if "lost" in item.args else expected)[item.name] += 1
    shown = collections.Counter()
    for line in lines:
        match = re.match(r"(.*?) +(\d+) +(?:-|[\d.]+ \w+)", line)
        if match:
            shown[match[1]] += int(match[2])
    for name in expected.keys() | shown.keys():
        if not shown[name] <= expected[name] + across[name] or \
           shown[name] < expected[name] and not across[name]:
            differences.add("stat", f"{shown[name]} pairs {name} instead of {expected[name]}")


def compare_totals(log, items, differences):
    """The sums of scopes and system calls must be those of the durations in the page. Pairs across a
    gap are not measured."""
    sums = collections.defaultdict(lambda: [0, 0])
    across = {item.name for item in items if "lost" in item.args}
    for item in items:
        if item.kind in ("slice", "async") or item.kind == "call" and "result" in item.args:
            total = sums["call" if item.kind == "call" else "scope", item.name]
            total[0] += 1
            total[1] += item.length
    for line in output_of("posixtrace", "stat", "--all", "--json", log).splitlines():
        row = json.loads(line)
        key = row["table"], row.get("name")
        if row["table"] not in ("scope", "call") or row["name"] in across or not row["times"]:
            continue
        if [row["times"], int(row["total_ns"])] != sums[key]:
            differences.add("stat, sums", f"{row['times']} {key} in {row['total_ns']} ns instead of "
                            f"{sums[key]}")


def compare(log, events, items, differences):
    text = output_of("posixtrace", "stat", "--all", "--no-histogram", log)
    match = re.search(r"^events +(\d+) user, (\d+) system", text, re.M)
    users = sum(event.user for event in events)
    if not match or (int(match[1]), int(match[2])) != (users, len(events) - users):
        differences.add("stat", f"{match and match[0]} instead of {users} and {len(events) - users}")
    found = sections(text)
    compare_types(found["EVENT"], events, differences)
    compare_fields(found["FIELD"], events, differences)
    compare_threads(found["PROCESS"], events, differences)
    compare_pairs(found["FROM"], items, differences)
    compare_totals(log, items, differences)
