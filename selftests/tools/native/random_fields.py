# SPDX-License-Identifier: GPL-2.0
"""Writes the script of a log with random descriptions and data, and compares the output of readers.

usage: random_fields.py write SEED >SCRIPT
       random_fields.py compare LOG JSON    JSON: the output of "posixtrace dump --json" for LOG
"""

import json
import os
import random
import sys

TYPES = 40
EVENTS = 25     # of each type

INTEGERS = [f"{sign}{bits}" for sign in "uix" for bits in (8, 16, 32, 64)]


class Generator:
    """Makes a description and matching data."""

    def __init__(self, rng):
        self.rng = rng
        self.number = 0

    def name(self):
        self.number += 1
        return f"f{self.number}"

    def members(self, depth, last):
        """Texts of members, and functions that make their data; last: the last member may be a text."""
        rng = self.rng
        made, lengths = [], []
        for _ in range(rng.randint(0 if depth else 1, 4)):
            name = self.name()
            kind = rng.random()
            if kind < 0.15:
                made.append((f"u8 {name};", lambda: bytes([rng.choice((0, 1, 2, 3, 200))])))
                lengths.append(name)
            elif kind < 0.45:
                type_of = rng.choice(INTEGERS + ["f32", "f64", "bool"])
                size = 1 if type_of == "bool" else int(type_of[1:]) // 8
                made.append((f"{type_of} {name};", lambda size=size: self.bytes_of(size)))
            elif kind < 0.55:
                made.append((f"enum: {rng.choice(('u8', 'i8'))} {{ a = 1, b, c = 100 }} {name};",
                             lambda: bytes([rng.choice((1, 2, 100, 200))])))
            elif kind < 0.65:
                size = rng.randint(1, 6)
                made.append((f"char {name}[{size}];", lambda size=size: self.text().ljust(size, b"\0")[:size]))
            elif kind < 0.7 and lengths:
                made.append((f"char {name}[{rng.choice(lengths)}];", lambda: self.text()[:2].ljust(2)))
            elif kind < 0.78:
                made.append((f"string {name};", lambda: self.text() + b"\0"))
            elif kind < 0.9:
                count = rng.choice(lengths) if lengths and rng.random() < 0.5 else rng.randint(1, 3)
                made.append((f"{rng.choice(INTEGERS)} {name}[{count}];",
                             lambda: self.bytes_of(rng.randint(0, 16))))
            elif depth < 3:
                inner = self.members(depth + 1, False)
                array = f"[{rng.randint(1, 2)}]" if rng.random() < 0.5 else ""
                made.append(("{ " + " ".join(text for text, _ in inner) + f" }} {name}{array};",
                             lambda inner=inner: b"".join(data() for _, data in inner)))
        if last and rng.random() < 0.3:
            made.append((f"text {self.name()};", self.text))
        return made

    def bytes_of(self, size):
        if self.rng.random() < 0.3:
            return bytes(size)
        # Avoid lead bytes of UTF-8 characters with three or more bytes.
        return bytes(byte & 0xdf for byte in self.rng.randbytes(size))

    def text(self):
        return bytes(self.rng.choice(b"ab\\\"\n\x1b\xff\x00<") for _ in range(self.rng.randint(0, 5)))


def write(seed):
    rng = random.Random(int(seed))
    types = []
    for number in range(65, 65 + TYPES):
        members = Generator(rng).members(0, True)
        print(f"name {number} type{number}")
        print(f"describe {number} {{ {' '.join(text for text, _ in members)} }}")
        types.append((number, members))
    print("since 1700000000000000000\nblock 0")
    for i in range(TYPES * EVENTS):
        number, members = rng.choice(types)
        data = b"".join(make() for _, make in members)
        if rng.random() < 0.3:
            data = data[:rng.randint(0, len(data))]
        cut = " cut" if rng.random() < 0.3 else ""
        print(f"event {number} {i + 1} hex={data.hex()}{cut}")
    print("end")


def compare(log, lines):
    import posixtrace
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "readers"))
    from events import same
    count = with_fields = 0
    with posixtrace.Log(log) as events, open(lines, encoding="utf-8") as file:
        for event, line in zip(events, file, strict=True):
            other = json.loads(line)
            fields = other.get("fields")
            assert event.name == other["event"], (event, line)
            assert (event.fields is None) == (fields is None), (event, line)
            assert fields is None or same(event.fields, fields), (event, line)
            count += 1
            with_fields += fields is not None
    print(count, "events,", with_fields, "with fields")
    assert count == TYPES * EVENTS and with_fields > count // 4


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
