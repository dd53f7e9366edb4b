#!/usr/bin/env python3
"""Reads back every NAME.zlib of a folder with Python's zlib and compares it with NAME.raw."""

import sys
import zlib
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    compressed = sorted(folder.glob("*.zlib"))
    for path in compressed:
        if zlib.decompress(path.read_bytes()) != path.with_suffix(".raw").read_bytes():
            print(f"{path.name}: other bytes come back")
            return 1
    return 0 if compressed else 1


if __name__ == "__main__":
    sys.exit(main())
