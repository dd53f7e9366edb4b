"""Traces of real runs, asked with SQL: every batch, the run's own seconds, flows with both ends, and after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from trace_store import TraceStore, read_trace

BATCHES = 120
NAMES = ["t.pftrace", "t.perfetto-trace", "t.json", "t.json.gz"]
OVERLAPS = """
select count(*) from slice a join slice b on a.track = b.track and a.id != b.id
where a.begin_ns < b.begin_ns and b.begin_ns < a.end_ns and a.end_ns < b.end_ns
"""
ONE_SIDED = """
select count(*) from (select id, sum(part = 'end') ends, sum(part != 'end') others from flow group by id)
where ends != 1 or others < 1
"""
BACKWARD = """
select count(*) from (select at_ns - lag(at_ns) over (partition by track order by rowid) step from counter)
where step < 0
"""
SECONDS = "select coalesce(sum(end_ns - begin_ns), 0) / 1e9 from slice where name = ?"


def profile(stoker: Stoker, path: Path, *more: str) -> dict[str, Any]:
    feed = ["--data", str(stoker.data), "--device", "cpu", "--batch-frames", "800", "--preprocessing-mode", "runtime"]
    report: dict[str, Any] = stoker.json("profile", *feed, "--trace", str(path), *more)
    return report


def check_whole(store: TraceStore, where: str) -> None:
    """What holds of every trace, whatever ended the run."""
    expect(store.one(OVERLAPS) == 0, f"{where}: {store.one(OVERLAPS)} slices overlap others of their track")
    expect(store.one(ONE_SIDED) == 0, f"{where}: {store.one(ONE_SIDED)} flows without both ends")
    expect(store.one(BACKWARD) == 0, f"{where}: a counter goes back in time")
    unknown = "select count(*) from slice where track not in (select id from track)"
    expect(store.one(unknown) == 0, f"{where}: slices on a track without a name")


def check_against_run(store: TraceStore, report: dict[str, Any], where: str) -> None:
    batches = store.one("select count(*) from slice where name = 'batch'")
    expect(batches == report["batches"] == BATCHES, f"{where}: {batches} batches, {report['batches']} in the report")
    for name in ("wait", "step"):
        found = store.one("select count(*) from slice where name = ?", name)
        expect(found == BATCHES, f"{where}: {found} slices {name}")
    for stage in report["stages"]:
        if stage["thread"] != "worker":
            continue
        traced_s = store.one(SECONDS, stage["name"])
        off_s = abs(traced_s - stage["total_s"])
        expect(off_s <= 1e-6 + 0.01 * stage["total_s"], f"{where}: {stage['name']} {traced_s} s, {stage['total_s']} s")
    # The feed's own counters also have the batches that were filled and not taken.
    counted = report["feed"]
    ahead = counted["filled"] / BATCHES
    for name, seconds in counted["stage_s"].items():
        traced_s = store.one(SECONDS, name)
        expect(traced_s <= 1.01 * seconds + 1e-3, f"{where}: {name} {traced_s} s, counted {seconds} s")
    fill_s, counted_s = store.one(SECONDS, "batch"), sum(counted["stage_s"].values())
    expect(counted_s <= 1.5 * ahead * fill_s, f"{where}: {fill_s} s of {counted_s} s in {ahead} times as many batches")
    waited_s = store.one(SECONDS, "wait") - report["first_wait_ms"] / 1e3
    said_s = report["data_ms"] * (BATCHES - 1) / 1e3
    expect(abs(waited_s - said_s) <= 1e-6 + 0.01 * said_s, f"{where}: waits of {waited_s} s, {said_s} s in the report")


def check_contents(store: TraceStore, where: str) -> None:
    """Files, shapes and numbers are there to be asked for."""
    files = store.one("select count(distinct value) from argument where name = 'slowest_file'")
    expect(files > 1, f"{where}: {files} files named")
    numbers = [
        row[0]
        for row in store.ask(
            "select value from argument join slice on slice.id = slice "
            "where slice.name = 'batch' and argument.name = 'batch' order by value"
        )
    ]
    expect(numbers == list(range(BATCHES)), f"{where}: batches {numbers[:5]} …")
    tracks = {row[0] for row in store.ask("select name from track")}
    expect({"consumer", "worker 0", "worker 1", "ready batches"} <= tracks, f"{where}: tracks {tracks}")
    ready = store.one("select count(*) from counter join track on track = id where name = 'ready batches'")
    expect(ready == BATCHES, f"{where}: {ready} values of ready batches")
    wrong = """select count(*) from flow a join slice f on f.id = a.slice join flow b on b.id = a.id
               join slice s on s.id = b.slice where f.name = 'slowest file' and s.name = 'step'
               and f.begin_ns > s.begin_ns"""
    expect(store.one(wrong) == 0, f"{where}: an arrow goes back in time")


def check_formats(stoker: Stoker) -> None:
    for name in NAMES:
        path = stoker.folder / name
        report = profile(stoker, path, "--batches", str(BATCHES), "--num-workers", "2")
        expect(report["trace_batches"] == BATCHES and report["trace_lost"] == 0, f"{name}: {report}")
        expect(report["trace_bytes"] == path.stat().st_size, f"{name}: {path.stat().st_size} bytes")
        store = read_trace(path)
        check_whole(store, name)
        check_against_run(store, report, name)
        check_contents(store, name)


def check_standard_output(stoker: Stoker) -> None:
    """Standard output gets the trace and nothing else."""
    command = [str(stoker.program), "profile", "--data", str(stoker.data), "--device", "cpu", "--batch-frames", "800"]
    done = subprocess.run([*command, "--batches", "20", "--trace", "-"], capture_output=True, timeout=100, check=True)
    path = stoker.folder / "out.pftrace"
    path.write_bytes(done.stdout)
    steps = read_trace(path).one("select count(*) from slice where name = 'step'")
    expect(steps == 20 and b"made of" in done.stderr, f"{steps} steps: {done.stderr!r}")


def check_no_workers(stoker: Stoker) -> None:
    path = stoker.folder / "alone.pftrace"
    profile(stoker, path, "--batches", "20", "--num-workers", "0")
    store = read_trace(path)
    check_whole(store, "without workers")
    inside = """select count(*) from slice mel join slice wait on wait.track = mel.track
                where mel.name = 'mel' and wait.name = 'wait'
                and wait.begin_ns <= mel.begin_ns and mel.end_ns <= wait.end_ns"""
    expect(store.one(inside) == 20, f"{store.one(inside)} of 20 mels in the wait of the consumer")


def check_pacing(stoker: Stoker) -> None:
    """Steps of 5 ms are steps of 5 ms in the trace, and the machine has counters."""
    path = stoker.folder / "paced.json"
    report = profile(stoker, path, "--seconds", "1.2", "--step-ms", "5")
    store = read_trace(path)
    check_whole(store, "paced")
    steps = store.ask("select end_ns - begin_ns from slice where name = 'step' order by 1")
    middle_ms = steps[len(steps) // 2][0] / 1e6
    expect(4.9 < middle_ms < 50, f"steps of {middle_ms} ms")
    expect(report["compute_ms"] >= 4.9, f"compute {report['compute_ms']} ms")
    cores = store.one("select count(*) from counter join track on track = id where name like 'cores%'")
    expect(cores >= 2, f"{cores} values of the cores in use")


def check_kill(stoker: Stoker) -> None:
    """A run that is killed leaves a trace that opens, with all but the last moments."""
    for name in ("killed.pftrace", "killed.json", "killed.json.gz"):
        path = stoker.folder / name
        command = [
            str(stoker.program),
            "profile",
            "--data",
            str(stoker.data),
            "--device",
            "cpu",
            "--batch-frames",
            "800",
        ]
        run = subprocess.Popen(
            [*command, "--preprocessing-mode", "runtime", "--seconds", "60", "--step-ms", "2", "--trace", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 20_000):
                time.sleep(0.02)
        finally:
            os.kill(run.pid, signal.SIGKILL)
            run.wait()
        store = read_trace(path)
        expect(store.one(OVERLAPS) == 0, f"{name}: slices overlap")
        batches = store.one("select count(*) from slice where name = 'batch'")
        steps = store.one("select count(*) from slice where name = 'step'")
        expect(batches > 3 and batches - steps in (0, 1), f"{name}: {batches} batches, {steps} steps")


def check_stop(stoker: Stoker) -> None:
    path = stoker.folder / "stopped.pftrace"
    command = [str(stoker.program), "profile", "--data", str(stoker.data), "--device", "cpu", "--seconds", "60"]
    run = subprocess.Popen([*command, "--step-ms", "2", "--trace", str(path)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 5_000):
        time.sleep(0.02)
    run.send_signal(signal.SIGTERM)
    said = run.communicate(timeout=30)[1]
    expect(run.returncode == 128 + signal.SIGTERM, f"exit {run.returncode}: {said}")
    expect(str(path) in said, f"the trace is not named: {said}")
    check_whole(read_trace(path), "stopped")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=40) as stoker:
        check_formats(stoker)
        check_standard_output(stoker)
        check_no_workers(stoker)
        check_pacing(stoker)
        check_kill(stoker)
        check_stop(stoker)


if __name__ == "__main__":
    main()
