"""Proves that the oracle can say no: each mistake planted into the batches of a good stream must be found."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.oracle.compare import Comparison, Differs, load_batches
from tests.oracle.digests import Arrays
from tests.oracle.expected import Batch
from tests.oracle.factors import FACTORS, Case
from tests.oracle.program import Program
from tests.oracle.run_case import CaseRun, Stream

# Everything that a batch can hold, in both layouts; all other factors at their first level.
RICH: Case = {factor: levels[0] for factor, levels in FACTORS.items()} | {
    "sound": "wav16",
    "speakers": "on",
    "batch": "frames_long",
    "audio": "on",
    "segments": "8",
    "reference": "speaker",
    "arrays": "two",
    "cache": "whole",
    "workers": "1",
}
Mistake = Callable[[Arrays], None]


def swap_rows(found: Arrays) -> None:
    for name, values in found.items():
        if name not in ("epoch", "index", "ids"):
            values[[0, 1]] = values[[1, 0]]


def set_at(name: str, place: tuple[int, ...], change: Callable[[float], float]) -> Mistake:
    def plant(found: Arrays) -> None:
        found[name][place] = change(found[name][place])

    return plant


def shift_one_frame(found: Arrays) -> None:
    found["mel"][0] = np.roll(found["mel"][0], 1, axis=0)


def shift_samples(name: str) -> Mistake:
    def plant(found: Arrays) -> None:
        found[name][0] = np.roll(found[name][0], 1)

    return plant


def shift_segment(found: Arrays) -> None:
    """Both crops one frame later: only the draw tells."""
    begin = int(found["mel_len"][0]) // 2
    found["mel_segment"][0] = found["mel"][0, begin : begin + 8]


def other_padding(found: Arrays) -> None:
    row = int(np.argmin(found["mel_len"]))
    found["mel"][row, -1, -1] = 0.0


def drop_row(found: Arrays) -> None:
    found["mel_len"][0] = 0


def lose_array(found: Arrays) -> None:
    del found["wav_segment"]


def wrong_last_bit(found: Arrays) -> None:
    """Within the tolerance of a mel, but not what the same utterance was before."""
    found["mel"].view(np.uint16)[0, 3, 5] ^= 1


PADDED: dict[str, Mistake] = {
    "two rows changed places": swap_rows,
    "mel one frame late": shift_one_frame,
    "padding is not silence": other_padding,
    "another speaker": set_at("speaker", (0,), lambda value: value + 1),
    "another language": set_at("language", (0,), lambda value: value + 1),
    "another token": set_at("tokens", (0, 0), lambda value: value + 1),
    "a token in the padding": set_at("tokens", (0, -1), lambda value: value + 7),
    "a text one token short": set_at("text_len", (0,), lambda value: value - 1),
    "segment of another place": shift_segment,
    "segment one sample late": shift_samples("wav_segment"),
    "audio one sample late": shift_samples("audio"),
    "reference one frame late": set_at("reference_mel", (0, 0, 0), lambda value: value + 0.25),
    "reference shorter": set_at("reference_len", (0,), lambda value: value - 1),
    "named array of a neighbour": set_at("array.codes", (0, 0, 0), lambda value: value + 1),
    "an empty row": drop_row,
    "one bit of a mel": wrong_last_bit,
    "a part left out": lose_array,
}
PACKED: dict[str, Mistake] = {
    "packed frames begin late": set_at("frame_begins", (-1,), lambda value: value + 1),
    "packed tokens begin late": set_at("token_begins", (-1,), lambda value: value + 1),
    "packed mel one frame late": shift_one_frame,
    "packed audio one sample late": shift_samples("audio"),
    "packed segment one sample late": shift_samples("wav_segment"),
}


def good_stream(case: Case, stoker: Path, folder: Path) -> tuple[Comparison, list[Batch], list[Arrays]]:
    """A stream that agrees, with its batches kept."""
    run = CaseRun(case, 4, Program(stoker, "cpu", folder))
    run.run()
    whole = run.oracle.epoch(0)
    comparison = Comparison(run.oracle)
    run.stream(Stream("kept", 0, len(whole), []), whole, comparison)
    return comparison, whole, load_batches(folder / "saved", whole)


def find_mistakes(case: Case, mistakes: dict[str, Mistake], stoker: Path) -> list[str]:
    """Names of the mistakes that nothing found."""
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        comparison, wanted, batches = good_stream(case, stoker, Path(folder))
        # The batch that has a row shorter than its shape: padding can be planted there.
        place = next(i for i, b in enumerate(batches) if len(b["ids"]) > 1 and b["mel_len"].min() < b["mel"].shape[1])
        for name, plant in mistakes.items():
            found = {key: values.copy() for key, values in batches[place].items()}
            plant(found)
            try:
                comparison.check_batch(wanted[place], found)
                missed.append(name)
            except Differs as error:
                print(f"{name}: {error}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.planted", description=__doc__)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    stoker = parser.parse_args().stoker.resolve()
    missed = find_mistakes(RICH, PADDED, stoker)
    missed += find_mistakes(RICH | {"layout": "packed"}, PACKED, stoker)
    for name in missed:
        print(f"not found: {name}", file=sys.stderr)
    print(f"{len(PADDED) + len(PACKED) - len(missed)} of {len(PADDED) + len(PACKED)} planted mistakes found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
