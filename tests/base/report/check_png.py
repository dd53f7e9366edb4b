#!/usr/bin/env python3
"""Decodes every NAME.png of a folder by the PNG rules and compares the pixels with NAME.pixels."""

import struct
import sys
import zlib
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"
BYTES_PER_PIXEL = {0: 1, 2: 3, 3: 1}
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
        found[kind] = data
        at += 12 + size
    return found


def pixels(png: bytes) -> bytes:
    parts = chunks(png)
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or any(rest) or b"IEND" not in parts:
        raise ValueError("unexpected header")
    if colour == 3 and (len(parts[b"PLTE"]) % 3 != 0 or not parts[b"PLTE"]):
        raise ValueError("bad palette")
    row_bytes = width * BYTES_PER_PIXEL[colour]
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
        if pixels(path.read_bytes()) != path.with_suffix(".pixels").read_bytes():
            print(f"{path.name}: other pixels come back")
            return 1
    return 0 if pictures else 1


if __name__ == "__main__":
    sys.exit(main())
