#!/usr/bin/env python3
"""Where single pauses of a cached feed come from: its records, beside loops that do nothing.

    python3 -m bench.diagnose.pauses --stoker build/stoker --data FOLDER [--device cuda] [--frames 40000 160000]

A consumer asks for nine tenths of what the feed can bring; each interval that is longer than usual by --least-ms is
looked up in the records of the batches: was the consumer's thread kept from reading the clock, which is all it does;
was the worker that filled the late batch off its core (its processor time is far below the time that passed); or did it
work for so long? Just before and after, one loop on every core does nothing but read the clock, then nothing but copy
memory from one place to another, and each writes down how long its turns were held up. A core that stops there stops
the feed as well, for batches come in order. And a cached feed copies memory: of the loops that do nothing else the
bytes of each millisecond are added up, and a consumer that asks for nine tenths of their mean, with the same buffer,
would wait as long as is printed. What the feed shows beyond all that is its own. Kept as JSON; the exit status is 1
where pauses in which a worker worked take more of the feed's time than that.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import multiprocessing
import os
import shlex
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.program import RunFailed, ended, last_words
from bench.record import Bars, Json, finish

POLL_S = 0.1  # seldom, and read only afterwards: who watches needs a core, too
NUM_FILL_STAGES = 8
COPY_BYTES, COPY_MEMORY_BYTES = 256 * 1024, 64 * 1024 * 1024
STRETCH, LEAST_PACE, MOST_PACE = 128, 0.9, 1.5
LEAST_OWN_SHARE = 0.005  # of the time: less is not looked at


@dataclass(frozen=True)
class Record:
    number: int
    worker: int
    core: int
    num_ready: int
    fill_begin_ns: int
    fill_end_ns: int
    worker_cpu_ns: int
    faults: int
    asked_ns: int
    handed_ns: int


@dataclass(frozen=True)
class Pause:
    ms: float
    who: str  # consumer stopped, worker stopped or worker busy
    core: int
    stopped_ms: float  # of the fill, that its worker was not on a core
    waited_ms: float
    faults: int


def record_of(raw: bytes) -> Record:
    number, _, _ = struct.unpack_from("<3Q", raw)
    worker, core, num_ready = struct.unpack_from("<2iI", raw, 44)
    spans = [struct.unpack_from("<3q", raw, 64 + 24 * stage) for stage in range(NUM_FILL_STAGES)]
    spans = [span for span in spans if span[0] > 0]
    (cpu_ns,) = struct.unpack_from("<q", raw, 352)
    minor, major = struct.unpack_from("<2I", raw, 376)
    asked_ns, handed_ns = struct.unpack_from("<2q", raw, 384)
    begin_ns = min((span[0] for span in spans), default=0)
    end_ns = max((span[1] for span in spans), default=0)
    return Record(number, worker, core, num_ready, begin_ns, end_ns, cpu_ns, minor + major, asked_ns, handed_ns)


class RingFollower:
    """Keeps the ring of another process as docs/format/records.md says; what is overwritten before is lost."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDONLY)
        head = os.pread(self.fd, 4096, 0)
        magic, version, self.first, _, self.stride, self.places, self.kept = struct.unpack_from("<8s6I", head)
        if magic != b"STKRECS\n" or version != 2:
            raise RunFailed(f"{path} is no ring of records of version 2")
        self.next = 0
        self.taken: list[tuple[int, bytes]] = []  # the number of the first record, and places one after the other

    def take(self) -> None:
        (written,) = struct.unpack("<Q", os.pread(self.fd, 8, 64))
        number = max(self.next, written - self.kept, 0)
        while number < written:
            place = number % self.places
            count = min(written - number, self.places - place)
            self.taken.append((number, os.pread(self.fd, self.stride * count, self.first + self.stride * place)))
            number += count
        self.next = written

    def records(self) -> Iterator[Record]:
        for first, places in self.taken:
            for i in range(len(places) // self.stride):
                (mark,) = struct.unpack_from("<Q", places, i * self.stride)
                if mark == 2 * (first + i) + 2:
                    yield record_of(places[i * self.stride + 8 : i * self.stride + 608])


def held_up_times(core: int, seconds: float, least_ns: int, copies: bool, out: Any) -> None:
    """A loop that does nothing, or nothing but copy: how long each of its turns was held up."""
    os.sched_setaffinity(0, {core})
    clock = time.monotonic_ns
    memory = ctypes.create_string_buffer(2 * COPY_MEMORY_BYTES if copies else 1)
    begin = ctypes.addressof(memory)
    if copies:
        ctypes.memset(begin, 1, 2 * COPY_MEMORY_BYTES)
    pauses: list[int] = []
    copied = [0] * (int(1e3 * seconds) + 2)  # blocks, by the millisecond
    at = 0
    begin_ns = last = clock()
    end = last + int(seconds * 1e9)
    while last < end:
        if copies:
            ctypes.memmove(begin + COPY_MEMORY_BYTES + at, begin + at, COPY_BYTES)
            at = (at + COPY_BYTES) % COPY_MEMORY_BYTES
        now = clock()
        if now - last > least_ns:
            pauses.append(now - last)
        copied[(now - begin_ns) // 1_000_000] += 1
        last = now
    out.put((core, pauses, begin_ns, copied[:-2]))


def wait_of_even_demand(supply: list[int], share: float, buffer_ms: float) -> float:
    """Of the time: a consumer that takes so much of the mean in each millisecond waits where nothing is left."""
    mean = sum(supply) / max(1, len(supply))
    left = room = buffer_ms * mean
    missing = 0.0
    for each in supply:
        left = min(room + share * mean, left + each) - share * mean
        missing -= min(0.0, left)
        left = max(0.0, left)
    return missing / (share * mean * max(1, len(supply))) if mean else 0.0


def loops_on_all_cores(seconds: float, least_ms: float, copies: bool) -> Json:
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    cores = sorted(os.sched_getaffinity(0))
    least_ns = int(1e6 * least_ms)
    loops = [context.Process(target=held_up_times, args=(core, seconds, least_ns, copies, out)) for core in cores]
    for loop in loops:
        loop.start()
    told = [out.get() for _ in loops]
    for loop in loops:
        loop.join()
    every = sorted((ns / 1e6 for _, each, _, _ in told for ns in each), reverse=True)
    first = max(begin_ns for _, _, begin_ns, _ in told)
    # Where all of them ran: by the millisecond, whose begin differs by less than one from core to core.
    parts = [copied[(first - begin_ns) // 1_000_000 :] for _, _, begin_ns, copied in told]
    together = [sum(each) for each in zip(*parts, strict=False)]
    return {
        "what": "copies" if copies else "nothing",
        "seconds": seconds,
        "cores": len(cores),
        "pauses": len(every),
        "longest_ms": every[:10],
        "cores_that_paused": sum(bool(each) for _, each, _, _ in told),
        "blocks_by_ms": together if copies else [],
        "paused_share_of_a_core": sum(every) / (1e3 * seconds * len(cores)),
        "paused_share_of_all": sum(every) / (1e3 * seconds),  # as a feed in order sees it: any core stops it
    }


def ring_of(pid: int, limit_s: float) -> Path:
    folders = [Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere")) / "stoker", Path(f"/tmp/stoker-{os.getuid()}")]
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        for folder in folders:
            rings = sorted(folder.glob(f"{pid}*.ring"))
            if rings:
                return rings[-1]
        time.sleep(0.01)
    raise RunFailed(f"process {pid} has no ring of records")


def follow(command: list[str]) -> tuple[Json, list[Record]]:
    """What the benchmark printed, and the records of the last feed that it opened: the one with a demand."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        follower: RingFollower | None = None
        path: Path | None = None
        while program.poll() is None:
            try:
                now = ring_of(program.pid, 0.01)
                if follower is None or now != path or os.fstat(follower.fd).st_nlink == 0:
                    path, follower = now, RingFollower(now)
                follower.take()
            except (RunFailed, OSError):
                pass  # between two feeds
            time.sleep(POLL_S)
        said, error = program.stdout.read() if program.stdout else "", program.stderr.read() if program.stderr else ""
    if program.returncode != 0:
        raise RunFailed(f"{shlex.join(command)} ended with {program.returncode}: {last_words(error)}")
    return json.loads(said), list(follower.records()) if follower else []


def off_core_times(records: list[Record]) -> dict[int, int]:
    """Of each batch, how long its worker was off its core. A look at the worker's processor time counts for all
    batches since the look before: the longest of them is the one that was held up."""
    found: dict[int, int] = {}
    unread: dict[int, list[Record]] = {}
    for record in records:
        mine = unread.setdefault(record.worker, [])
        mine.append(record)
        if record.worker_cpu_ns < 0:
            continue
        walls = {each.number: each.fill_end_ns - each.fill_begin_ns for each in mine}
        held_up = max(walls, key=lambda number: walls[number])
        found[held_up] = max(0, sum(walls.values()) - record.worker_cpu_ns)
        mine.clear()
    return found


def earlier_of_worker(records: list[Record]) -> dict[int, Record]:
    """For each batch, the one that its worker filled before it."""
    last: dict[int, Record] = {}
    found: dict[int, Record] = {}
    for record in records:
        if record.worker in last:
            found[record.number] = last[record.worker]
        last[record.worker] = record
    return found


def paced_pairs(records: list[Record], step_ms: float) -> list[tuple[Record, Record]]:
    """Neighbours in those stretches in which the consumer's steps set the pace: not where the supply is measured."""
    pairs = [(a, b) for a, b in itertools.pairwise(records) if b.number == a.number + 1]
    found = []
    for at in range(0, len(pairs) - STRETCH + 1, STRETCH):
        stretch = pairs[at : at + STRETCH]
        usual_ms = statistics.median(b.handed_ns - a.handed_ns for a, b in stretch) / 1e6
        if LEAST_PACE * step_ms <= usual_ms <= MOST_PACE * step_ms:
            found += stretch
    return found


def pauses_of(records: list[Record], step_ms: float, least_ms: float) -> tuple[list[Pause], float, float]:
    """The pauses, the usual interval in ms, and the seconds that were looked at."""
    pairs = paced_pairs(records, step_ms)
    intervals = sorted(b.handed_ns - a.handed_ns for a, b in pairs)
    if not intervals:
        return [], 0.0, 0.0
    usual_ns = intervals[len(intervals) // 2]
    off_ns = off_core_times(records)
    before_of = earlier_of_worker(records)
    pauses = []
    for before, late in pairs:
        over_ns = late.handed_ns - before.handed_ns - usual_ns
        if over_ns < 1e6 * least_ms:
            continue
        waited_ns = late.handed_ns - late.asked_ns
        culprit = late
        if late.fill_begin_ns > late.asked_ns + waited_ns / 2:
            culprit = before_of.get(late.number, late)  # not even begun: its worker was held up before
        stopped_ns = off_ns.get(culprit.number, 0)
        if waited_ns < over_ns / 2:
            who = "consumer stopped"
        else:
            who = "worker stopped" if stopped_ns > over_ns / 2 else "worker busy"
        pauses.append(Pause(over_ns / 1e6, who, culprit.core, stopped_ns / 1e6, waited_ns / 1e6, culprit.faults))
    return pauses, usual_ns / 1e6, sum(intervals) / 1e9


def look(asked: argparse.Namespace, frames: int) -> Json:
    loops = [loops_on_all_cores(asked.seconds / 2, asked.least_ms, copies) for copies in (False, True)]
    words = ["bench", "feed", "--data", str(asked.data), "--device", asked.device, "--path", "cached"]
    words += ["--demand", asked.demand, "--batch-frames", str(frames), "--seconds", str(asked.seconds)]
    words += ["--repeat", "1", "--json", *asked.more]
    if asked.device == "cuda":
        words += ["--consumer", "gemm"]
    said, records = follow([str(asked.stoker), *words])
    loops += [loops_on_all_cores(asked.seconds / 2, asked.least_ms, copies) for copies in (True, False)]
    row = said["rows"][0]
    pauses, usual_ms, seconds = pauses_of(records, row["step_ms"], asked.least_ms)
    demand = float(asked.demand.rstrip("%")) / 100
    buffer_ms = (row["settings_at_end"]["depth"] or 1) * row["step_ms"]
    for loop in loops:
        supply = loop.pop("blocks_by_ms")
        loop["wait_of_even_demand"] = wait_of_even_demand(supply, demand, buffer_ms) if supply else None
        loop["spread_by_ms"] = statistics.stdev(supply) / statistics.fmean(supply) if len(supply) > 1 else None
    keys = ("clips_per_s", "step_ms", "stall_share", "interval_cv", "p99_over_p50", "num_workers", "settings_at_end")
    memory = row.get("from_memory") or {}
    by_who: dict[str, Json] = {}
    for each in pauses:
        mine = by_who.setdefault(each.who, {"count": 0, "ms": 0.0, "longest_ms": 0.0})
        mine["count"] += 1
        mine["ms"] += each.ms
        mine["longest_ms"] = max(mine["longest_ms"], each.ms)
    return {
        "command": shlex.join(["stoker", *words]),
        "frames": frames,
        "usual_ms": usual_ms,
        "records": len(records),
        "records_lost": records[-1].number + 1 - len(records) if records else 0,
        "seconds": seconds,
        "row": {key: row.get(key) for key in keys},
        "from_memory": {key: memory.get(key) for key in ("interval_cv", "p99_over_p50", "stall_share")},
        "pauses": by_who,
        "longest": [asdict(each) for each in sorted(pauses, key=lambda each: -each.ms)[:12]],
        "loops": loops,
    }


def print_row(row: Json) -> None:
    bench = row["row"]
    print(
        f"{row['frames']:,} frames, steps of {bench['step_ms']:.3f} ms: stall {100 * bench['stall_share']:.2f} %, "
        f"CV {bench['interval_cv']:.2f} (from memory {row['from_memory']['interval_cv']})"
    )
    for who, found in row["pauses"].items():
        print(f"  {who:16} {found['count']:4} pauses, {found['ms']:8.1f} ms, longest {found['longest_ms']:.2f} ms")
    for loops in row["loops"]:
        longest = ", ".join(f"{ms:.1f}" for ms in loops["longest_ms"][:4]) or "none"
        print(
            f"  loops of {loops['what']:8}{loops['pauses']:4} pauses on {loops['cores_that_paused']} of "
            f"{loops['cores']} cores, {100 * loops['paused_share_of_all']:.2f} % of the time, longest {longest}"
        )
        if loops["wait_of_even_demand"] is not None:
            print(
                f"                   their bytes vary by {100 * loops['spread_by_ms']:.0f} % from one ms to the next; "
                f"a consumer of as much would wait {100 * loops['wait_of_even_demand']:.2f} %"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--data", type=Path, required=True, help="with a cache")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--frames", type=int, nargs="+", default=[40_000, 160_000])
    parser.add_argument("--demand", default="90%")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--least-ms", type=float, default=0.5)
    parser.add_argument("--more", nargs="*", default=[], help="options of `stoker bench feed`")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    rows = []
    bars = Bars()
    for frames in asked.frames:
        row = look(asked, frames)
        print_row(row)
        own = row["pauses"].get("worker busy", {"ms": 0.0})["ms"] / (1e3 * max(row["seconds"], 1e-9))
        copying = [
            max(each["paused_share_of_all"], each["wait_of_even_demand"])
            for each in row["loops"]
            if each["what"] == "copies"
        ]
        name = f"{frames:,} frames: pauses in which a worker worked, share of the time"
        bars.at_most(name, own, max(LEAST_OWN_SHARE, *copying))
        rows.append(row)
    figures = {"cores": len(os.sched_getaffinity(0)), "rows": rows}
    return finish(f"feed-pauses{'-gpu' if asked.device == 'cuda' else ''}", figures, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
