"""Which utterance is in which row: docs/format/order.md once more, slow and obvious."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.draws import Draws, fisher_yates
from tests.oracle.packed import pack_bins

BEAM = 8


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

    def batch_rows(self, frames: int) -> int:
        wanted = self.batch_size or self.batch_frames // frames
        return max(self.batch_multiple, wanted // self.batch_multiple * self.batch_multiple)


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


def bucket_edges(settings: OrderSettings, lengths: list[int]) -> list[int]:
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
    for level in range(1, min(settings.max_shapes, len(classes)) + 1):
        levels.append([[] for _ in range(cells)])
        for end in range(1, cells):
            frames, rows_per = classes[end - 1], settings.batch_rows(classes[end - 1])
            for begin in range(end):
                for parent, cut in enumerate(levels[level - 1][begin]):
                    rows = cut.leftover + before[end] - before[begin]
                    left = rows % rows_per
                    padded = cut.padded + (rows - left) * frames
                    full_last = end == cells - 1 and left > 0 and not settings.drop_last
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


def padded_shapes(rows: Rows, settings: OrderSettings) -> list[Shape]:
    lengths: list[int] = []
    for i, count in enumerate(copies_in(rows, settings, 0)):
        lengths += [rows.frames[i]] * max(1, count)
    edges = bucket_edges(settings, lengths)
    most = 1
    shapes = []
    for edge in edges:
        most = max([most] + [rows.tokens[i] for i in range(len(rows)) if rows.frames[i] <= edge])
        shapes.append((settings.batch_rows(edge), edge, up8(most)))
    return shapes


def padded_epoch(rows: Rows, settings: OrderSettings, epoch: int) -> list[Planned]:
    shapes = padded_shapes(rows, settings)
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
    if pool and not settings.drop_last:
        batches.append(Planned(shapes[-1], pool))
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
