#!/usr/bin/env python3
"""Fails when a folder of src/stoker includes what the house does not allow.

The table below is the architecture: a folder may include itself, the folders named here, and what those may include.
Headers of `base` may not show fmt or spdlog, because torch ships another fmt; only `train` may include torch.
"""

import argparse
import re
import sys
from pathlib import Path

ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "config": {"base"},
    "pipeline": {"base"},
    "cuda": {"base"},
    "audio": {"config", "cuda"},
    "text": {"config"},
    "data": {"audio", "text"},
    "cache": {"data"},
    "feed": {"cache", "pipeline"},
    "observe": {"feed"},
    "train": {"observe"},
    "bench": {"observe"},
    "demo": {"bench"},
    "cli": {"demo"},
}
# Who calls the trainer comes through its door, which shows nothing of libtorch.
TRAIN_DOOR = "stoker/train/door/"
TRAIN_CALLERS = {"cli", "bench", "demo", "bindings"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def reachable(folder: str) -> set[str]:
    """The folder itself and everything below it."""
    seen = {folder}
    waiting = [folder]
    while waiting:
        for below in ALLOWED[waiting.pop()]:
            if below not in seen:
                seen.add(below)
                waiting.append(below)
    return seen


def faults_of(path: Path, folder: str, allowed: set[str]) -> list[str]:
    faults: list[str] = []
    for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
        target = match.group(1)
        line = path.read_text(encoding="utf-8").count("\n", 0, match.start(1)) + 1
        where = f"{path}:{line}: includes {target}"
        if target.startswith("stoker/"):
            other = target.split("/")[1]
            through_door = folder in TRAIN_CALLERS and target.startswith(TRAIN_DOOR)
            if other not in allowed and not through_door:
                faults.append(f"{where}, but {folder} may include only {', '.join(sorted(allowed))}")
        elif target.startswith(("fmt/", "spdlog/")) and folder == "base" and path.suffix == ".h":
            faults.append(f"{where}, but headers of base show neither fmt nor spdlog")
        elif target.startswith(("torch/", "ATen/", "c10/")) and folder != "train":
            faults.append(f"{where}, but only train may include libtorch")
    return faults


def check(root: Path) -> list[str]:
    faults: list[str] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if folder.name not in ALLOWED:
            faults.append(f"{folder}: a folder the house does not know; add it to {__file__}")
            continue
        allowed = reachable(folder.name)
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".h", ".cc", ".cu", ".cuh", ".in"}:
                faults += faults_of(path, folder.name, allowed)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent / "src" / "stoker")
    faults = check(parser.parse_args().root)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
