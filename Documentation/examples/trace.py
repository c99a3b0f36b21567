# SPDX-License-Identifier: MIT
"""Records typed events in this process, and reads them with their fields."""

import posixtrace

point = posixtrace.EventType("cache:get", "{ u32 id; enum: u8 { miss = 0, hit = 1 } result; text key; }")

with posixtrace.Stream() as stream:
    point.record(id=7, result="hit", key="user:42")
    point.record(id=8, result="miss", key="user:43")
    stream.stop()
    for event in stream:
        print(event.name, event.fields)
