#!/usr/bin/env python3
"""Writes data/torch_error.csv: how far torch's float32 log-mel is from float64 on tones, clicks and noise.

    venv/bin/python tests/golden/make_torch_error.py        (the environment of make_mel_golden.py)

Signals are made of integers alone, so that torch_error_test.cc makes the same ones. Columns: preset, signal, the
largest difference, the largest where the linear mel is above 1e-3, the mean over all cells.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from reference_mel import PRESETS, Array, compress, filterbank, frames_of, spectrum_values, triangles, window_values

SAMPLES = 3000
SINE = [round(32767.0 * np.sin(2.0 * np.pi * i / 441.0)) for i in range(441)]


def noise(seed: int) -> list[int]:
    """Even between -16384 and 16383."""
    state, values = seed, []
    for _ in range(SAMPLES):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(((state >> 48) - 32768) >> 1)
    return values


def wandering(steps: list[int]) -> list[int]:
    """Most of the power at low frequencies."""
    level, values = 0, []
    for step in steps:
        level += (step >> 4) - (level >> 6)
        values.append(level)
    return values


def sine(place: int) -> int:
    return int(SINE[place % 441])


def each(value: Callable[[int], int]) -> list[int]:
    return [value(n) for n in range(SAMPLES)]


def signals() -> dict[str, list[int]]:
    one, two, three, four = noise(1), noise(2), noise(3), noise(4)
    return {
        "tone": each(lambda n: sine(20 * n) >> 1),
        "loud tone": each(lambda n: sine(9 * n)),
        "faint tone": each(lambda n: sine(17 * n) >> 8),
        "high tone": each(lambda n: sine(150 * n) >> 1),
        "two tones": each(lambda n: (sine(10 * n) + sine(11 * n)) * 14000 >> 15),
        "harmonics": each(lambda n: sum(sine(5 * k * n) for k in range(1, 9)) >> 3),
        "tone on an offset": each(lambda n: 12000 + (sine(13 * n) >> 2)),
        "swelling tone": each(lambda n: sine(20 * n) * (sine(n) + 32768) >> 17),
        "dying tone": each(lambda n: sine(20 * n) >> n // 250),
        "tone in a little noise": each(lambda n: (sine(20 * n) >> 1) + (one[n] >> 11)),
        "chirp": each(lambda n: sine(n * n >> 7) * 22000 >> 15),
        "square": each(lambda n: 16000 if n // 50 % 2 == 0 else -16000),
        "full-scale square": each(lambda n: 32767 if n // 37 % 2 == 0 else -32768),
        "saw": each(lambda n: 500 * (n % 97) - 24000),
        "step": each(lambda n: 20000 if n > 1500 else 0),
        "offset": each(lambda n: -32768),
        "clicks": each(lambda n: 29000 if n % 1100 == 0 else 0),
        "impulse": each(lambda n: 32767 if n == 1400 else 0),
        "silence": each(lambda n: 0),
        "noise": one,
        "other noise": two,
        "noise between silences": each(lambda n: three[n] if 900 <= n < 2100 else 0),
        "burst": each(lambda n: 2 * four[n] if 1300 <= n < 1600 else 0),
        "faint noise": each(lambda n: two[n] >> 12),
        "last bit": each(lambda n: three[n] >> 14),
        "wandering": wandering(one),
        "other wandering": wandering(four),
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
    lines = ["preset,signal,largest,largest_loud,mean\n"]
    for preset in ("hifigan", "tacotron2", "myxtts"):
        triangle, norm = triangles(PRESETS[preset])
        bank = (triangle * norm).T  # in float64: rounding the filters is an error, torch's as anyone's
        for name, values in signals().items():
            samples: NDArray[np.float64] = np.array(values) / 32768.0
            linear = spectrum_values(PRESETS[preset], samples) @ bank
            off = np.abs(torch_mel(preset, samples) - compress(PRESETS[preset], linear))
            loud = off[linear > 1e-3]
            cells = (off.max(), loud.max() if loud.size else 0.0, off.mean())
            lines.append(f"{preset},{name},{','.join(f'{cell:.9e}' for cell in cells)}\n")
    target = Path(__file__).resolve().parent / "data" / "torch_error.csv"
    target.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
