"""Sound files of known samples, and the PCM16 and float samples that docs/guide/your-data.md makes of them."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pcm = NDArray[np.int16]
Singles = NDArray[np.float32]
Values = NDArray[Any]

# Bits a sample and WAV format tag; FLAC is written apart.
FORMS = {
    "wav8": (8, 1),
    "wav16": (16, 1),
    "wav24": (24, 1),
    "wav32": (32, 1),
    "float32": (32, 3),
    "float64": (64, 3),
    "stereo16": (16, 1),
    "other_rate": (16, 1),
}


@dataclass
class Sound:
    """Stored numbers [samples, channels]: integers of so many bits, or floats."""

    stored: NDArray[np.int64] | Floats
    bits: int
    rate_hz: int

    @property
    def is_integer(self) -> bool:
        return np.issubdtype(self.stored.dtype, np.integer)

    @property
    def full_scale(self) -> float:
        return 2.0 ** (self.bits - 1) if self.is_integer else 1.0

    def cut(self, first: int, count: int) -> Sound:
        return Sound(self.stored[first : first + count], self.bits, self.rate_hz)

    def pcm16(self) -> Pcm:
        """What is read where nothing is to be prepared."""
        if self.is_integer and self.stored.shape[1] == 1:
            value = self.stored[:, 0].astype(np.int64)
            kept = value << (16 - self.bits) if self.bits < 16 else value >> (self.bits - 16)
            return np.asarray(kept, dtype=np.int16)
        mean = self.stored.astype(np.float64).sum(axis=1) / self.stored.shape[1] / self.full_scale
        return np.asarray(np.floor(np.clip(mean * 32768.0, -32768.0, 32767.0) + 0.5), dtype=np.int16)

    def singles(self) -> Singles:
        """What is read where samples are resampled, trimmed or levelled."""
        if self.is_integer and self.stored.shape[1] == 1:
            scale = np.float32(1.0 / self.full_scale)
            return np.asarray(self.stored[:, 0].astype(np.float32) * scale)
        mean = self.stored.astype(np.float64).sum(axis=1) / self.stored.shape[1] / self.full_scale
        return np.asarray(mean, dtype=np.float32)


def store(form: str, wave: Floats, rate_hz: int) -> Sound:
    """The wave in -1..1 as the numbers a file of this form holds."""
    if form.startswith("float"):
        kept = wave.astype(np.float32).astype(np.float64) if form == "float32" else wave
        return Sound(kept[:, None], FORMS[form][0], rate_hz)
    bits = FORMS[form][0] if form in FORMS else 16
    limit = 2 ** (bits - 1)
    whole = np.clip(np.round(wave * limit), -limit, limit - 1).astype(np.int64)
    if form != "stereo16":
        return Sound(whole[:, None], bits, rate_hz)
    other = np.roll(whole, 1) + np.arange(len(whole)) % 3
    return Sound(np.stack([whole, np.clip(other, -limit, limit - 1)], axis=1), bits, rate_hz)


def wav_payload(sound: Sound) -> bytes:
    flat = sound.stored.reshape(-1)
    if not sound.is_integer:
        return flat.astype("<f4" if sound.bits == 32 else "<f8").tobytes()
    if sound.bits == 8:
        return (flat + 128).astype(np.uint8).tobytes()
    if sound.bits == 24:
        wide = flat.astype("<i4").view(np.uint8).reshape(-1, 4)
        return wide[:, :3].tobytes()
    return flat.astype(f"<i{sound.bits // 8}").tobytes()


def write_wav(path: Path, sound: Sound) -> None:
    channels = sound.stored.shape[1]
    step = channels * sound.bits // 8
    payload = wav_payload(sound)
    head = struct.pack(
        "<HHIIHH", 1 if sound.is_integer else 3, channels, sound.rate_hz, sound.rate_hz * step, step, sound.bits
    )
    payload_part = b"data" + struct.pack("<I", len(payload)) + payload + b"\0" * (len(payload) % 2)
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(head)) + head + payload_part
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def crc(data: bytes, bits: int, polynomial: int) -> int:
    value, top = 0, 1 << (bits - 1)
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & (2 * top - 1)
    return value


def crc16_table() -> list[int]:
    return [crc(bytes([byte]), 16, 0x8005) for byte in range(256)]


CRC16 = crc16_table()


def flac_crc16(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8 & 0xFFFF) ^ CRC16[value >> 8 ^ byte]
    return value


def flac_frame(number: int, samples: Pcm) -> bytes:
    """One verbatim frame of one channel; block size and rate are read from the ends of the header."""
    head = bytes([0xFF, 0xF8, 0x70, 0x08, number]) + struct.pack(">H", len(samples) - 1)
    head += bytes([crc(head, 8, 0x07)])
    body = head + b"\x02" + samples.astype(">i2").tobytes()
    return body + struct.pack(">H", flac_crc16(body))


def write_flac(path: Path, sound: Sound) -> None:
    samples = sound.stored[:, 0].astype(np.int16)
    block = 4096
    frames = [flac_frame(i // block, samples[i : i + block]) for i in range(0, len(samples), block)]
    packed = sound.rate_hz << 44 | 0 << 41 | 15 << 36 | len(samples)
    info = struct.pack(">HH", block, block) + b"\0" * 6 + packed.to_bytes(8, "big")
    info += hashlib.md5(samples.astype("<i2").tobytes()).digest()
    path.write_bytes(b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info + b"".join(frames))


def write_sound(path: Path, form: str, sound: Sound) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if form == "flac":
        write_flac(path, sound)
    else:
        write_wav(path, sound)
