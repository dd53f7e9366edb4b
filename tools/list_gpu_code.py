"""Lists the GPU architectures that a library holds code for.

nvcc leaves its output in the section .nv_fatbin: blocks of entries, each machine code (a cubin) or PTX for one
architecture. Reading them here needs no CUDA toolkit, so that a release can be checked where it was not built.
"""

import argparse
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK_MAGIC = struct.pack("<I", 0xBA55ED50)
BLOCK = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of the entries
ENTRY = struct.Struct("<HHIQIIHHI")  # kind, version, bytes of this header, of the code, 4 of no interest, architecture
KINDS = {1: "ptx", 2: "sm"}


def entries_of(library: bytes) -> Iterator[tuple[str, int]]:
    """Kind and architecture of every entry, e.g. ("sm", 90)."""
    at = library.find(BLOCK_MAGIC)
    while at >= 0:
        _, _, header_bytes, size_bytes = BLOCK.unpack_from(library, at)
        entry, end = at + header_bytes, at + header_bytes + size_bytes
        while entry + ENTRY.size <= min(end, len(library)):
            kind, _, header_bytes, code_bytes, *_, architecture = ENTRY.unpack_from(library, entry)
            if kind not in KINDS or header_bytes < ENTRY.size:
                break  # these bytes only look like the magic
            yield KINDS[kind], architecture
            entry += header_bytes + code_bytes
        at = library.find(BLOCK_MAGIC, at + len(BLOCK_MAGIC))


def wanted_entries(architectures: list[str]) -> set[tuple[str, int]]:
    """What CMake's list promises: "90-real" is machine code, "120" is machine code and PTX."""
    wanted = set()
    for architecture in architectures:
        if not architecture[0].isdigit():
            continue  # "native", "all": the compiler decides
        number = int(architecture.split("-")[0].rstrip("af"))
        if not architecture.endswith("-virtual"):
            wanted.add(("sm", number))
        if not architecture.endswith("-real"):
            wanted.add(("ptx", number))
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared_object", type=Path)
    parser.add_argument(
        "--expect", nargs="*", default=[], help="as in CMAKE_CUDA_ARCHITECTURES; exit 1 if one is missing"
    )
    arguments = parser.parse_args()
    counts: dict[tuple[str, int], int] = {}
    for entry in entries_of(arguments.shared_object.read_bytes()):
        counts[entry] = counts.get(entry, 0) + 1
    for (kind, architecture), count in sorted(counts.items()):
        print(f"{kind}_{architecture}: {count} objects")
    missing = sorted(wanted_entries(arguments.expect) - counts.keys())
    for kind, architecture in missing:
        print(f"no {kind}_{architecture} in {arguments.shared_object}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
