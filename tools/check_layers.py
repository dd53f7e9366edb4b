#!/usr/bin/env python3
"""Fails when a folder of src/stoker includes what the house does not allow; so for bindings/python and python/stoker.

The tables below are the architecture: a folder may include itself, the folders named here, and what those may include;
so may a room of a folder. The flat files of a folder are above its rooms, except those named in BELOW_ROOMS.
Headers of `base` may not show fmt or spdlog, because torch ships another fmt; only `train` may include torch.
The package python/stoker has no C++, and at the top of its modules imports nothing but itself and Python's own library:
whoever imports stoker waits for neither NumPy nor torch.
"""

import argparse
import ast
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
# Rooms without an order among them, as those of text, are not listed.
ROOMS: dict[str, dict[str, set[str]]] = {
    "base": {"digest": set(), "io": {"digest"}, "report": {"digest"}, "thread": set()},
    "config": {"legacy": set(), "sections": set(), "yaml": set()},
    "audio": {"file": set(), "mel": set(), "augment": {"mel"}, "griffin_lim": {"file", "mel"}},
    "cache": {"format": set(), "read": {"format"}, "build": {"read"}, "maintain": {"build"}},
    "feed": {
        "sampling": set(),
        "records": set(),
        "source": {"sampling", "records"},
        "assembly": {"source"},
        "device": {"assembly"},
        "tuner": set(),
        "baseline": {"source"},
    },
    "train": {
        "checkpoint": set(),
        "model": set(),
        "loop": {"checkpoint", "model"},
        "measure": {"loop"},
        "speech": {"loop"},
        "door": {"measure", "speech"},
    },
}
# Of the flat files of these folders, rooms may include only the ones named.
BELOW_ROOMS: dict[str, set[str]] = {
    "cache": {"errors.h"},
    "train": {"errors.h"},
    "feed": {"batch_counts.h", "errors.h", "fallbacks.h", "feed_state.h"},
}
# Who calls the trainer comes through its door, which shows nothing of libtorch.
TRAIN_DOOR = "stoker/train/door/"
TRAIN_CALLERS = {"cli", "bench", "demo", "bindings"}
# Outside src/stoker: what crosses into Python.
BINDINGS_ALLOWED = {"observe"}
SOURCES = {".h", ".cc", ".cu", ".cuh", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def reachable(start: str, allowed: dict[str, set[str]]) -> set[str]:
    """The folder or room itself and everything below it."""
    seen = {start}
    waiting = [start]
    while waiting:
        for below in allowed[waiting.pop()]:
            if below not in seen:
                seen.add(below)
                waiting.append(below)
    return seen


def room_fault(folder: str, room: str, target: str) -> str | None:
    """What is wrong with a room's include of another file of its folder."""
    parts = target.split("/")[2:]
    if len(parts) == 1:
        below = BELOW_ROOMS.get(folder)
        if below is None or parts[0] in below:
            return None
        return f"rooms of {folder} may include of its flat files only {', '.join(sorted(below))}"
    allowed = reachable(room, ROOMS[folder])
    return None if parts[0] in allowed else f"{folder}/{room} may include only {', '.join(sorted(allowed))}"


def faults_of(path: Path, folder: str, room: str | None, allowed: set[str]) -> list[str]:
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
            elif other == folder and room is not None and (fault := room_fault(folder, room, target)):
                faults.append(f"{where}, but {fault}")
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
        allowed = reachable(folder.name, ALLOWED)
        rooms = ROOMS.get(folder.name)
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SOURCES:
                continue
            parts = path.relative_to(folder).parts
            room = parts[0] if rooms is not None and len(parts) > 1 else None
            if rooms is not None and room is not None and room not in rooms:
                faults.append(f"{path}: a room the house does not know; add it to {__file__}")
            else:
                faults += faults_of(path, folder.name, room, allowed)
    return faults


def bindings_faults(project: Path) -> list[str]:
    allowed = set().union(*(reachable(folder, ALLOWED) for folder in BINDINGS_ALLOWED))
    paths = sorted(path for path in (project / "bindings").rglob("*") if path.suffix in SOURCES)
    return [fault for path in paths for fault in faults_of(path, "bindings", None, allowed)]


def top_imports(tree: ast.Module) -> list[tuple[int, str]]:
    """Line and package of what a module imports whenever it is imported itself."""
    found: list[tuple[int, str]] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name.split(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, (node.module or "stoker").split(".")[0] if node.level == 0 else "stoker"))
    return found


def package_faults(project: Path) -> list[str]:
    own = sys.stdlib_module_names | {"stoker"}
    faults: list[str] = []
    for path in sorted((project / "python").rglob("*")):
        if path.suffix in SOURCES:
            faults.append(f"{path}: C++ belongs to bindings/python")
        elif path.suffix == ".py":
            imported = top_imports(ast.parse(path.read_text(encoding="utf-8")))
            faults += [f"{path}:{line}: imports {name} for everybody" for line, name in imported if name not in own]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", help="a folder like src/stoker; nothing else is checked then")
    parser.add_argument("--project", type=Path, default=Path(__file__).parent.parent, help="the folder that has src")
    options = parser.parse_args()
    if options.root is not None:
        faults = check(options.root)
    else:
        source = options.project / "src" / "stoker"
        faults = check(source) if source.exists() else []
        faults += bindings_faults(options.project) + package_faults(options.project)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
