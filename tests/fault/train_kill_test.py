#!/usr/bin/env python3
"""A training that is killed again and again, each time at a random instant and each time resumed with another number
of workers, must give the losses of one that was never disturbed, bit for bit.

    train_kill_test.py STOKER [--kills 4] [--steps 40] [--seed 1]

Every step is written to metrics.jsonl with all its digits; the two files are compared as text.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

WORKERS = ["0", "1", "2", "4", "7"]
COMPARED = ("step", "epoch", "loss", "duration", "prior", "flow", "gradient_norm", "learning_rate")


def train_words(stoker: str, voice: pathlib.Path, run: pathlib.Path, steps: int) -> list[str]:
    words = [stoker, "train", "--data", str(voice), "--checkpoint-dir", str(run), "--model-size", "tiny"]
    words += ["--device", "cpu", "--batch-frames", "600", "--steps", str(steps), "--epochs", "1000000"]
    words += ["--set", "training.save_step=3", "--set", "training.log_step=1", "--set", "training.val_step=7"]
    return [*words, "--set", "training.keep_checkpoints=2"]


def series(run: pathlib.Path) -> list[str]:
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [json.dumps({key: row[key] for key in COMPARED}) for row in rows if "loss" in row]


def timed_run(words: list[str]) -> float:
    begin = time.monotonic()
    done = subprocess.run([*words, "--quiet"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the undisturbed run ended with {done.returncode}:\n{done.stderr}")
    return time.monotonic() - begin


def killed_run(words: list[str], workers: str, after_s: float) -> bool:
    """False when it ended by itself before its time."""
    with subprocess.Popen(
        [*words, "--resume", "--num-workers", workers], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            child.wait(timeout=after_s)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
            return True
        said = child.stderr.read() if child.stderr else ""
        if child.returncode != 0:
            sys.exit(f"a resumed run ended with {child.returncode}:\n{said}")
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stoker")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draws = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        voice = place / "voice"
        made = ["data", "make", "--out", str(voice), "--clips", "24", "--speakers", "2", "--quiet"]
        subprocess.run([asked.stoker, *made], check=True)
        start_s = timed_run(train_words(asked.stoker, voice, place / "short", 1))
        steps_s = timed_run(train_words(asked.stoker, voice, place / "whole", asked.steps)) - start_s
        words = train_words(asked.stoker, voice, place / "killed", asked.steps)
        kills = 0
        for number in range(asked.kills):
            # From the first instants of a process to well into its share of the steps, so that a few checkpoints are
            # passed and the run does not end before its last kill.
            after_s = draws.uniform(0.2 * start_s, start_s + 2 * max(0.0, steps_s) / asked.kills)
            if not killed_run(words, WORKERS[number % len(WORKERS)], after_s):
                break
            kills += 1
        killed_run(words, "3", 600.0)
        expected, found = series(place / "whole"), series(place / "killed")
        if len(expected) != asked.steps:
            sys.exit(f"expected {asked.steps} steps in metrics.jsonl of the undisturbed run, found {len(expected)}")
        for number, (a, b) in enumerate(zip(expected, found, strict=False)):
            if a != b:
                sys.exit(f"step {number + 1} differs after {kills} kills:\n  {a}\n  {b}")
        if len(expected) != len(found):
            sys.exit(f"expected {len(expected)} steps after {kills} kills, found {len(found)}")
        print(f"{kills} kills of one run of {asked.steps} steps: the same losses, bit for bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
