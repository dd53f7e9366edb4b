#!/usr/bin/env python3
"""Runs every check of the source text: formatting, clang-tidy, layers, instructions, words, sizes, ruff, mypy.

clang-tidy is slow, so its verdict on a file is remembered by content: the file, the project headers it includes and
the rules. The memory is in the user's cache folder and serves every clone on the machine.
"""

import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "stoker" / "lint"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
LINE_LIMITS = {"header": 250, "source": 400, "test": 300}


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted({ROOT / name for name in names if name and (ROOT / name).is_file()})


def run(title: str, command: list[str]) -> bool:
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"lint: {title} failed\n{done.stdout}{done.stderr}", file=sys.stderr)
    return done.returncode == 0


def closure(path: Path) -> list[Path]:
    """The file and every project header it reaches, in a stable order."""
    seen: dict[Path, None] = {path: None}
    waiting = [path]
    while waiting:
        text = waiting.pop().read_text(encoding="utf-8")
        for name in INCLUDE.findall(text):
            for base in (ROOT / "src", ROOT):
                header = base / name
                if header.is_file() and header not in seen:
                    seen[header] = None
                    waiting.append(header)
    return sorted(seen)


def content_key(path: Path, rules: bytes) -> str:
    digest = hashlib.sha256(rules)
    for part in closure(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes() + b"\0")
    return digest.hexdigest()


def tidy_one(path: Path, database: Path, rules: bytes) -> str:
    """Empty when clean, else what clang-tidy said."""
    remembered = MEMORY / content_key(path, rules)
    if remembered.exists():
        return ""
    # g++ is told of a warning that clang does not know.
    known = "--extra-arg-before=-Wno-unknown-warning-option"
    command = ["clang-tidy-15", "--quiet", known, "-p", str(database), str(path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        MEMORY.mkdir(parents=True, exist_ok=True)
        remembered.touch()
        return ""
    return done.stdout + done.stderr


def commands_without_pch(build: Path) -> Path:
    """A folder whose compile commands leave out g++'s precompiled header, which clang cannot read."""
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    commands = (build / "compile_commands.json").read_text(encoding="utf-8")
    commands = re.sub(r" -include \S*cmake_pch\.hxx| -Winvalid-pch| -fpch-preprocess", "", commands)
    (folder / "compile_commands.json").write_text(commands, encoding="utf-8")
    return folder


def needs_gpu_torch(path: Path) -> bool:
    """Whether it includes headers that only a libtorch for GPUs has whole."""
    return re.search(r"#include <(ATen|c10)/cuda/", path.read_text(encoding="utf-8")) is not None


def clang_tidy(build: Path, jobs: int) -> bool:
    database = commands_without_pch(build)
    rules = b"".join(path.read_bytes() for path in tracked(".clang-tidy", "*/.clang-tidy"))
    compiled = (database / "compile_commands.json").read_text(encoding="utf-8")
    files = [path for path in tracked("src/*.cc") if str(path) in compiled or not needs_gpu_torch(path)]
    good = True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for said in pool.map(lambda path: tidy_one(path, database, rules), files):
            if said:
                print(said, file=sys.stderr)
                good = False
    return good


def line_limits() -> bool:
    good = True
    for path in tracked("*.h", "*.cuh", "*.cc", "*.cu", "*.py"):
        name = str(path.relative_to(ROOT))
        if "generated" in path.name:
            continue
        kind = "test" if name.startswith("tests/") else "header" if path.suffix in (".h", ".cuh") else "source"
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LINE_LIMITS[kind]:
            print(
                f"lint: {name} has {lines} lines; a {kind} stops at {LINE_LIMITS[kind]}: split it by idea",
                file=sys.stderr,
            )
            good = False
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    sources = [str(path) for path in tracked("*.h", "*.cc", "*.cu", "*.cuh") if "generated" not in path.name]
    scripts = [str(path) for path in tracked("*.py")]
    library = str(options.build / "lib" / "libstoker.so")
    verdicts = [
        run("clang-format", ["clang-format-15", "--dry-run", "--Werror", *sources]),
        run("layers", [sys.executable, "tools/check_layers.py"]),
        run("instructions", [sys.executable, "tools/check_instructions.py", library]),
        run("outputs", [sys.executable, "tools/check_outputs.py"]),
        run("settings", [sys.executable, "tools/check_settings.py"]),
        run("error tests", [sys.executable, "tools/check_error_tests.py"]),
        run("words", [sys.executable, "tools/check_words.py"]),
        line_limits(),
        run("ruff", ["ruff", "check", *scripts]),
        run("ruff format", ["ruff", "format", "--check", *scripts]),
        run("mypy", ["mypy", "--strict", *scripts]),
        clang_tidy(options.build.resolve(), options.jobs),
    ]
    print("lint: clean" if all(verdicts) else "lint: faults found", file=sys.stderr)
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
