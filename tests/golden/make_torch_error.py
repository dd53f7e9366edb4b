#!/usr/bin/env python3
"""Writes data/torch_error.csv: how far torch's float32 log-mel is from float64 on tones, clicks and noise.

    venv/bin/python tests/golden/make_torch_error.py        (the environment of make_mel_golden.py)

Signals are made of integers alone, so that torch_error_test.cc makes the same ones. Columns: preset, signal, the
largest difference where the linear mel is above 1e-3, the mean over all cells.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from reference_mel import PRESETS, Array, compress, filterbank, frames_of, linear_mel, window_values

SAMPLES = 5000
SINE = [round(32767.0 * np.sin(2.0 * np.pi * i / 441.0)) for i in range(441)]


def noise() -> list[int]:
    state, values = 1, []
    for _ in range(SAMPLES):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(((state >> 48) - 32768) >> 1)
    return values


def each(value: Callable[[int], int]) -> list[int]:
    return [value(n) for n in range(SAMPLES)]


def signals() -> dict[str, list[int]]:
    return {
        "tone": each(lambda n: SINE[20 * n % 441] >> 1),
        "loud tone": each(lambda n: SINE[9 * n % 441]),
        "two tones": each(lambda n: (SINE[10 * n % 441] + SINE[11 * n % 441]) * 14000 >> 15),
        "chirp": each(lambda n: SINE[(n * n >> 7) % 441] * 22000 >> 15),
        "square": each(lambda n: 16000 if n // 50 % 2 == 0 else -16000),
        "clicks": each(lambda n: 29000 if n % 1250 == 0 else 0),
        "noise": noise(),
    }


def torch_mel(preset: str, samples: Array) -> Array:
    recipe = PRESETS[preset]
    frames = torch.from_numpy(frames_of(recipe, samples).astype(np.float32))
    window = torch.from_numpy(window_values(recipe).astype(np.float32))
    spectrum = torch.fft.rfft(frames * window)
    magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2 + recipe.epsilon)
    mel = magnitude @ torch.from_numpy(filterbank(recipe).astype(np.float32)).T
    return np.asarray(mel.clamp(min=recipe.floor).log().numpy(), dtype=np.float64)


def main() -> None:
    torch.set_num_threads(1)
    lines = ["preset,signal,largest_loud,mean\n"]
    for preset in ("hifigan", "tacotron2", "myxtts"):
        for name, values in signals().items():
            samples: NDArray[np.float64] = np.array(values) / 32768.0
            linear = linear_mel(PRESETS[preset], samples)
            off = np.abs(torch_mel(preset, samples) - compress(PRESETS[preset], linear))
            loud = off[linear > 1e-3]
            lines.append(f"{preset},{name},{loud.max() if loud.size else 0.0:.3e},{off.mean():.3e}\n")
    target = Path(__file__).resolve().parent / "data" / "torch_error.csv"
    target.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
