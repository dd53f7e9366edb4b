"""Bins of the packed layout as docs/format/order.md defines them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LOOK_AHEAD = 256


class PackedSettings(Protocol):
    batch_frames: int
    batch_multiple: int
    shuffle: bool


def up8(value: int) -> int:
    return (value + 7) // 8 * 8


@dataclass
class Room:
    """What a bin still holds."""

    frames: int
    tokens: int
    rows: int


def bin_room(frames: list[int], tokens: list[int], weights: list[float], settings: PackedSettings) -> Room:
    """Frames, tokens and utterances of an empty bin."""
    sum_frames = max(1, int(sum(w * f for w, f in zip(weights, frames, strict=True))))
    sum_tokens = max(1, int(sum(w * t for w, t in zip(weights, tokens, strict=True))))
    sum_rows = max(1, int(sum(weights)))
    bins = settings.batch_multiple
    most = settings.batch_frames // bins // 8 * 8
    needed = sum_frames + sum_frames // 400 + 1
    num_bins = -(-needed // (most * bins)) * bins
    bin_frames = min(most, max(up8(-(-needed // num_bins)), up8(max(frames))))
    bin_tokens = up8(max(*tokens, 1, sum_tokens * bin_frames * 13 // 10 // sum_frames))
    return Room(bin_frames, bin_tokens, up8(2 * bin_frames * sum_rows // sum_frames + 2))


def best_fit(frames: list[int], tokens: list[int], ahead: list[int], room: Room) -> list[int]:
    """Places in `ahead` of the row or the two rows that fill the room best."""
    fitting = sorted(
        (frames[row], place)
        for place, row in enumerate(ahead)
        if room.rows > 0 and frames[row] <= room.frames and tokens[row] <= room.tokens
    )
    if not fitting:
        return []
    best, best_sum = [fitting[-1][1]], fitting[-1][0]
    low, high = 0, len(fitting) - 1
    while low < high and room.rows >= 2:
        while high > low and fitting[low][0] + fitting[high][0] > room.frames:
            high -= 1
        if high == low:
            break
        total = fitting[low][0] + fitting[high][0]
        pair = sorted([fitting[low][1], fitting[high][1]])
        if sum(tokens[ahead[place]] for place in pair) <= room.tokens and total > best_sum:
            best, best_sum = pair, total
        low += 1
    return best


def pack_bins(
    frames: list[int], tokens: list[int], weights: list[float], settings: PackedSettings, order: list[int]
) -> tuple[tuple[int, int, int], list[list[int]]]:
    """The shape of a batch, and the rows of each bin."""
    empty = bin_room(frames, tokens, weights, settings)
    keep_free = 2 * max(frames[row] for row in order) if settings.shuffle else 0
    bins: list[list[int]] = []
    rest = list(order)
    while rest:
        room = Room(empty.frames, empty.tokens, empty.rows)
        taken: list[int] = []

        def take(row: int, room: Room = room, taken: list[int] = taken) -> None:
            taken.append(row)
            room.frames -= frames[row]
            room.tokens -= tokens[row]
            room.rows -= 1

        while rest and room.rows > 0 and tokens[rest[0]] <= room.tokens:
            if room.frames < frames[rest[0]] + keep_free:
                break
            take(rest.pop(0))
        while settings.shuffle:
            places = best_fit(frames, tokens, rest[:LOOK_AHEAD], room)
            if not places:
                break
            for i, place in enumerate(places):
                rest[i], rest[place] = rest[place], rest[i]
                take(rest[i])
            rest = rest[len(places) :]
        bins.append(taken)
    return (settings.batch_multiple, empty.frames, empty.tokens), bins
