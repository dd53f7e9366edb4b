"""The sizes of the model that training races against, and its batches, made in memory: lengths are those of LJSpeech,
rows of a batch are of nearly equal length as the feed's buckets make them, and every token has a sound of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

FRAME_RATE_HZ = 22050 / 256
TOKENS_A_FRAME = 0.187  # characters of the built-in voice
NUM_UTTERANCES = 13_100
# Share of utterances, and the length in seconds that they are shorter than.
LENGTHS_S = (
    (0.0, 1.11), (0.05, 2.55), (0.1, 3.35), (0.2, 4.6), (0.3, 5.45), (0.4, 6.2), (0.5, 6.9), (0.6, 7.5), (0.7, 8.1),
    (0.8, 8.65), (0.9, 9.25), (0.95, 9.6), (1.0, 10.1),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    num_tokens: int = 96
    num_mels: int = 80
    text_width: int = 256
    text_layers: int = 6
    text_heads: int = 4
    decoder_width: int = 512
    decoder_layers: int = 8
    decoder_heads: int = 8
    decoder_frames: int = 1  # that share one place of the decoder
    num_latents: int = 32
    reference_frames: int = 258


SHAPES = {
    "tiny": Shape(
        text_width=160, text_layers=4, decoder_width=128, decoder_layers=3, decoder_heads=2, decoder_frames=2,
        num_latents=8,
    ),
    "small": Shape(text_width=192, text_layers=4, decoder_width=288, decoder_layers=6, decoder_heads=4),
    "normal": Shape(),
}  # fmt: skip


class Batch(NamedTuple):
    tokens: Tensor  # i64 [B, X], without the edges
    text_len: Tensor  # i64 [B]
    mel: Tensor  # f32 [B, Y, M], normalised
    mel_len: Tensor  # i64 [B]


@dataclass(frozen=True)
class BatchSize:
    """Either so many frames, padding counted, or so many rows."""

    frames: int = 0
    rows: int = 0

    def name(self) -> str:
        return f"{self.frames} frames" if self.frames else f"{self.rows} rows"


def draw_lengths(seed: int) -> list[int]:
    """Frames of each utterance of a data set, ascending."""
    generator = random.Random(seed)
    found = []
    for _ in range(NUM_UTTERANCES):
        share = generator.random()
        upper = next(i for i in range(1, len(LENGTHS_S)) if share < LENGTHS_S[i][0] or i == len(LENGTHS_S) - 1)
        (low, low_s), (high, high_s) = LENGTHS_S[upper - 1], LENGTHS_S[upper]
        found.append(round((low_s + (high_s - low_s) * (share - low) / (high - low)) * FRAME_RATE_HZ))
    return sorted(found)


def bucket_lengths(size: BatchSize, count: int, seed: int = 1) -> list[list[int]]:
    """`count` batches from the bucket in which half of all frames are in shorter ones; its utterances are shuffled. A
    data set of 48 shapes has about as many buckets, so a bucket is a forty-eighth of the frames."""
    lengths = draw_lengths(seed)
    total, sums = sum(lengths), 0
    bucket = []
    for length in lengths:
        sums += length
        if 0.5 - 1 / 96 <= sums / total <= 0.5 + 1 / 96:
            bucket.append(length)
    rows = size.rows or size.frames // max(bucket)
    random.Random(seed).shuffle(bucket)
    if len(bucket) < rows:
        raise RuntimeError(f"expected {rows} utterances of nearly equal length for a batch, found {len(bucket)}")
    return [[bucket[(start * rows + i) % len(bucket)] for i in range(rows)] for start in range(count)]


def make_batch(shape: Shape, lengths: list[int], padded: int, seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    book = torch.randn(shape.num_tokens, shape.num_mels, generator=torch.Generator().manual_seed(7))
    mel_len = torch.tensor(lengths)
    text_len = (mel_len * TOKENS_A_FRAME).long().clamp_min(1)
    longest = int(padded * TOKENS_A_FRAME) + 1
    tokens = torch.randint(0, shape.num_tokens, (len(lengths), longest), generator=generator)
    place = torch.arange(padded)[None] * text_len[:, None] // mel_len[:, None]
    mel = book[tokens.gather(1, place.clamp_max(longest - 1))]
    mel = 0.8 * mel + 0.3 * torch.randn(mel.shape, generator=generator)
    return Batch(tokens, text_len, mel, mel_len)


def make_batches(shape: Shape, size: BatchSize, count: int) -> list[Batch]:
    """All of one shape."""
    rows = bucket_lengths(size, count)
    longest = max(max(row) for row in rows)
    padded = (longest + 7) // 8 * 8
    return [make_batch(shape, row, padded, seed) for seed, row in enumerate(rows)]


def step_flops(shape: Shape, batch: Batch) -> float:
    """Operations of a training step's products, padding counted, forward and twice as many backward."""
    rows, frames = batch.mel.shape[:2]
    tokens = batch.tokens.shape[1] + 2
    crop = min(shape.reference_frames, frames // 2)
    width, wide = shape.text_width, shape.decoder_width
    places = -(-frames // shape.decoder_frames)
    sequence = tokens + shape.num_latents
    reference = 5 * width * (crop * shape.num_mels + crop // 2 * width) + crop * width * width
    reference += 2 * shape.num_latents * width * (width + crop // 2)
    text = shape.text_layers * (12 * sequence * width * width + 2 * sequence * sequence * width)
    text += tokens * width * (11 * width + 4 * shape.num_mels)
    decoder = shape.decoder_layers * (12 * places * wide * wide + 2 * places * places * wide + 6 * wide * wide)
    decoder += 2 * places * shape.decoder_frames * shape.num_mels * wide
    decoder += tokens * shape.decoder_frames * wide * (shape.num_mels + width) + 4 * wide * wide
    search = 3 * tokens * frames * shape.num_mels
    return float(rows * (6 * (reference + text + decoder) + 2 * search))
