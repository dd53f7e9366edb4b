"""The log-mel of an utterance with the interval that SIGNAL's tolerance allows, and rounding to number formats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.golden.reference_mel import PRESETS, Array, Recipe, compress, filterbank, linear_mel
from tests.oracle.sound_files import Pcm

# Computed in f32 by the feed: docs/guide/which-mel.md gives the bounds. All others are f64 up to the last rounding.
SINGLE_PRECISION = ("hifigan", "tacotron2", "myxtts")

# What the linear mel may differ by where soxr and the ideal resampler round samples apart, end their bands and so reach
# other peaks: by so much in each bin of a band, a share of the frame's loudest (of powers), and a share of itself.
NEAR = {1: (1e-3, 0.0, 6e-3), 2: (5e-3, 1e-3, 1.2e-2)}  # by the recipe's power


@dataclass
class Mel:
    """[frames, mels]: no value delivered may be outside."""

    low: Array
    high: Array

    @property
    def num_frames(self) -> int:
        return len(self.low)


def num_frames(recipe: Recipe, samples: int) -> int:
    if recipe.fit:
        samples = recipe.fit
    if recipe.framing == "same":
        count = (samples + (recipe.n_fft - recipe.hop) // 2 * 2 - recipe.n_fft) // recipe.hop + 1
    elif recipe.framing == "center":
        count = samples // recipe.hop + 1
    elif recipe.framing == "pad_end":
        count = -(-samples // recipe.hop)
    else:
        count = (samples - recipe.win) // recipe.hop + 1
    return count - recipe.drop_last


def padding_value(recipe: Recipe) -> float:
    """Silence: the floor after logarithm and finish."""
    if recipe.finish == "min_max" or not recipe.log:
        return 0.0
    value = np.log(recipe.floor) if recipe.log == "ln" else np.log10(recipe.floor)
    return float((value + 4.0) / 4.0 if recipe.finish == "whisper" else value)


def mel_of(preset: str, pcm: Pcm, is_near: bool = False, all_single: bool = False) -> Mel:
    """`is_near`: the samples themselves are a resampler's, and so is what the linear mel may differ by."""
    recipe = PRESETS[preset]
    linear = linear_mel(recipe, pcm.astype(np.float64) / 32768.0)
    single = all_single or preset in SINGLE_PRECISION
    loudest = linear.max(axis=1, keepdims=True)
    slack: Array | None = None
    if is_near:
        absolute, of_loudest, of_itself = NEAR[recipe.power]
        weights = np.maximum(filterbank(recipe).sum(axis=1), 0.2)
        slack = absolute * weights + of_loudest * loudest + of_itself * linear
    if not recipe.log:
        allowed = (2e-6 if single else 1e-6) * loudest + 1e-9 + (0.0 if slack is None else slack)
        return Mel(linear - allowed, linear + allowed)
    value = compress(recipe, linear)
    steps = np.where(linear > 1e-3, 1e-4, np.where(linear > 3e-4, 3e-4, 5e-3)) if single else np.full_like(linear, 4e-6)
    if slack is not None:
        floor = recipe.floor
        upper = np.log(np.maximum(linear + slack, floor)) - np.log(np.maximum(linear, floor))
        lower = np.log(np.maximum(linear, floor)) - np.log(np.maximum(linear - slack, floor))
        steps = steps + np.maximum(upper, lower)
        steps = np.broadcast_to(steps.max(), steps.shape) if recipe.finish == "min_max" else steps
    return Mel(value - steps, value + steps)


def to_bf16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)


def rounded(values: Array | NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    """To nearest even; f16 saturates."""
    single = np.asarray(values, dtype=np.float32)
    if dtype == "f16":
        return np.clip(single, -65504.0, 65504.0).astype(np.float16).astype(np.float32)
    return to_bf16(single) if dtype == "bf16" else single
