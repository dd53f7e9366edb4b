#!/usr/bin/env python3
"""Decodes every NAME.png of a folder by the PNG rules and compares it with NAME.pixels and NAME.palette."""

import struct
import sys
import zlib
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PALETTE = 3
FILTER_NONE, FILTER_UP = 0, 2


def chunks(png: bytes) -> dict[bytes, bytes]:
    if not png.startswith(SIGNATURE):
        raise ValueError("no PNG signature")
    found: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (crc,) = struct.unpack_from(">I", png, at + 8 + size)
        if crc != zlib.crc32(kind + data):
            raise ValueError(f"chunk {kind!r}: wrong CRC")
        found[kind] = found.get(kind, b"") + data  # pixel data come in several chunks
        at += 12 + size
    return found


def pixels(parts: dict[bytes, bytes]) -> bytes:
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or colour != PALETTE or any(rest) or b"IEND" not in parts:
        raise ValueError("unexpected header")
    row_bytes = width
    rows = zlib.decompress(parts[b"IDAT"])
    if len(rows) != height * (row_bytes + 1):
        raise ValueError("wrong amount of pixel data")
    above = bytes(row_bytes)
    out = bytearray()
    for y in range(height):
        kind, *row = rows[y * (row_bytes + 1) : (y + 1) * (row_bytes + 1)]
        if kind not in (FILTER_NONE, FILTER_UP):
            raise ValueError(f"filter {kind} is not expected")
        if kind == FILTER_UP:
            row = [(a + b) % 256 for a, b in zip(row, above, strict=True)]
        above = bytes(row)
        out += above
    return bytes(out)


def main() -> int:
    pictures = sorted(Path(sys.argv[1]).glob("*.png"))
    for path in pictures:
        parts = chunks(path.read_bytes())
        if pixels(parts) != path.with_suffix(".pixels").read_bytes():
            print(f"{path.name}: other pixels come back")
            return 1
        if parts[b"PLTE"] != path.with_suffix(".palette").read_bytes():
            print(f"{path.name}: other colours come back")
            return 1
    return 0 if pictures else 1


if __name__ == "__main__":
    sys.exit(main())
