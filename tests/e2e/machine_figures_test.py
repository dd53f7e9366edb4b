"""What a training leaves about feed and machine, read as people read it: by TensorBoard and as lines of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from trace_store import read_trace
from train_run import has_trainer, trained

OF_STEPS = ["feed/clips_per_s", "feed/stall_share", "feed/interval_cv"]
OF_SAMPLES = ["feed/ready_batches", "cpu/cores"]  # a step that is shorter than their interval may have none
SHORT = ("--set", "observe.sample_interval=0.01", "--log-step", "1", "--vocabulary", "phonemes")


def check_tensorboard(folder: Path, steps: int) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    for tag in OF_STEPS + OF_SAMPLES:
        points = {event.step: event.value for event in events.Scalars(tag)}
        expect(bool(points) and set(points) <= set(range(1, steps + 1)), f"{tag}: {points}")
        expect(tag in OF_SAMPLES or steps in points, f"{tag}: {points}")
    for event in events.Scalars("feed/stall_share"):
        expect(0 <= event.value <= 1, f"stall share {event.value}")
    expect("gpu/utilization" not in events.Tags()["scalars"], "a GPU where there is none")


def check_lines(folder: Path) -> int:
    lines = [json.loads(line) for line in (folder / "machine.jsonl").read_text(encoding="utf-8").splitlines()]
    expect(len(lines) >= 2, f"{len(lines)} lines")
    moments = [line["unix_s"] for line in lines]
    expect(moments == sorted(moments), "lines out of order")
    expect(all(line["cores_allowed"] >= 1 and line["at_ns"] > 0 for line in lines), f"{lines[0]}")
    expect("own_cores" in lines[-1], f"{lines[-1]}")
    return len(lines)


def check_training(stoker: Stoker) -> None:
    trace = stoker.folder / "run.pftrace"
    trained(stoker, "run", "--steps", "3", "--trace", str(trace), *SHORT)
    run = stoker.folder / "run"
    check_tensorboard(run, 3)
    before = check_lines(run)
    store = read_trace(trace)
    expect(store.one("select count(*) from slice where name = 'step'") == 3, "three steps in the trace")
    expect(store.one("select count(*) from slice where name = 'logging'") > 0, "what the trainer does beside its steps")
    trained(stoker, "run", "--steps", "5", "--resume", *SHORT)
    check_tensorboard(run, 5)
    expect(check_lines(run) > before, "a resume goes on with the lines")
    again = stoker.folder / "again.json"
    report = stoker.json("profile", "--run", str(run), "--trace", str(again))
    counted = "select count(*) from counter join track on track = id where name like 'cores%'"
    expect(read_trace(again).one(counted) > 0, "the figures of machine.jsonl in the trace of a run's folder")
    expect(report["batches"] == 2 and report["compute_ms"] > 0, f"records of the resumed process: {report}")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=12) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        check_training(stoker)


if __name__ == "__main__":
    main()
