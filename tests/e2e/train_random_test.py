"""Settings in random combinations: a training that was cut short and went on with other workers, tiers and loaders
ends with the bytes of one that ran through.

train_random_test.py PROGRAM [--seed 1] [--cases 4]

A case draws data, batches, optional parts, model and optimiser; three runs of it differ only in what must not matter:
how batches are loaded, where the run was stopped or killed, and on how many cores it goes on. Checkpoints and the
losses of every step are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect
from train_run import TIME_LIMIT_S, Ended, differing_files, has_trainer, newest_checkpoint, run

STEPS = 6
POLL_S = 0.01

# What decides a run: one of each line is drawn.
Words = tuple[str, ...]
DATA: list[Words] = [
    ("--speakers=1",),
    ("--speakers=3",),
    ("--language=fa",),
    ("--sample-rate=16000",),
    ("--lengths=uniform:0.5-6",),
]
RUN: list[list[Words]] = [
    [
        ("--batch-size=1",),
        ("--batch-size=5", "--enable-static-shapes"),
        ("--batch-frames=2000",),
        ("--batch-frames=2000", "--batch-layout=packed"),
        ("--batch-frames=5000", "--batch-layout=packed"),
    ],
    [(), ("--max-shapes=2",), ("--drop-last",), ("--no-shuffle",), ("--batch-multiple=2",)],
    [(), ("--grad-accum=2",), ("--grad-accum=3",)],
    [("--vocabulary=phonemes",), ("--vocabulary=bytes",), ("--add-blank",), ("--vocabulary=myxtts",)],
    [(), ("--reference-mel=speaker",), ("--reference-mel=same", "--reference-audio-length=0.5")],
    [(), ("--with-audio",), ("--segment-frames=16",), ("--batch-dtype=f32",), ("--batch-dtype=bf16",)],
    [(), ("--cache-dtype=f32",), ("--cache-dtype=bf16",), ("--preset=xtts",), ("--preset=vocos24",)],
    [(), ("--trim-silence",), ("--loudness=lufs",), ("--gain-range=[-6, 6]",)],
    [(), ("--enable-noise-mixing", "--noise-mixing-probability=0.8"), ("--voice-warp=0.2",), ("--dropout-rate=0",)],
    [(), ("--precision=bf16",), ("--mel-mean=-5", "--mel-std=2")],
    [(), ("--optimizer=adam",), ("--gradient-clip-norm=0",), ("--ema-decay=0.5",), ("--optimization-level=enhanced",)],
    [("--scheduler=constant",), ("--scheduler=cosine", "--restart-period=4"), ("--warmup-steps=2",)],
    [(), ("--val-split=0",), ("--val-step=2",), ("--val-step=3", "--early-stopping-patience=50")],
    [("--save-step=2",), ("--save-step=3",), ("--save-step=1", "--keep-checkpoints=1")],
]
# What must not matter: drawn anew for each part of a run.
LOADING: list[list[Words]] = [
    [("--num-workers=0",), ("--num-workers=1",), ("--num-workers=3",), ("--num-workers=7",)],
    [(), ("--prefetch-buffer-size=1",), ("--prefetch-buffer-size=9",)],
    [(), ("--no-auto-tune-performance",), ("--disable-cpu-gpu-overlap",), ("--disable-native-loading",)],
    [("--preprocessing-mode=auto",), ("--preprocessing-mode=runtime",)],
    [(), ("--cache-tier=ram",), ("--no-enable-memory-mapping",), ("--read-ahead-batches=0",)],
    [(), ("--cache-content=pcm",), ("--cache-content=both",)],
    [(), ("--set", "observe.records=false"), ("--trace=t.json",), ("--training-samples-log-interval=2",)],
]


@contextmanager
def cores(count: int | None) -> Iterator[None]:
    """What is started meanwhile may use no more than so many."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[: count or len(allowed)])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Case:
    def __init__(self, stoker: Stoker, number: int) -> None:
        self.stoker = stoker
        self.number = number
        self.draws = random.Random(number)
        self.data = [f"--clips={self.draws.choice((7, 20, 45))}", *self.draws.choice(DATA), f"--seed={number}"]
        self.run_words = [word for line in RUN for word in self.draws.choice(line)]

    @property
    def folder(self) -> Path:
        folder: Path = self.stoker.folder / f"case-{self.number}"
        return folder

    def loading(self) -> list[str]:
        return [word for line in LOADING for word in self.draws.choice(line)]

    def words(self, name: str, *more: str) -> list[str]:
        fixed = ["train", "--train-data", str(self.folder / "data"), "--checkpoint-dir", str(self.folder / name)]
        fixed += ["--device=cpu", "--model-size=tiny", "--epochs=100000", "--log-step=1", "--json"]
        return [*fixed, *self.run_words, *self.loading(), *more]

    def make_data(self) -> None:
        short = [] if any(word.startswith("--lengths") for word in self.data) else ["--lengths=uniform:0.5-2.5"]
        words = ["data", "make", "--out", str(self.folder / "data"), *short, *self.data]
        ended = run(self.stoker, *words)
        expect(ended.code == 0, f"{words}: {ended.err}")

    def ended_well(self, words: list[str]) -> Ended:
        is_resumed = "--resume" in words
        with cores(self.draws.choice((1, None)) if is_resumed else None):
            ended = run(self.stoker, *words)
        expect(ended.code >= 0, f"{self}\n{' '.join(words)}\nended by signal {-ended.code}\n{ended.err}")
        expect(ended.code == 0, f"{self}\n{' '.join(words)}\nexit {ended.code}\n{ended.err}")
        return ended

    def kill_at(self, words: list[str], step: int, delay_s: float, number: int) -> None:
        """Sends the signal so long after the run has told of this step; it may come to its end before."""
        program = subprocess.Popen(
            [str(self.stoker.program), *words],
            cwd=self.stoker.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        metrics = Path(words[words.index("--checkpoint-dir") + 1]) / "metrics.jsonl"
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.poll() is None and len(steps_of(metrics)) < step:
            expect(time.monotonic() < deadline, f"{self}: no step {step} within {TIME_LIMIT_S} s")
            time.sleep(POLL_S)
        time.sleep(delay_s)
        program.send_signal(number)
        said = program.communicate(timeout=TIME_LIMIT_S)[1]
        fair = (0, -number, 128 + number)
        expect(program.returncode in fair, f"{self}\n{' '.join(words)}\nexit {program.returncode}\n{said}")

    def __str__(self) -> str:
        return f"case {self.number}: data {' '.join(self.data)}; {' '.join(self.run_words)}"


def steps_of(metrics: Path) -> dict[int, dict[str, object]]:
    """Losses by step, as far as whole lines go."""
    if not metrics.exists():
        return {}
    found: dict[int, dict[str, object]] = {}
    for line in metrics.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        row = json.loads(line)
        if "flow" in row:
            found[row["step"]] = {key: row[key] for key in ("flow", "prior", "duration", "learning_rate") if key in row}
    return found


def compare(case: Case, one: str, other: str) -> None:
    expected, found = (newest_checkpoint(case.folder / name) for name in (one, other))
    expect(expected.name == found.name, f"{case}\n{one} ended with {expected.name}, {other} with {found.name}")
    differing = differing_files(expected, found)
    expect(not differing, f"{case}\n{differing} of {one} and {other} differ")
    losses = [steps_of(case.folder / name / "metrics.jsonl") for name in (one, other)]
    expect(losses[0] == losses[1], f"{case}\nlosses of {one} and {other} differ:\n{losses[0]}\n{losses[1]}")
    expect(sorted(losses[0]) == list(range(1, STEPS + 1)), f"{case}\nsteps {sorted(losses[0])}")


def judge(case: Case) -> None:
    case.make_data()
    if case.draws.random() < 0.5:
        run(case.stoker, "precompute", "--data", str(case.folder / "data"), "--num-workers=2")
    case.ended_well(case.words("whole", f"--steps={STEPS}"))
    case.ended_well(case.words("halves", f"--steps={case.draws.randint(1, STEPS - 1)}"))
    case.ended_well(case.words("halves", f"--steps={STEPS}", "--resume"))
    compare(case, "whole", "halves")
    number = case.draws.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
    delay_s = case.draws.uniform(0, 0.2)
    case.kill_at(case.words("killed", f"--steps={STEPS}"), case.draws.randint(1, STEPS - 1), delay_s, number)
    case.ended_well(case.words("killed", f"--steps={STEPS}", "--resume"))
    compare(case, "whole", "killed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--go-on", action="store_true", help="with the next case where one differs")
    asked = parser.parse_args()
    num_wrong = 0
    for number in range(asked.seed, asked.seed + asked.cases):
        with tempfile.TemporaryDirectory() as folder:
            stoker = Stoker(asked.program.resolve(), Path(folder))
            if not has_trainer(stoker):
                print("skipped: this build has no libtorch")
                return
            try:
                judge(Case(stoker, number))
            except AssertionError as error:
                if not asked.go_on:
                    raise
                print(f"WRONG {error}\n", flush=True)
                num_wrong += 1
    expect(num_wrong == 0, f"{num_wrong} of {asked.cases} cases are wrong")
    print(f"equal bytes in {asked.cases} cases")


if __name__ == "__main__":
    main()
