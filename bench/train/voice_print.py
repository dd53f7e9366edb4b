"""Whose voice is it? A statistic of a clip, fitted on some speakers' recordings and then fixed, by which the clips
of other speakers are told apart. NumPy alone.

Of a clip: the mean over its loud frames of log-mel less each frame's own mean (so level does not count), and median
and spread of the logarithm of its pitch. Distances are measured in the space in which clips of one speaker scatter
alike in all directions (linear discriminant analysis); the scatter is that of the speakers it was fitted on.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

LOUD_SHARE = 0.6  # of the frames, the loudest
WINDOW_SAMPLES, HOP_SAMPLES = 1024, 512
LOWEST_HZ, HIGHEST_HZ = 70.0, 320.0
LEAST_CORRELATION = 0.6  # of a frame that has a pitch
NEARLY_HIGHEST = 0.9
SHRINKAGE = 0.05
NUM_BANDS = 40  # neighbouring mels are taken together
PITCH = NUM_BANDS  # its logarithm, among the values of a statistic


class NoSpeech(ValueError):
    """The clip has too few frames with a pitch."""


def read_wav(path: Path) -> tuple[Array, int]:
    with wave.open(str(path), "rb") as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise ValueError(f"{path}: expected mono PCM16, found {file.getnchannels()} channels")
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return samples.astype(np.float64) / 32768.0, file.getframerate()


def pitches_hz(samples: Array, rate_hz: int) -> Array:
    """Of each voiced frame, by the first peak of its autocorrelation that is about as high as the highest: behind it
    are the peaks of two periods and more."""
    if len(samples) < WINDOW_SAMPLES:
        return np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW_SAMPLES)[::HOP_SAMPLES]
    window = np.hanning(WINDOW_SAMPLES)
    spectrum = np.abs(np.fft.rfft((frames - frames.mean(1, keepdims=True)) * window, 2 * WINDOW_SAMPLES)) ** 2
    correlation = np.fft.irfft(spectrum)[:, :WINDOW_SAMPLES]
    own = np.fft.irfft(np.abs(np.fft.rfft(window, 2 * WINDOW_SAMPLES)) ** 2)[:WINDOW_SAMPLES]
    correlation = correlation / np.maximum(correlation[:, :1], 1e-9) / (own / own[0])  # without the window's own fall
    first, last = int(rate_hz / HIGHEST_HZ), int(rate_hz / LOWEST_HZ)
    inside = correlation[:, first:last]
    is_peak = (inside >= correlation[:, first - 1 : last - 1]) & (inside >= correlation[:, first + 1 : last + 1])
    peak = first + (is_peak & (inside >= NEARLY_HIGHEST * inside.max(1, keepdims=True))).argmax(1)
    row = np.arange(len(peak))
    before, at, behind = (correlation[row, peak + step] for step in (-1, 0, 1))
    bend = before - 2 * at + behind
    shift = np.where(np.abs(bend) > 1e-9, 0.5 * (before - behind) / np.where(np.abs(bend) > 1e-9, bend, 1.0), 0.0)
    energy = correlation_energy(frames)
    is_voiced = (at > LEAST_CORRELATION) & (energy > 0.05 * energy.max()) & (np.abs(shift) < 1)
    return np.asarray(rate_hz / (peak + shift)[is_voiced])


def correlation_energy(frames: Array) -> Array:
    return np.asarray((frames**2).mean(1))


def statistic(mel: Array, wav: Path) -> Array:
    """[frames, mels] in log magnitudes, and the sound that they are of."""
    loudness = np.asarray(mel, dtype=np.float64).mean(1)
    loud = np.asarray(mel, dtype=np.float64)[loudness >= np.quantile(loudness, 1 - LOUD_SHARE)]
    colour = (loud - loud.mean(1, keepdims=True)).mean(0)
    bands = colour.reshape(NUM_BANDS, -1).mean(1)
    pitches = np.log(pitches_hz(*read_wav(wav)))
    if len(pitches) < 5:
        raise NoSpeech(f"{wav}: expected speech, found {len(pitches)} frames with a pitch")
    low, middle, high = np.quantile(pitches, [0.2, 0.5, 0.8])
    return np.concatenate([bands, [middle, high - low]])


class VoicePrint:
    """Fitted once; `place` is where a clip is in the space of voices."""

    def __init__(self, clips: Array, speakers: npt.NDArray[np.int64]) -> None:
        names = np.unique(speakers)
        centres = np.stack([clips[speakers == name].mean(0) for name in names])
        rest = clips - centres[np.searchsorted(names, speakers)]
        scale = np.sqrt((rest**2).mean(0))
        within = (rest / scale).T @ (rest / scale) / max(1, len(clips) - len(names))
        within = (1 - SHRINKAGE) * within + SHRINKAGE * np.eye(len(within))
        values, vectors = np.linalg.eigh(within)
        whiten = vectors / np.sqrt(values)
        # Of the directions in which speakers differ, those in which they differ more than clips of one do.
        between = (centres - centres.mean(0)) / scale @ whiten
        _, spread, axes = np.linalg.svd(between / np.sqrt(len(names) - 1), full_matrices=False)
        self._project = (whiten @ axes[spread > 1.0].T) / scale[:, None]
        self.num_axes = int((spread > 1.0).sum())

    def place(self, clips: Array) -> Array:
        return np.asarray(clips @ self._project)


def nearest(place: Array, centres: Array) -> int:
    return int(((centres - place) ** 2).sum(1).argmin())


def left_out_accuracy(places: Array, speakers: npt.NDArray[np.int64]) -> float:
    """Share of clips that are nearest to their own speaker's centre, made from that speaker's other clips."""
    names = np.unique(speakers)
    right = 0
    for index, name in enumerate(speakers):
        others = np.arange(len(places)) != index
        centres = np.stack([places[others & (speakers == each)].mean(0) for each in names])
        right += int(names[nearest(places[index], centres)] == name)
    return right / len(places)
