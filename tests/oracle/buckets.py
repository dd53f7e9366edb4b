"""The buckets of an epoch: the search of docs/format/order.md once more, slow and obvious."""

from __future__ import annotations

from dataclasses import dataclass, field

BEAM = 8
MOST_CLASSES = 320


@dataclass
class OrderSettings:
    batch_frames: int = 40000
    batch_size: int = 0
    batch_multiple: int = 1
    max_shapes: int = 48
    shuffle: bool = True
    drop_last: bool = False
    packed: bool = False
    seed: int = 42
    weights: list[float] = field(default_factory=lambda: [1.0])

    def most_rows(self, frames: int) -> int:
        wanted = self.batch_size or self.batch_frames // frames
        return max(self.batch_multiple, wanted // self.batch_multiple * self.batch_multiple)

    def num_fractional(self) -> int:
        return sum(1 for weight in self.weights if int(weight * 1_000_000 + 0.5) % 1_000_000 > 0)


Shape = tuple[int, int, int]


def up8(value: int) -> int:
    return (value + 7) // 8 * 8


@dataclass
class Bucket:
    """Rows not longer than its frames; `spills`: what fills no batch goes into the next longer one."""

    frames: int
    batch_rows: int
    spills: bool


@dataclass
class Choice:
    cost: int
    leftover: int
    at_least: int
    begin: int
    parent: int
    bucket: Bucket | None


def offer(beam: list[Choice], choice: Choice) -> None:
    if len(beam) == BEAM and choice.at_least >= beam[-1].at_least:
        return
    for i, other in enumerate(beam):
        if other.leftover == choice.leftover:
            if other.at_least <= choice.at_least:
                return
            del beam[i]
            break
    del beam[BEAM - 1 :]
    at = len(beam)
    while at > 0 and beam[at - 1].at_least > choice.at_least:
        at -= 1
    beam.insert(at, choice)


def class_end(frames: int, grid: int) -> int:
    step = 8
    while frames > step * grid:
        step *= 2
    return (max(frames, 1) + step - 1) // step * step


def length_classes(lengths: dict[int, int]) -> tuple[list[int], list[int]]:
    """The ends of the classes that occur, and how many rows each has in epoch 0."""
    grid = 256
    while True:
        counts: dict[int, int] = {}
        for frames, rows in lengths.items():
            end = class_end(frames, grid)
            counts[end] = counts.get(end, 0) + rows
        if len(counts) <= MOST_CLASSES or grid == 1:
            return sorted(counts), [counts[end] for end in sorted(counts)]
        grid //= 2


def extended(settings: OrderSettings, before: Choice, begin: int, parent: int, own: int, frames: int) -> list[Choice]:
    """The choice `before` with one bucket more, which spills or does not."""
    most, multiple = settings.most_rows(frames), settings.batch_multiple
    cost = before.cost + most * frames
    rows = before.leftover + own
    left = rows % most
    spilling = Choice(
        cost + (rows - left) * 36 * frames,
        left,
        cost + rows * 36 * frames,
        begin,
        parent,
        Bucket(frames, most, True),
    )
    fractional = settings.num_fractional()
    planned = rows
    if fractional > 0 and settings.drop_last:
        planned = max(own - fractional, 0)
    elif fractional > 0:
        spilled = before.bucket.batch_rows - 1 if before.bucket and before.bucket.spills else 0
        planned = own + fractional + spilled
    if planned == 0:
        return [spilling]
    batches = -(-planned // most)
    if settings.batch_size > 0:
        batch_rows = min(most, -(-planned // multiple) * multiple)
    elif settings.drop_last:
        batch_rows = planned // batches // multiple * multiple
    else:
        in_each = -(-planned // batches)
        batch_rows = -(-in_each // multiple) * multiple
    if batch_rows == 0:
        return [spilling]
    cost += batches * (32 * batch_rows + 4 * most) * frames
    cost += max(rows - batches * batch_rows, 0) * 36 * frames
    return [spilling, Choice(cost, 0, cost, begin, parent, Bucket(frames, batch_rows, False))]


def allowed(settings: OrderSettings, choice: Choice, rows: int, is_last: bool) -> bool:
    assert choice.bucket is not None
    keeps_size = settings.batch_size > 0 and settings.drop_last
    if not choice.bucket.spills:
        return not keeps_size
    return keeps_size if is_last else rows >= choice.bucket.batch_rows


def find_buckets(settings: OrderSettings, lengths: dict[int, int]) -> list[Bucket]:
    ends, counts = length_classes(lengths)
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    cells = len(ends) + 1
    levels: list[list[list[Choice]]] = [[[] for _ in range(cells)]]
    levels[0][0] = [Choice(0, 0, 0, 0, 0, None)]
    best_level, best_cost = 0, 2**64
    for level in range(1, min(settings.max_shapes, len(ends)) + 1):
        levels.append([[] for _ in range(cells)])
        for end in range(1, cells):
            for begin in range(end - 1, -1, -1):
                own = sums[end] - sums[begin]
                for parent, before in enumerate(levels[level - 1][begin]):
                    for choice in extended(settings, before, begin, parent, own, ends[end - 1]):
                        if allowed(settings, choice, before.leftover + own, end == cells - 1):
                            offer(levels[level][end], choice)
        last = levels[level][cells - 1]
        if last and last[0].at_least < best_cost:
            best_level, best_cost = level, last[0].at_least
    if best_level == 0:
        return [Bucket(ends[-1], settings.most_rows(ends[-1]), False)]
    found: list[Bucket] = []
    cell, index = cells - 1, 0
    for level in range(best_level, 0, -1):
        choice = levels[level][cell][index]
        assert choice.bucket is not None
        found.append(choice.bucket)
        cell, index = choice.begin, choice.parent
    return found[::-1]
