"""Which utterance is in which row: docs/format/order.md once more, slow and obvious."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.draws import Draws, fisher_yates
from tests.oracle.packed import pack_bins

BEAM = 8
MOST_CLASSES = 320


@dataclass
class Rows:
    """What the order knows of the rows, in index order."""

    frames: list[int]
    tokens: list[int]
    sources: list[int]

    def __len__(self) -> int:
        return len(self.frames)


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


@dataclass
class Planned:
    """A batch over all ranks: its rows, or those of each bin in the packed layout."""

    shape: Shape
    rows: list[int]
    bins: list[list[int]] = field(default_factory=list)


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
        batch_rows = -(-(-(-planned // batches)) // multiple) * multiple
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


def copies_in(rows: Rows, settings: OrderSettings, epoch: int) -> list[int]:
    """How often each row comes in an epoch."""
    phases = [0] * len(rows)
    used = [0] * len(settings.weights)
    for i in sorted(range(len(rows)), key=lambda row: rows.frames[row]):
        phases[i] = used[rows.sources[i]]
        used[rows.sources[i]] += 1
    result = []
    for i in range(len(rows)):
        whole, extra = divmod(int(settings.weights[rows.sources[i]] * 1_000_000 + 0.5), 1_000_000)
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


def shuffled_batches(settings: OrderSettings, epoch: int, batches: list[Planned]) -> list[Planned]:
    attempts = 1 if len(batches) < 16 else 64
    best: list[int] = []
    least = 2.0
    for attempt in range(attempts):
        order = list(range(len(batches)))
        fisher_yates(Draws(settings.seed, "order/batches", epoch, attempt), order)
        if attempts == 1:
            return [batches[k] for k in order]
        found = lag_correlation_squared([batches[k].shape[1] for k in order])
        if found <= 0.0025:
            return [batches[k] for k in order]
        if found < least:
            least, best = found, order
    return [batches[k] for k in best]


def padded_buckets(rows: Rows, settings: OrderSettings) -> list[Bucket]:
    lengths: dict[int, int] = {}
    for i, count in enumerate(copies_in(rows, settings, 0)):
        if int(settings.weights[rows.sources[i]] * 1_000_000 + 0.5) > 0:
            lengths[rows.frames[i]] = lengths.get(rows.frames[i], 0) + count
    buckets = find_buckets(settings, lengths)
    if settings.shuffle:
        return buckets
    multiple = settings.batch_multiple
    all_rows = -(-(sum(lengths.values()) + settings.num_fractional()) // multiple) * multiple
    for bucket in buckets:
        bucket.batch_rows = settings.most_rows(bucket.frames)
        if not settings.drop_last:
            bucket.batch_rows = min(bucket.batch_rows, all_rows)
    return buckets


def padded_shapes(rows: Rows, settings: OrderSettings) -> list[Shape]:
    return shapes_of(rows, padded_buckets(rows, settings))


def shapes_of(rows: Rows, buckets: list[Bucket]) -> list[Shape]:
    most = 1
    shapes = []
    for bucket in buckets:
        most = max([most] + [rows.tokens[i] for i in range(len(rows)) if rows.frames[i] <= bucket.frames])
        shapes.append((bucket.batch_rows, bucket.frames, up8(most)))
    return shapes


def padded_epoch(rows: Rows, settings: OrderSettings, epoch: int) -> list[Planned]:
    buckets = padded_buckets(rows, settings)
    shapes = shapes_of(rows, buckets)
    times = copies_in(rows, settings, epoch)
    if not settings.shuffle:
        return in_file_order(rows, settings, shapes, times)
    batches: list[Planned] = []
    pool: list[int] = []
    for b, shape in enumerate(shapes):
        shorter = shapes[b - 1][1] if b > 0 else -1
        for i in range(len(rows)):
            if shorter < rows.frames[i] <= shape[1]:
                pool += [i] * times[i]
        fisher_yates(Draws(settings.seed, "order/rows", epoch, b), pool)
        while len(pool) >= shape[0]:
            batches.append(Planned(shape, pool[: shape[0]]))
            pool = pool[shape[0] :]
        if not buckets[b].spills:
            if pool and not settings.drop_last:
                batches.append(Planned(shape, pool))
            pool = []
    return shuffled_batches(settings, epoch, batches)


def in_file_order(rows: Rows, settings: OrderSettings, shapes: list[Shape], times: list[int]) -> list[Planned]:
    def smallest(members: list[int]) -> Shape:
        most_frames = max(rows.frames[i] for i in members)
        most_tokens = max(rows.tokens[i] for i in members)
        return next(shape for shape in shapes if shape[1] >= most_frames and shape[2] >= most_tokens)

    batches: list[Planned] = []
    members: list[int] = []
    for i in [row for row in range(len(rows)) for _ in range(times[row])]:
        if members and len(members) + 1 > smallest([*members, i])[0]:
            batches.append(Planned(smallest(members), members))
            members = []
        members = [*members, i]
    if members and (len(members) == smallest(members)[0] or not settings.drop_last):
        batches.append(Planned(smallest(members), members))
    return batches


def packed_epoch(rows: Rows, settings: OrderSettings, epoch: int) -> list[Planned]:
    times = copies_in(rows, settings, epoch)
    order = [i for i in range(len(rows)) for _ in range(times[i])]
    if settings.shuffle:
        fisher_yates(Draws(settings.seed, "order/rows", epoch, 0), order)
    weights = [settings.weights[source] for source in rows.sources]
    shape, bins = pack_bins(rows.frames, rows.tokens, weights, settings, order)
    count = settings.batch_multiple
    whole = len(bins) // count * count if settings.drop_last else -(-len(bins) // count) * count
    bins = (bins + [[] for _ in range(count)])[:whole]
    return [
        Planned(shape, [row for each in bins[at : at + count] for row in each], bins[at : at + count])
        for at in range(0, whole, count)
    ]


def plan_epoch(rows: Rows, settings: OrderSettings, epoch: int) -> list[Planned]:
    return packed_epoch(rows, settings, epoch) if settings.packed else padded_epoch(rows, settings, epoch)
