"""Reads an archive of ZipStore by Python's zipfile: names, bytes, checksums, and that nothing is compressed."""

import sys
import zipfile
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    with zipfile.ZipFile(folder / "whole.zip") as archive:
        if archive.testzip() is not None:
            print("a checksum differs")
            return 1
        members = archive.infolist()
        if [member.filename for member in members] != ["first.npy", "empty.npy", "third.npy"]:
            print([member.filename for member in members])
            return 1
        for member in members:
            wanted = (folder / member.filename).read_bytes()
            if archive.read(member) != wanted or member.compress_type != zipfile.ZIP_STORED:
                print(f"{member.filename} differs")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
