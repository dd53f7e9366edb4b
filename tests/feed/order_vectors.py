"""Recomputes the test vectors of docs/format/order.md from the page's words alone.

Independent of the C++ code: standard library only. `--write` replaces the vectors in the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from keyed_draws import Draws, fisher_yates

BEAM = 8


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
    packed: int = 0
    seed: int = 42
    epoch: int = 0
    weights: list[float] = field(default_factory=lambda: [1.0])

    def frames(self, i: int) -> int:
        return 40 + i * i * 7919 % 601

    def tokens(self, i: int) -> int:
        return 5 + i * 104729 % 47

    def source(self, i: int) -> int:
        return i % len(self.weights)

    def batch_rows(self, frames: int) -> int:
        wanted = self.batch_size or self.batch_frames // frames
        return max(self.batch_multiple, wanted // self.batch_multiple * self.batch_multiple)


def up8(value: int) -> int:
    return (value + 7) // 8 * 8


@dataclass
class Cut:
    padded: int
    leftover: int
    at_least: int
    begin: int
    parent: int


def offer(beam: list[Cut], cut: Cut) -> None:
    if len(beam) == BEAM and cut.at_least >= beam[-1].at_least:
        return
    for i, other in enumerate(beam):
        if other.leftover == cut.leftover:
            if other.at_least <= cut.at_least:
                return
            del beam[i]
            break
    del beam[BEAM - 1 :]
    at = len(beam)
    while at > 0 and beam[at - 1].at_least > cut.at_least:
        at -= 1
    beam.insert(at, cut)


def bucket_edges(case: Case, lengths: list[int]) -> list[int]:
    step = up8(max(1, (max(lengths) + 255) // 256))
    counts: dict[int, int] = {}
    for length in lengths:
        edge = (max(length, 1) + step - 1) // step * step
        counts[edge] = counts.get(edge, 0) + 1
    classes = sorted(counts)
    before = [0]
    for edge in classes:
        before.append(before[-1] + counts[edge])
    cells = len(classes) + 1
    levels: list[list[list[Cut]]] = [[[] for _ in range(cells)]]
    levels[0][0] = [Cut(0, 0, 0, 0, 0)]
    best_level, best_cost = 1, 2**64
    for level in range(1, min(case.max_shapes, len(classes)) + 1):
        levels.append([[] for _ in range(cells)])
        for end in range(1, cells):
            frames, rows_per = classes[end - 1], case.batch_rows(classes[end - 1])
            for begin in range(end):
                for parent, cut in enumerate(levels[level - 1][begin]):
                    rows = cut.leftover + before[end] - before[begin]
                    left = rows % rows_per
                    padded = cut.padded + (rows - left) * frames
                    full_last = end == cells - 1 and left > 0 and not case.drop_last
                    at_least = padded + (rows_per if full_last else left) * frames
                    offer(levels[level][end], Cut(padded, left, at_least, begin, parent))
        last = levels[level][cells - 1]
        if last and last[0].at_least < best_cost:
            best_level, best_cost = level, last[0].at_least
    edges: list[int] = []
    cell, index = cells - 1, 0
    for level in range(best_level, 0, -1):
        edges.append(classes[cell - 1])
        cut = levels[level][cell][index]
        cell, index = cut.begin, cut.parent
    return edges[::-1]


def copies(case: Case) -> list[int]:
    """How often each row comes in the case's epoch, and in epoch 0 (for the edges)."""
    return copies_in(case, case.epoch)


def copies_in(case: Case, epoch: int) -> list[int]:
    phases = [0] * case.rows
    used = [0] * len(case.weights)
    for i in sorted(range(case.rows), key=case.frames):
        phases[i] = used[case.source(i)]
        used[case.source(i)] += 1
    result = []
    for i in range(case.rows):
        whole, extra = divmod(int(case.weights[case.source(i)] * 1_000_000 + 0.5), 1_000_000)
        again = extra > 0 and (phases[i] + epoch) % 1_000_000 * extra % 1_000_000 < extra
        result.append(whole + int(again))
    return result


