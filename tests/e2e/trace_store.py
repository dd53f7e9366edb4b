"""Reads a trace, of Perfetto or of Chrome, into SQLite, so that tests can ask questions of it.

Tables: `track` (id, name, counter), `slice` (id, track, name, begin_ns, end_ns), `argument` (slice, name, value),
`flow` (id, slice, part), `counter` (track, at_ns, value), `instant` (track, name, at_ns).
Only the protobuf classes of the package `perfetto` are used; its trace processor would be downloaded.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

TABLES = """
create table track (id integer primary key, name text, counter integer);
create table slice (id integer primary key, track integer, name text, begin_ns integer, end_ns integer);
create table argument (slice integer, name text, value);
create table flow (id integer, slice integer, part text);
create table counter (track integer, at_ns integer, value real);
create table instant (track integer, name text, at_ns integer);
"""


class TraceStore:
    """What both readers fill."""

    def __init__(self) -> None:
        self.base = sqlite3.connect(":memory:")
        self.base.executescript(TABLES)
        self.num_slices = 0

    def ask(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        return self.base.execute(question, values).fetchall()

    def one(self, question: str, *values: object) -> Any:
        return self.ask(question, *values)[0][0]

    def add_slice(self, track: int, name: str, begin_ns: int, end_ns: int | None) -> int:
        self.num_slices += 1
        row = (self.num_slices, track, name, begin_ns, end_ns)
        self.base.execute("insert into slice values (?, ?, ?, ?, ?)", row)
        return self.num_slices

    def add_arguments(self, row: int, arguments: dict[str, object]) -> None:
        rows = [(row, name, value) for name, value in arguments.items()]
        self.base.executemany("insert into argument values (?, ?, ?)", rows)


def read_perfetto(path: Path) -> TraceStore:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    store = TraceStore()
    names: dict[str, dict[int, str]] = {"event": {}, "argument": {}}
    open_slices: dict[int, list[int]] = {}
    event_type = proto.TrackEvent

    def value_of(annotation: Any) -> object:
        return getattr(annotation, annotation.WhichOneof("value"))

    for packet in trace.packet:
        for kind, entries in (
            ("event", packet.interned_data.event_names),
            ("argument", packet.interned_data.debug_annotation_names),
        ):
            names[kind].update({entry.iid: entry.name for entry in entries})
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            row = (track.uuid, track.name or track.process.process_name, track.HasField("counter"))
            store.base.execute("insert into track values (?, ?, ?)", row)
        if not packet.HasField("track_event"):
            continue
        event, at_ns = packet.track_event, packet.timestamp
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == event_type.TYPE_COUNTER:
            store.base.execute(
                "insert into counter values (?, ?, ?)", (event.track_uuid, at_ns, event.double_counter_value)
            )
        elif event.type == event_type.TYPE_INSTANT:
            row = (event.track_uuid, names["event"][event.name_iid], at_ns)
            store.base.execute("insert into instant values (?, ?, ?)", row)
        elif event.type == event_type.TYPE_SLICE_END:
            store.base.execute("update slice set end_ns = ? where id = ?", (at_ns, stack.pop()))
        else:
            name = names["event"][event.name_iid]
            number = store.add_slice(event.track_uuid, name, at_ns, None)
            stack.append(number)
            store.add_arguments(
                number, {names["argument"][each.name_iid]: value_of(each) for each in event.debug_annotations}
            )
            for part, ids in (("through", event.flow_ids), ("end", event.terminating_flow_ids)):
                store.base.executemany("insert into flow values (?, ?, ?)", [(flow, number, part) for flow in ids])
    if any(open_slices.values()):
        raise ValueError(f"slices without an end: {open_slices}")
    return store


def nanoseconds(microseconds: object) -> int:
    """Of the text of a number: a float has too few digits for nanoseconds since the machine started."""
    whole, _, rest = str(microseconds).partition(".")
    return int(whole) * 1000 + int(rest.ljust(3, "0") or 0)


def read_chrome(path: Path) -> TraceStore:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    store = TraceStore()
    counters: dict[str, int] = {}
    for event in json.loads(text, parse_float=str)["traceEvents"]:
        phase, name, track = event["ph"], event["name"], event.get("tid", 0)
        if phase == "M" and name == "thread_name":
            store.base.execute("insert into track values (?, ?, 0)", (track, event["args"]["name"]))
        elif phase == "X":
            begin_ns = nanoseconds(event["ts"])
            number = store.add_slice(track, name, begin_ns, begin_ns + nanoseconds(event["dur"]))
            store.add_arguments(number, event["args"])
        elif phase in "stf":  # right behind its slice
            part = "end" if phase == "f" else "through"
            store.base.execute("insert into flow values (?, ?, ?)", (event["id"], store.num_slices, part))
        elif phase == "i":
            store.base.execute("insert into instant values (?, ?, ?)", (track, name, nanoseconds(event["ts"])))
        elif phase == "C":
            if name not in counters:
                counters[name] = 1000 + len(counters)
                store.base.execute("insert into track values (?, ?, 1)", (counters[name], name))
            row = (counters[name], nanoseconds(event["ts"]), float(event["args"]["value"]))
            store.base.execute("insert into counter values (?, ?, ?)", row)
    return store


def read_trace(path: Path) -> TraceStore:
    return read_chrome(path) if path.name.endswith((".json", ".json.gz")) else read_perfetto(path)
