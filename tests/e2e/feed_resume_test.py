"""Resume at every batch of two epochs with another worker count, and after a chain of five SIGKILLs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, contents, expect, stoker_of_command_line

COMMON = ["--batch-size", "4", "--preprocessing-mode", "runtime"]


def check_every_batch(stoker: Stoker, whole: dict[str, Any]) -> None:
    num_batches = len(whole["batches"])
    for at in range(num_batches + 1):
        state = stoker.folder / f"state-{at}"
        if at > 0:
            stoker.stream(*COMMON, "--batches", str(at), "--state-out", str(state), "--num-workers", str(at % 4))
            expect(state.stat().st_size <= 192 + 1, f"the state has {state.stat().st_size} bytes")
            expect(state.read_text().count("\n") == 1, "the state is one line")
        resume = ["--state-in", str(state)] if at > 0 else []
        rest = num_batches - at
        if rest == 0:
            continue
        report = stoker.stream(*COMMON, *resume, "--batches", str(rest), "--num-workers", str((at + 1) % 5))
        expect(contents(report) == contents(whole)[at:], f"resumed at batch {at}: other batches")
    print(f"resumed at each of {num_batches} batches")


def killed_run(stoker: Stoker, state: Path, workers: int, num_lines: int) -> list[str]:
    """Runs until so many lines came, kills while others are in flight; returns the lines that came."""
    command = [
        str(stoker.program),
        "stream",
        "--data",
        str(stoker.data),
        "--device",
        "cpu",
        *COMMON,
        "--batches",
        "1000",
        "--num-workers",
        str(workers),
        "--prefetch-buffer-size",
        "4",
        "--random-delay-us",
        "4000",
        "--state-out",
        str(state),
    ]
    if state.exists():
        command += ["--state-in", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert run.stdout is not None
        lines = [run.stdout.readline() for _ in range(num_lines)]
        time.sleep(0.003 * (workers + 1))
        run.send_signal(signal.SIGKILL)
        lines += run.stdout.readlines()
    return [line for line in lines if line.endswith("\n")]


def check_kills(stoker: Stoker, whole: dict[str, Any], epoch_batches: int) -> None:
    state = stoker.folder / "killed-state"
    seen: dict[tuple[int, int], str] = {}
    for chain, workers in enumerate([2, 1, 4, 3, 2]):
        for line in killed_run(stoker, state, workers, 2 + chain % 3):
            epoch, index, _, _, content = line.split()
            place = (int(epoch), int(index))
            expect(seen.setdefault(place, content) == content, f"batch {place} came with other bytes")
        saved = json.loads(state.read_text())
        consumed = saved["epoch"] * epoch_batches + saved["batch"]
        expect(len(seen) - consumed in (0, 1), f"{len(seen)} batches came, the state says {consumed}")
    # A quick machine may have gone past the first run: the reference is as long as it takes.
    rest = max(len(whole["batches"]) - consumed, 3)
    whole = stoker.stream(*COMMON, "--batches", str(consumed + rest))
    report = stoker.stream(*COMMON, "--state-in", str(state), "--batches", str(rest))
    for line in report["batches"]:
        seen[(line["epoch"], line["index"])] = line["content"]
    found = [(*place, content) for place, content in sorted(seen.items())]
    expect(found == contents(whole), "after five kills the stream is another")
    print(f"five kills, then the same {len(found)} batches")


def check_exactly_once(whole: dict[str, Any], num_clips: int) -> None:
    for epoch in (0, 1):
        rows = [row for line in whole["batches"] if line["epoch"] == epoch for row in line["rows"] if row]
        expect(len(rows) == num_clips and len(set(rows)) == num_clips, f"epoch {epoch}: {len(rows)} rows")
    print("each id exactly once an epoch")


def main() -> int:
    with stoker_of_command_line(__doc__, num_clips=40) as stoker:
        epoch_batches = stoker.stream(*COMMON, "--batches", "1")["epoch_batches"]
        whole = stoker.stream(*COMMON, "--batches", str(2 * epoch_batches), "--list-ids")
        check_exactly_once(whole, 40)
        check_every_batch(stoker, whole)
        check_kills(stoker, whole, epoch_batches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
