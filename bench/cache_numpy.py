#!/usr/bin/env python3
"""Compares cached batches of stoker with NumPy: same values by digest, and speed beside .npy loading.

Runs `stoker bench cache`, exports the same cache to .npy files, computes the digest of one epoch from those files in
the order stoker delivered, and times loading them into padded batches with NumPy.

    python3 bench/cache_numpy.py --stoker build/stoker --work /dev/shm/stoker-bench
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import struct
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import ended, run_stoker

BATCH_ROWS = 64
PADDED_FRAMES = 576
PADDING = -11.512925


class Xxh128(ctypes.Structure):
    """What XXH3_128bits_digest returns."""

    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64))


class Digest:
    """XXH3-128 over pieces, by the system's libxxhash."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("xxhash")
        if name is None:
            raise SystemExit("libxxhash is not installed")
        self._library = ctypes.CDLL(name)
        self._library.XXH3_createState.restype = ctypes.c_void_p
        self._library.XXH3_128bits_digest.restype = Xxh128
        self._state = ctypes.c_void_p(self._library.XXH3_createState())
        self._library.XXH3_128bits_reset(self._state)

    def add(self, piece: bytes) -> None:
        self._library.XXH3_128bits_update(self._state, piece, ctypes.c_size_t(len(piece)))

    def hex(self) -> str:
        value = self._library.XXH3_128bits_digest(self._state)
        return f"{value.high:016x}{value.low:016x}"


def digest_of_files(folder: Path, ids: list[str], dtype: str) -> str:
    """The digest of one epoch from exported files: id, frames and values of each row in order."""
    digest = Digest()
    for name in ids:
        mel: npt.NDArray[np.float32] = np.load(folder / f"{name}.npy")
        text = name.encode()
        digest.add(struct.pack("<Q", len(text)) + text + struct.pack("<I", mel.shape[0]))
        digest.add(mel.astype(dtype).tobytes())
    return digest.hex()


def numpy_clips_per_s(folder: Path, ids: list[str], seconds: float) -> float:
    """Clips a second when NumPy loads .npy files into padded f16 batches."""
    best = 0.0
    at = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        batch = np.full((BATCH_ROWS, PADDED_FRAMES, 80), PADDING, dtype=np.float16)
        start = time.perf_counter()
        for row in range(BATCH_ROWS):
            mel = np.load(folder / f"{ids[at % len(ids)]}.npy")
            batch[row, : mel.shape[0]] = mel
            at += 1
        best = max(best, BATCH_ROWS / (time.perf_counter() - start))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default="build/stoker", help="the program")
    parser.add_argument("--work", type=Path, required=True, help="folder for cache and exported files (3 GB)")
    parser.add_argument("--records", type=int, default=13100)
    parser.add_argument("--seconds", type=float, default=6.0)
    options = parser.parse_args()
    cache = options.work / "cache"
    exported = options.work / "npy"
    options.work.mkdir(parents=True, exist_ok=True)
    order_file = options.work / "order.txt"
    words = ["bench", "cache", "--cache", str(cache), "--records", str(options.records)]
    words += ["--seconds", str(options.seconds), "--order-out", str(order_file)]
    report = run_stoker(options.stoker, *words, tells=False)
    run_stoker(options.stoker, "cache", "export", "--cache", str(cache), "--out", str(exported), tells=False)
    ids = order_file.read_text().split()
    same = {
        kind: digest_of_files(exported / "mel", ids, dtype) == report[f"digest_{kind}"]
        for kind, dtype in (("f16", "<f2"), ("f32", "<f4"))
    }
    numpy_best = numpy_clips_per_s(exported / "mel", ids, min(options.seconds, 5.0))
    rows = report["rows"]
    assert isinstance(rows, list)
    for row in rows:
        ratio = row["clips_per_s"] / numpy_best
        print(
            f"{row['path']:<11} {row['threads']} threads {row['clips_per_s']:>10,.0f} clips/s"
            f" {100 * row['share_of_limit']:>4.0f} % of memcpy {ratio:>6.1f} x numpy .npy"
        )
    print(f"numpy .npy  1 threads {numpy_best:>10,.0f} clips/s")
    print(f"verify      {report['verify_s']:.3f} s for {report['bytes']:,} bytes")
    print(f"digests equal to NumPy's: {same}")
    return 0 if all(same.values()) else 1


if __name__ == "__main__":
    sys.exit(ended(main))
