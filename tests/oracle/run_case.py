"""Runs one case against the program: caches, streams, resumes, and the comparison of every batch."""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.reference_mel import PRESETS
from tests.oracle.compare import Comparison, Differs, check_report, expect, load_batches
from tests.oracle.data_set import DataSet
from tests.oracle.digests import Arrays
from tests.oracle.expected import Batch, Oracle
from tests.oracle.factors import Case
from tests.oracle.program import Program, Run, prepare_cache, refusal, stream_arguments, write_noises

# What the samples of soxr and of the ideal resampler may differ by, full scale 1.
RESAMPLED_NEAR = 5e-4


@dataclass
class Stream:
    """One run of `stoker stream` and the batches it must give."""

    name: str
    first: int
    count: int
    options: list[str]


class CaseRun:
    def __init__(self, case: Case, number: int, program: Program) -> None:
        self.case, self.number, self.program = case, number, program
        self.draw = random.Random(f"run {number}")

    def run(self) -> None:
        """Raises Differs where the program and the documents do not agree."""
        folder = self.program.folder
        recipe = PRESETS[self.case["preset"]]
        data = DataSet(self.case, folder, recipe.rate, self.number)
        noises = write_noises(folder, recipe.rate)
        failed = prepare_cache(self.case, data, self.program)
        if failed is not None:
            raise Differs(f"precompute ended with {failed.code}: {failed.errors.strip()}")
        on_gpu = self.program.device != "cpu"
        self.oracle = Oracle(self.case, data, noises, all_single=on_gpu)
        self.arguments = stream_arguments(self.case, data, self.oracle.order, self.program, self.number)
        code = refusal(self.case)
        if code:
            return self.check_refusal(code)
        self.check_streams()
        return None

    def check_refusal(self, code: str) -> None:
        done = self.program.run(self.arguments)
        expect(done.code not in (0, 134, -1), f"{code} expected, the program ended with {done.code}")
        expect(code in done.errors, f"{code} expected, found {done.errors.strip()}")

    def check_streams(self) -> None:
        epochs = [self.oracle.epoch(epoch) for epoch in range(3)]
        whole = [batch for epoch in epochs for batch in epoch]
        if not epochs[0]:
            return
        count = min(len(epochs[0]) + 2, len(whole))
        comparison = Comparison(self.oracle, near=RESAMPLED_NEAR if self.case["sound"] == "other_rate" else 0.0)
        digests = self.stream(Stream("whole", 0, count, []), whole, comparison)
        for again in self.further_streams(len(epochs[0]), count):
            found = self.stream(again, whole, comparison)
            for at, digest in found.items():
                expect(
                    digests[at] == digest, f"stream '{again.name}': batch {at} has another content digest than before"
                )

    def further_streams(self, epoch_batches: int, count: int) -> list[Stream]:
        """Resumed at another place, or once more over what the first run left of the cache."""
        streams: list[Stream] = []
        resume = self.case["resume"]
        if resume == "none":
            return [Stream("again", 0, count, [])] if self.case["cache"] not in ("none", "whole") else []
        at = epoch_batches if resume == "epoch_end" else self.draw.randint(1, count - 1)
        at = min(at, count - 1)
        if resume == "from_batch":
            return [Stream(f"from batch {at}", at, count - at, ["--from-batch", str(at)])]
        state = str(self.program.folder / "state")
        streams.append(Stream(f"first {at}", 0, at, ["--state-out", state]))
        streams.append(Stream(f"resumed at {at}", at, count - at, ["--state-in", state]))
        return streams

    def stream(self, stream: Stream, whole: list[Batch], comparison: Comparison) -> dict[int, str]:
        """Content digests by place, counted from the first batch of epoch 0."""
        save = self.program.folder / "saved"
        shutil.rmtree(save, ignore_errors=True)
        options = ["--batches", str(stream.count), "--save", str(save), *stream.options]
        done = self.program.run([*self.arguments, *options])
        try:
            return self.check_stream(stream, whole, comparison, done, save)
        except Differs as error:
            raise Differs(f"stream '{stream.name}': {error}") from error

    def check_stream(
        self, stream: Stream, whole: list[Batch], comparison: Comparison, done: Run, save: Path
    ) -> dict[int, str]:
        expect(done.code == 0, f"ended with {done.code}: {done.errors.strip()[-600:]}")
        wanted = whole[stream.first : stream.first + stream.count]
        found: list[Arrays] = load_batches(save, wanted)
        for batch, arrays in zip(wanted, found, strict=True):
            comparison.check_batch(batch, arrays)
        report: dict[str, Any] = done.report
        check_report(comparison, wanted, found, report)
        return {stream.first + i: line["content"] for i, line in enumerate(report["batches"])}


def run_case(case: Case, number: int, stoker: Path, device: str, keep: Path | None = None) -> tuple[str, list[str]]:
    """What differs, empty when nothing does; and the commands that were run."""
    folder = Path(tempfile.mkdtemp(prefix="oracle-")) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    program = Program(stoker, device, folder)
    try:
        CaseRun(case, number, program).run()
        return "", program.commands
    except Differs as error:
        return str(error), program.commands
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
