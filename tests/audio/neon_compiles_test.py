#!/usr/bin/env python3
"""Compiles the log-mel kernels for ARM, so that the NEON back end cannot rot on machines that are not ARM.

    neon_compiles_test.py SOURCE_FOLDER HIGHWAY_INCLUDE_FOLDER

Leaves with 77, which CTest counts as skipped, where no cross compiler is installed.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILERS = ("aarch64-linux-gnu-g++", "aarch64-linux-gnu-g++-12", "aarch64-linux-gnu-g++-13")
FLAGS = ("-std=c++20", "-O1", "-DHWY_SHARED_DEFINE", "-Wall", "-Wextra", "-Werror", "-Wno-psabi")


def main() -> int:
    source, highway = Path(sys.argv[1]), Path(sys.argv[2])
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        print(f"skipped: none of {', '.join(COMPILERS)} is installed")
        return 77
    if not (highway / "hwy" / "highway.h").is_file():
        print(f"skipped: no Highway headers in {highway}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        # Only Highway's own headers: those of this machine's C library are not ARM's.
        (Path(folder) / "hwy").symlink_to(highway / "hwy")
        target = Path(folder) / "kernels.o"
        kernels = source / "stoker" / "audio" / "log_mel_cpu.cc"
        command = [compiler, *FLAGS, "-isystem", folder, f"-I{source}", "-c", str(kernels), "-o", str(target)]
        if subprocess.run(command, check=False).returncode != 0:
            return 1
        if b"N_NEON" not in target.read_bytes():
            print("the object has no NEON kernels")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
