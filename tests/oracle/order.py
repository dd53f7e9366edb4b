"""Which utterance is in which row: docs/format/order.md once more, slow and obvious."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.buckets import Bucket, OrderSettings, Shape, find_buckets, up8
from tests.oracle.draws import Draws, fisher_yates
from tests.oracle.packed import pack_bins


@dataclass
class Rows:
    """What the order knows of the rows, in index order."""

    frames: list[int]
    tokens: list[int]
    sources: list[int]

    def __len__(self) -> int:
        return len(self.frames)


@dataclass
class Planned:
    """A batch over all ranks: its rows, or those of each bin in the packed layout."""

    shape: Shape
    rows: list[int]
    bins: list[list[int]] = field(default_factory=list)


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
