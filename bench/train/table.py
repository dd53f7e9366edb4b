#!/usr/bin/env python3
"""The users' own table: how busy the card is, and how fast training goes, with a naive loader and with the native one.

    python3 -m bench.train.table --stoker build/stoker [--cell small:32 ...] [--seconds 60] [--keep-json F]

A cell is SIZE[:ROWS][@SECONDS]: a model, the utterances of a batch (without: batches by frames), and how long each
loader trains. Rows that the record F has of other cells stay, so that a table can be made in several sittings; --take
adds rows of other records. Bars of every native row: the card is as busy as with batches that stay in its memory, in
every second, steps of a shape take equally long, and most of the cores are free; and it is faster than the naive one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.program import ended, run_stoker
from bench.record import RESULTS, Bars, Json, finish

CELLS = ("tiny:32", "small:8", "small:16", "small:32", "normal")
LEAST_AU, MOST_CV, LEAST_GPU, LEAST_GPU_SECOND, MOST_CPU = 0.995, 0.05, 95, 70, 40
CELL = re.compile(r"(tiny|small|normal|big)(?::([1-9][0-9]*))?(?:@([0-9.]+))?")
START_S = 240.0  # of a cell, beside its measured seconds: data, cache, captured steps, batches in memory


@dataclass(frozen=True)
class Cell:
    size: str
    rows: int | None
    seconds: float | None  # of each loader; None: as of all cells

    @classmethod
    def of(cls, text: str) -> Cell:
        found = CELL.fullmatch(text)
        if not found:
            raise argparse.ArgumentTypeError(f"{text!r} is no SIZE[:ROWS][@SECONDS], such as small:32 or normal@300")
        size, rows, length = found.groups()
        return cls(size, int(rows) if rows else None, float(length) if length else None)

    @property
    def name(self) -> str:
        return f"{self.size}, {self.rows} rows" if self.rows else f"{self.size}, by frames"


def measure(asked: argparse.Namespace, cell: Cell) -> list[Json]:
    """One row a loader, without what is only drawn."""
    words = ["--loader", "naive,native", "--model-size", cell.size, "--device", asked.device]
    seconds = cell.seconds or asked.seconds
    words += ["--seconds", f"{seconds:g}"]
    words += ["--batch-size", str(cell.rows)] if cell.rows else []
    words += ["--data", str(asked.data)] if asked.data else []
    report = run_stoker(asked.stoker, "bench", "train", *words, limit_s=2 * seconds + START_S)
    kept = [{key: value for key, value in row.items() if not isinstance(value, list)} for row in report["rows"]]
    return [{"cell": cell.name, "seconds": seconds} | row for row in kept]


def rows_of(record: Path) -> list[Json]:
    return list(json.loads(record.read_text(encoding="utf-8"))["rows"]) if record.exists() else []


def joined(*parts: list[Json]) -> list[Json]:
    """The latest row of each cell and loader."""
    found = {(row["cell"], row["loader"]): row for part in parts for row in part if "cell" in row}
    return list(found.values())


def judge(rows: list[Json]) -> Bars:
    bars = Bars()
    for row in rows:
        if row["loader"] != "native":
            continue
        name = row["cell"]
        bars.at_least(f"{name}: AU", row["au"], LEAST_AU)
        bars.at_most(f"{name}: interval CV of a shape", row["shape_cv"], MOST_CV)
        bars.at_least(f"{name}: times the naive loader", row["speed_up"], 1)
        bars.at_most(f"{name}: cores in use, %", row["cpu_percent"], MOST_CPU)
        if row["gpu_util_mean"] is not None:
            bars.at_least(f"{name}: GPU in use, %", row["gpu_util_mean"], LEAST_GPU)
            bars.at_least(f"{name}: GPU in its laziest second, %", row["gpu_util_min"], LEAST_GPU_SECOND)
    return bars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument(
        "--cell", nargs="*", type=Cell.of, default=[Cell.of(text) for text in CELLS], metavar="SIZE[:ROWS][@SECONDS]"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="of each loader in each cell")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--data", type=Path, help="of utterances as long as LJSpeech's where nothing is named")
    parser.add_argument("--take", nargs="*", type=Path, default=[], help="records whose rows are added")
    parser.add_argument("--keep-json", type=Path, default=RESULTS / "train-table.json")
    asked = parser.parse_args()
    measured = [row for cell in asked.cell for row in measure(asked, cell)]
    rows = joined(rows_of(asked.keep_json), *map(rows_of, asked.take), measured)
    return finish("train-table", {"rows": rows}, judge(rows), asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
