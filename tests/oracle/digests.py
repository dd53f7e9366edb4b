"""The content digest of a batch as docs/format/order.md defines it, from the arrays that were delivered."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from tests.oracle.expected import Batch, Oracle
from tests.oracle.sound_files import Values
from tests.oracle.xxh3 import xxh3_128

Arrays = dict[str, Values]


def id_bytes(ids: list[str]) -> Iterator[bytes]:
    for each in ids:
        yield struct.pack("<Q", len(each.encode())) + each.encode()


def mel_bytes(values: Values, dtype: str) -> bytes:
    """bf16 is saved as f32 and hashed as its upper half."""
    if dtype != "bf16":
        return np.ascontiguousarray(values).tobytes()
    return (np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype("<u2").tobytes()


def number(value: int) -> bytes:
    return struct.pack("<i", value)


def extra_bytes(oracle: Oracle, at: int, frame_begin: int, found: Arrays, dtype: str) -> Iterator[bytes]:
    """Speaker and language, then what is delivered of reference, segments, audio and named arrays."""
    yield number(int(found["speaker"][at])) + number(int(found["language"][at]))
    if "reference_mel" in found:
        count = int(found["reference_len"][at])
        yield number(count) + mel_bytes(found["reference_mel"][at, :count], dtype)
    if "mel_segment" in found:
        count = min(oracle.segment_frames, int(found["mel_len"][at]))
        yield number(count) + mel_bytes(found["mel_segment"][at, :count], dtype)
        yield found["wav_segment"][at, : count * oracle.recipe.hop].tobytes()
    if "audio" in found:
        count, begin = int(found["audio_len"][at]), frame_begin * oracle.recipe.hop
        yield number(count) + found["audio"].reshape(-1)[begin : begin + count].tobytes()
    for name in ("f0", "codes"):
        if f"array.{name}" in found:
            count = int(found[f"array_len.{name}"][at])
            yield number(count) + np.ascontiguousarray(found[f"array.{name}"][at, :count]).tobytes()


def content_digest(oracle: Oracle, wanted: Batch, found: Arrays, dtype: str, version: int) -> str:
    """Version 1 had neither speaker and language nor what is optional."""
    parts: list[bytes] = []
    flat, tokens = found["mel"].reshape(-1, found["mel"].shape[2]), found["tokens"].reshape(-1)
    for at, row in enumerate(wanted.rows):
        text_len, mel_len = int(found["text_len"][at]), int(found["mel_len"][at])
        parts += id_bytes([str(found["ids"][at])])
        parts.append(number(text_len) + number(mel_len))
        parts.append(tokens[row.token_begin : row.token_begin + text_len].tobytes())
        parts.append(mel_bytes(flat[row.frame_begin : row.frame_begin + mel_len], dtype))
        if version >= 2:
            parts += extra_bytes(oracle, at, row.frame_begin, found, dtype)
    return xxh3_128(b"".join(parts))
