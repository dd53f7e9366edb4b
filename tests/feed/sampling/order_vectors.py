"""Recomputes the test vectors of docs/format/order.md from the page's words alone.

Independent of the C++ code. `--write` replaces the vectors in the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.oracle.buckets import OrderSettings
from tests.oracle.order import Rows, padded_shapes, plan_epoch


@dataclass
class Case:
    """One line `case …` of the page."""

    name: str
    rows: int
    batch_frames: int = 40000
    batch_size: int = 0
    batch_multiple: int = 1
    max_shapes: int = 48
    shuffle: int = 1
    drop_last: int = 0
    seed: int = 42
    epoch: int = 0
    weights: list[float] = field(default_factory=lambda: [1.0])
    long: int = 0

    def order_rows(self) -> Rows:
        frames = [40 + i * i * 7919 % 601 for i in range(self.rows)]
        if self.long > 0:
            frames[-1] = self.long
        return Rows(
            frames=frames,
            tokens=[5 + i * 104729 % 47 for i in range(self.rows)],
            sources=[i % len(self.weights) for i in range(self.rows)],
        )

    def settings(self) -> OrderSettings:
        return OrderSettings(
            batch_frames=self.batch_frames,
            batch_size=self.batch_size,
            batch_multiple=self.batch_multiple,
            max_shapes=self.max_shapes,
            shuffle=bool(self.shuffle),
            drop_last=bool(self.drop_last),
            seed=self.seed,
            weights=self.weights,
        )


CASES = [
    Case("one-row", 1),
    Case("by-size", 23, batch_size=4, max_shapes=3),
    Case("by-size-next-epoch", 23, batch_size=4, max_shapes=3, epoch=1),
    Case("other-seed", 23, batch_size=4, max_shapes=3, seed=7),
    Case("drop-last", 23, batch_size=4, max_shapes=3, drop_last=1),
    Case("by-frames", 40, batch_frames=3000, max_shapes=4),
    Case("multiple-of-6", 40, batch_frames=6000, batch_multiple=6),
    Case("redrawn", 60, batch_frames=1500, max_shapes=6, epoch=3),
    Case("file-order", 23, batch_frames=2400, shuffle=0),
    Case("drop-last-by-frames", 40, batch_frames=3000, drop_last=1),
    Case("long-row", 23, batch_frames=2400, long=51792),
    Case("long-row-multiple-of-4", 23, batch_frames=4800, batch_multiple=4, long=51792),
    Case("weights-by-frames", 60, batch_frames=1500, epoch=1, weights=[1.0, 0.3]),
    Case("weights-drop-last", 60, batch_frames=1500, drop_last=1, epoch=1, weights=[1.0, 0.3]),
    Case("weights", 20, batch_size=4, max_shapes=2, epoch=2, weights=[2.0, 0.25]),
]


def text_of(case: Case) -> list[str]:
    shapes = padded_shapes(case.order_rows(), case.settings())
    batches = plan_epoch(case.order_rows(), case.settings(), case.epoch)
    weights = ",".join(f"{w:g}" for w in case.weights)
    lines = [
        f"case {case.name} rows={case.rows} batch_frames={case.batch_frames} batch_size={case.batch_size} "
        f"batch_multiple={case.batch_multiple} max_shapes={case.max_shapes} shuffle={case.shuffle} "
        f"drop_last={case.drop_last} seed={case.seed} epoch={case.epoch} weights={weights} long={case.long}"
    ]
    lines += [f"shape {b} {t} {n}" for b, t, n in shapes]
    lines += [f"batch {shapes.index(each.shape)} : {' '.join(map(str, each.rows))}" for each in batches]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    page = arguments.page.read_text(encoding="utf-8")
    block = "```vectors\n" + "\n".join(line for case in CASES for line in text_of(case)) + "\n```"
    pattern = re.compile(r"```vectors\n.*?```", re.DOTALL)
    if arguments.write:
        arguments.page.write_text(pattern.sub(lambda _: block, page), encoding="utf-8")
        return 0
    found = pattern.search(page)
    if found is None or found.group(0) != block:
        print("the vectors of the page are not what the page's rules give", file=sys.stderr)
        return 1
    print(f"{len(CASES)} cases agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
