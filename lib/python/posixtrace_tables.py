# SPDX-License-Identifier: MIT
"""Tables of logs, for data frames.

Batches of columns, as pandas.DataFrame, polars.DataFrame and pyarrow.table take them:

    import pandas
    import posixtrace_tables

    waits = pandas.DataFrame(posixtrace_tables.columns("waits", "hello.log"))

    for batch in posixtrace_tables.batches("events", "hello.log"):
        print(pandas.DataFrame(batch).groupby("name").size())

Needs the command posixtrace, whose "export" writes the tables. Documentation/tables.rst describes
them.
"""

import itertools
import json
import os
import subprocess
import tempfile
import warnings

__all__ = ["TableError", "batches", "columns"]

# Columns of 64-bit integers: in JSON, large ones are strings.
_WIDE = frozenset("""
    address arg0 arg1 arg2 arg3 arg4 arg5 begin_ns boottime_offset_ns count damaged duration_ns
    end_ns error_ns events first_ns from_ns integer last_ns lost nr overwritten pthread
    realtime_offset_ns result self_ns time_ns to_ns
""".split())


class TableError(RuntimeError):
    """The command failed, or the log is damaged. The text is that of the command."""


def _value(name, value):
    if name in _WIDE and value is not None:
        return int(value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def _columns(lines):
    table = {}
    for line in lines:
        for name, value in json.loads(line).items():
            table.setdefault(name, []).append(_value(name, value))
    return table


def batches(name, *logs, rows=65536, options=()):
    """Iterate over a table of a log: dicts of columns, which are lists of at most rows values.

    Several logs are read as one. The options are those of "posixtrace export", as in
    ["--pid=4711", "--from=2s"]. The fields of events are JSON texts. A table without rows has no
    batches.

    Raises TableError: if the log is damaged, after the last batch. Other messages of the command,
    for example about lost events, are warnings.
    """
    if rows < 1:
        raise ValueError("rows: must be at least 1")
    command = ["posixtrace", "export", "--format=jsonl", f"--table={name}", *options, "--",
               *map(os.fspath, logs)]
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages) as process:
            try:
                # If an export fails, it may leave an incomplete last line. Skip that line.
                lines = (line for line in process.stdout if line.endswith(b"\n"))
                while batch := _columns(itertools.islice(lines, rows)):
                    yield batch
            except BaseException:
                process.terminate()
                raise
        messages.seek(0)
        text = messages.read().decode("utf-8", "surrogateescape").strip()
    if process.returncode:
        raise TableError(text or f"posixtrace: exit status {process.returncode}")
    if text:
        warnings.warn(text, stacklevel=2)


def columns(name, *logs, options=()):
    """Return the whole table as one dict of columns; empty if it has no rows. See batches()."""
    table = {}
    for batch in batches(name, *logs, options=options):
        for column, values in batch.items():
            table.setdefault(column, []).extend(values)
    return table
