# SPDX-License-Identifier: GPL-2.0
"""Shared by the readers of a log: running commands, escaped texts, and differences."""

import collections
import os
import subprocess
import tempfile

SYSTEM_EVENTS = 16      # smaller numbers: the standard's, which have no fields
FIRST_USER = 64


class Differences:
    """Collects the differences between two readers, and prints the first of each kind."""

    SHOWN = 3

    def __init__(self, log):
        self.log = log
        self.counts = collections.Counter()

    def add(self, what, text):
        self.counts[what] += 1
        if self.counts[what] <= self.SHOWN:
            print(f"{self.log}: {what}: {text}"[:2000])

    def compare(self, what, expected, shown):
        """Compares two multisets of hashable objects."""
        expected, shown = collections.Counter(expected), collections.Counter(shown)
        for item in expected - shown:
            self.add(what, f"lacks {item}")
        for item in shown - expected:
            self.add(what, f"has {item}")

    def end(self):
        for what, count in self.counts.items():
            print(f"{self.log}: {what}: {count} differences")
        return not self.counts


def output_of(*command, stdin=None):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          input=stdin).stdout.decode("utf-8", "surrogateescape")


class Exports:
    """A log exported into a temporary directory."""

    def __init__(self, log):
        self.log = log
        self.directory = tempfile.TemporaryDirectory()

    def __enter__(self):
        self.directory.__enter__()
        return self

    def __exit__(self, *unused):
        self.directory.__exit__(*unused)

    def path(self, form):
        path = os.path.join(self.directory.name, form)
        if not os.path.exists(path):
            options = ["--max-events=100000000"] if form == "html" else []
            # About half of the logs.
            if form == "perfetto" and os.path.getsize(self.log) // 8 % 2:
                options.append("--compress")
            output_of("posixtrace", "export", f"--format={form}", f"--output={path}", *options,
                      self.log)
        return path


def is_deceptive(character):
    """Characters that reorder, hide or end text."""
    number = ord(character)
    return (0x80 <= number < 0xa0 or number in (0xad, 0x61c, 0xfeff) or
            0x200b <= number <= 0x200f or 0x2028 <= number <= 0x202e or
            0x2060 <= number <= 0x206f or 0xfff0 <= number <= 0xfffb or
            0xfdd0 <= number <= 0xfdef or number & 0xfffe == 0xfffe or
            0xd800 <= number <= 0xdfff or 0xe0000 <= number <= 0xe0fff)


def escaped(text):
    """A Python string as the command shows it."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    result = []
    for character in text:
        if character == "\\":
            result.append("\\\\")
        elif character in "\n\t":
            result.append({"\n": "\\n", "\t": "\\t"}[character])
        elif character < " " or character == "\x7f" or is_deceptive(character):
            result += [f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape")]
        else:
            result.append(character)
    return "".join(result)


def hashable(value):
    """Converts dicts and lists to tuples; equal numbers become equal objects."""
    if isinstance(value, dict):
        return tuple((name, hashable(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(map(hashable, value))
    return value
