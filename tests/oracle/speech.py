"""From a file's samples to those that features are made of: resampling, trimming, levels, gain and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.draws import Draws, hash_of
from tests.oracle.sound_files import Floats, Pcm, Singles, Sound

MINUS_ONE_DBFS = 0.8912509381337456


@dataclass(frozen=True)
class SpeechRule:
    rate_hz: int
    trim_top_db: float | None = None
    level: str = "none"  # rms, peak, lufs
    target: float = 0.0


def resampled(wave: Singles, from_hz: int, to_hz: int) -> Singles:
    """Band-limited interpolation by one transform; zeros beyond both ends."""
    count = (len(wave) * to_hz + from_hz // 2) // from_hz
    step = from_hz // np.gcd(from_hz, to_hz)
    edge = 4096 // step * step + step
    whole = -(-(len(wave) + 2 * edge) // step) * step
    padded = np.zeros(whole)
    padded[edge : edge + len(wave)] = wave
    spectrum = np.fft.rfft(padded)
    size = whole * to_hz // from_hz
    kept = np.zeros(size // 2 + 1, dtype=complex)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    out = np.fft.irfft(kept, size) * (size / whole)
    first = edge * to_hz // from_hz
    return np.asarray(out[first : first + count], dtype=np.float32)


def trimmed(wave: Singles, top_db: float) -> Singles:
    """librosa.effects.trim: frames of 1024 centred every 256, zeros beyond the ends."""
    squares = np.pad(wave.astype(np.float64) ** 2, 512)
    frames = len(wave) // 256 + 1
    power = np.array([squares[256 * i : 256 * i + 1024].sum() / 1024 for i in range(frames)])
    if power.max() == 0:
        return wave[:0]
    least = max(power.max(), 1e-10) * 10.0 ** (-top_db / 10.0)
    spoken = np.nonzero(np.maximum(power, 1e-10) > least)[0]
    return wave[256 * spoken[0] : min(len(wave), 256 * (spoken[-1] + 1))]


def biquad(wave: Floats, b: tuple[float, float, float], a: tuple[float, float]) -> Floats:
    out = np.empty_like(wave)
    z1 = z2 = 0.0
    for i, x in enumerate(wave.tolist()):
        y = b[0] * x + z1
        z1 = b[1] * x - a[0] * y + z2
        z2 = b[2] * x - a[1] * y
        out[i] = y
    return out


def k_weighted(wave: Floats, rate_hz: int) -> Floats:
    """The two filters of BS.1770 from their analogue prototypes."""
    k, q = np.tan(np.pi * 1681.974450955533 / rate_hz), 0.7071752369554196
    high = 10.0 ** (3.999843853973347 / 20.0)
    band = high**0.4996667741545416
    a0 = 1.0 + k / q + k * k
    shelf = ((high + band * k / q + k * k) / a0, 2.0 * (k * k - high) / a0, (high - band * k / q + k * k) / a0)
    wave = biquad(wave, shelf, (2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0))
    k, q = np.tan(np.pi * 38.13547087602444 / rate_hz), 0.5003270373238773
    a0 = 1.0 + k / q + k * k
    return biquad(wave, (1.0, -2.0, 1.0), (2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0))


def integrated_lufs(wave: Singles, rate_hz: int) -> float:
    step = (rate_hz + 5) // 10
    steps = len(wave) // step
    if steps < 4:  # shorter than a block: one block of its own length
        steps, step = 4, -(-len(wave) // 4)
    power = k_weighted(wave.astype(np.float64), rate_hz) ** 2
    means = [power[i * step : (i + 1) * step].sum() / step for i in range(steps)]
    blocks = np.array([sum(means[i : i + 4]) / 4 for i in range(steps - 3)])
    absolute = 10.0 ** ((-70.0 + 0.691) / 10.0)
    loud = blocks[blocks > absolute]
    if len(loud) == 0:
        return -np.inf
    gate = max(absolute, float(loud.mean()) * 0.1)
    return float(-0.691 + 10.0 * np.log10(blocks[blocks > gate].mean()))


def level_gain(wave: Singles, rule: SpeechRule) -> float:
    peak = float(np.abs(wave.astype(np.float64)).max(initial=0.0))
    if rule.level == "none" or peak == 0:
        return 1.0
    if rule.level == "peak":
        return rule.target / peak
    if rule.level == "rms":
        rms = float(np.sqrt((wave.astype(np.float64) ** 2).sum() / len(wave)))
        return float(min(10.0 ** (rule.target / 20.0) / rms, MINUS_ONE_DBFS / peak))
    lufs = integrated_lufs(wave, rule.rate_hz)
    if not np.isfinite(lufs):
        return 1.0
    return float(min(10.0 ** ((rule.target - lufs) / 20.0), MINUS_ONE_DBFS / peak))


def to_pcm16(wave: Singles) -> Pcm:
    """To nearest, ties up, clipped; in single precision."""
    scaled = np.floor(wave * np.float32(32768.0) + np.float32(0.5))
    return np.asarray(np.clip(scaled, -32768.0, 32767.0), dtype=np.int16)


def prepared(sound: Sound, rule: SpeechRule) -> Pcm:
    if sound.rate_hz == rule.rate_hz and rule.trim_top_db is None and rule.level == "none":
        return sound.pcm16()
    wave = sound.singles()
    if sound.rate_hz != rule.rate_hz:
        wave = resampled(wave, sound.rate_hz, rule.rate_hz)
    if rule.trim_top_db is not None:
        wave = trimmed(wave, rule.trim_top_db)
    return to_pcm16(wave * np.float32(level_gain(wave, rule)))


@dataclass
class Augment:
    seed: int
    gain_db: tuple[float, float] = (0.0, 0.0)
    noise_probability: float = 0.0
    snr_db: tuple[float, float] = (10.0, 30.0)
    noises: tuple[Pcm, ...] = ()

    def changed(self, pcm: Pcm, utterance_id: str, epoch: int) -> Pcm:
        item = hash_of(utterance_id)
        gain = 10.0 ** (Draws(self.seed, "gain", epoch, item).between(*self.gain_db) / 20.0)
        share, heard = 0.0, np.zeros(len(pcm), dtype=np.int16)
        draws = Draws(self.seed, "noise", epoch, item)
        if draws.unit() < self.noise_probability and self.noises:
            noise = self.noises[draws.below(len(self.noises))]
            first = int(draws.unit() * len(noise))
            snr_db = draws.between(*self.snr_db)
            heard = noise[(first + np.arange(len(pcm))) % len(noise)]
            share = noise_share(pcm, heard) * 10.0 ** (-snr_db / 20.0) * gain
        scale = np.float32(2.0**-15)
        speech = np.float32(gain) * (pcm.astype(np.float32) * scale)
        return to_pcm16(speech + np.float32(share) * (heard.astype(np.float32) * scale))


def noise_share(speech: Pcm, noise: Pcm) -> float:
    """What brings the noise to the power of the speech; 0 where one of them is silent."""
    speech_power = int((speech.astype(np.int64) ** 2).sum())
    noise_power = int((noise.astype(np.int64) ** 2).sum())
    return float(np.sqrt(speech_power / noise_power)) if speech_power and noise_power else 0.0


def white_noise(seed: int, rate_hz: int) -> Pcm:
    """Ten seconds: four 14-bit draws a sample, two of each 32-bit word."""
    words = philox_words(seed, "white noise", 2 * 10 * rate_hz)
    pairs = (words & 0x3FFF) + (words >> 18)
    return (pairs[0::2] + pairs[1::2] - 2 * 0x3FFF).astype(np.int16)


def philox_words(seed: int, stage: str, count: int) -> NDArray[np.int64]:
    """The first words of the stream (seed, stage, 0, 0), all blocks at once."""
    mixed = seed ^ hash_of(stage)
    k0, k1 = mixed & 0xFFFFFFFF, mixed >> 32
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    blocks = -(-count // 4)
    c: list[NDArray[Any]] = [np.arange(blocks, dtype=np.uint64), *np.zeros((3, blocks), dtype=np.uint64)]
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ np.uint64(k0), p1 & mask, (p0 >> shift) ^ c[3] ^ np.uint64(k1), p0 & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).reshape(-1)[:count].astype(np.int64)
