"""Compressed copies of a data set, written with libsndfile: what makes decoding dear."""

from __future__ import annotations

import ctypes
import ctypes.util
import shutil
import wave
from pathlib import Path

WRITE = 0x20
FORMATS = {"flac": 0x170000 | 0x0002, "ogg": 0x200000 | 0x0060}  # FLAC of 16 bits, Vorbis
BLOCK_FRAMES = 4096  # libsndfile's Vorbis encoder overflows its stack on longer ones


class CannotEncodeError(RuntimeError):
    """The library is not here or does not know the format."""


class SoundInfo(ctypes.Structure):
    """SF_INFO of sndfile.h."""

    _fields_ = (
        ("frames", ctypes.c_int64),
        ("samplerate", ctypes.c_int),
        ("channels", ctypes.c_int),
        ("format", ctypes.c_int),
        ("sections", ctypes.c_int),
        ("seekable", ctypes.c_int),
    )


def library() -> ctypes.CDLL:
    name = ctypes.util.find_library("sndfile")
    if name is None:
        raise CannotEncodeError("libsndfile is not here")
    loaded = ctypes.CDLL(name)
    loaded.sf_open.restype = ctypes.c_void_p
    loaded.sf_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(SoundInfo)]
    loaded.sf_writef_short.restype = ctypes.c_int64
    loaded.sf_writef_short.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    loaded.sf_close.argtypes = [ctypes.c_void_p]
    return loaded


def encode(sndfile: ctypes.CDLL, source: Path, target: Path, ending: str) -> None:
    with wave.open(str(source), "rb") as sound:
        rate, frames = sound.getframerate(), sound.getnframes()
        samples = sound.readframes(frames)
    info = SoundInfo(0, rate, 1, FORMATS[ending], 0, 0)
    handle = sndfile.sf_open(str(target).encode(), WRITE, ctypes.byref(info))
    if not handle:
        raise CannotEncodeError(f"libsndfile does not write {ending}")
    for first in range(0, frames, BLOCK_FRAMES):
        block = samples[2 * first : 2 * (first + BLOCK_FRAMES)]
        sndfile.sf_writef_short(handle, block, len(block) // 2)
    sndfile.sf_close(handle)


def compressed_copy(source: Path, target: Path, ending: str) -> None:
    """An LJSpeech folder with files of that ending in the place of WAV files."""
    sndfile = library()
    shutil.rmtree(target, ignore_errors=True)
    (target / "wavs").mkdir(parents=True)
    for wav in sorted((source / "wavs").glob("*.wav")):
        encode(sndfile, wav, target / "wavs" / f"{wav.stem}.{ending}", ending)
    lines = (source / "metadata.csv").read_text(encoding="utf-8").splitlines()
    changed = []
    for line in lines:
        name, rest = line.split("|", 1)
        changed.append(f"{name}.{ending}|{rest}")
    (target / "metadata.csv").write_text("\n".join(changed) + "\n", encoding="utf-8")