def lag_correlation_squared(lengths: list[int]) -> float:
    x, y = [v // 8 for v in lengths[:-1]], [v // 8 for v in lengths[1:]]
    n = float(len(x))
    mean_x, mean_y = float(sum(x)) / n, float(sum(y)) / n
    covariance = float(sum(a * b for a, b in zip(x, y, strict=True))) / n - mean_x * mean_y
    variance_x = float(sum(a * a for a in x)) / n - mean_x * mean_x
    variance_y = float(sum(b * b for b in y)) / n - mean_y * mean_y
    if variance_x <= 0.0 or variance_y <= 0.0:
        return 0.0
    return covariance * covariance / (variance_x * variance_y)


Batch = tuple[int, list[int]]


def shuffled_batches(case: Case, batches: list[Batch], edges: list[int]) -> list[Batch]:
    attempts = 1 if len(batches) < 16 else 64
    best: list[int] = []
    least = 2.0
    for attempt in range(attempts):
        order = list(range(len(batches)))
        fisher_yates(Draws(case.seed, "order/batches", case.epoch, attempt), order)
        if attempts == 1:
            return [batches[k] for k in order]
        found = lag_correlation_squared([edges[batches[k][0]] for k in order])
        if found <= 0.0025:
            return [batches[k] for k in order]
        if found < least:
            least, best = found, order
    return [batches[k] for k in best]


def padded_order(case: Case) -> tuple[list[tuple[int, int, int]], list[Batch]]:
    lengths: list[int] = []
    for i, count in enumerate(copies_in(case, 0)):
        lengths += [case.frames(i)] * max(1, count)
    edges = bucket_edges(case, lengths)
    bucket = [next(b for b, edge in enumerate(edges) if case.frames(i) <= edge) for i in range(case.rows)]
    most = 1
    shapes = []
    for b, edge in enumerate(edges):
        most = max([most] + [case.tokens(i) for i in range(case.rows) if bucket[i] == b])
        shapes.append((case.batch_rows(edge), edge, up8(most)))
    times = copies(case)
    batches: list[Batch] = []
    if not case.shuffle:
        return shapes, in_file_order(case, shapes, times)
    pool: list[int] = []
    for b in range(len(edges)):
        for i in range(case.rows):
            if bucket[i] == b:
                pool += [i] * times[i]
        fisher_yates(Draws(case.seed, "order/rows", case.epoch, b), pool)
        while len(pool) >= shapes[b][0]:
            batches.append((b, pool[: shapes[b][0]]))
            pool = pool[shapes[b][0] :]
    if pool and not case.drop_last:
        batches.append((len(edges) - 1, pool))
    return shapes, shuffled_batches(case, batches, edges)


def in_file_order(case: Case, shapes: list[tuple[int, int, int]], times: list[int]) -> list[Batch]:
    batches: list[Batch] = []
    shape, rows = 0, list[int]()
    for i in [row for row in range(case.rows) for _ in range(times[row])]:
        needed = shape
        while shapes[needed][1] < case.frames(i) or shapes[needed][2] < case.tokens(i):
            needed += 1
        if len(rows) + 1 > shapes[needed][0]:
            batches.append((shape, rows))
            shape, rows, needed = 0, [], 0
            while shapes[needed][1] < case.frames(i) or shapes[needed][2] < case.tokens(i):
                needed += 1
        shape = needed
        rows.append(i)
    if rows and (len(rows) == shapes[shape][0] or not case.drop_last):
        batches.append((shape, rows))
    return batches


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
    Case("weights", 20, batch_size=4, max_shapes=2, epoch=2, weights=[2.0, 0.25]),
]


def text_of(case: Case) -> list[str]:
    shapes, batches = padded_order(case)
    weights = ",".join(f"{w:g}" for w in case.weights)
    lines = [
        f"case {case.name} rows={case.rows} batch_frames={case.batch_frames} batch_size={case.batch_size} "
        f"batch_multiple={case.batch_multiple} max_shapes={case.max_shapes} shuffle={case.shuffle} "
        f"drop_last={case.drop_last} seed={case.seed} epoch={case.epoch} weights={weights}"
    ]
    lines += [f"shape {b} {t} {n}" for b, t, n in shapes]
    lines += [f"batch {s} : {' '.join(map(str, rows))}" for s, rows in batches]
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
