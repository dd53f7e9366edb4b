"""The numbers of HiFi-GAN's log-mel, its filter bank, window and padding, for peers that are given them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 22050
FFT_SAMPLES = 1024
HOP_SAMPLES = 256
BANDS = 80
HIGH_HZ = 8000.0
EPSILON = 1e-9
FLOOR = 1e-5
LOG_FLOOR = float(np.log(np.float32(FLOOR)))
EDGE_SAMPLES = (FFT_SAMPLES - HOP_SAMPLES) // 2

Floats = NDArray[np.float32]


def slaney_bank() -> Floats:
    """[bins, bands]: triangles on Slaney's scale, each of area one."""
    top_mel = 15.0 + 27.0 * np.log(HIGH_HZ / 1000.0) / np.log(6.4)
    mel = np.linspace(0.0, top_mel, BANDS + 2)
    edges = np.where(mel < 15.0, 200.0 * mel / 3.0, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))
    bins = np.arange(FFT_SAMPLES // 2 + 1) * RATE_HZ / FFT_SAMPLES
    low, top, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangle = np.maximum(0.0, np.minimum((bins - low) / (top - low), (high - bins) / (high - top)))
    return np.ascontiguousarray((triangle * 2.0 / (high - low)).T, dtype=np.float32)


def hann_window() -> Floats:
    n = np.arange(FFT_SAMPLES)
    return np.asarray(0.5 - 0.5 * np.cos(2.0 * np.pi * n / FFT_SAMPLES), dtype=np.float32)


def padded(mels: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64]]:
    """One batch of mels of unequal length, filled up with silence, and their lengths."""
    frames = np.array([len(mel) for mel in mels])
    batch = np.empty((len(mels), int(frames.max()), BANDS), dtype=np.float32)
    for row, mel in zip(batch, mels, strict=True):
        row[: len(mel)] = mel
        row[len(mel) :] = LOG_FLOOR
    return batch, frames
