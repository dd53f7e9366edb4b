#!/usr/bin/env python3
"""Installs wheels into empty environments in a fresh Debian root, without network, and uses them there.

    tests/python/wheel_root_test.py WHEEL …        `make wheel` runs it; too slow for `make test`

The root has Debian 12's smallest set of packages and python3; it is made once with debootstrap and kept in the user's
cache folder. Interpreters that Debian 12 does not have are mounted into it from pyenv. Exits with 77 where no root can
be made.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stoker"
ROOT = CACHE / "debian-root-12"
SKIPPED = 77
# Every library of the process but Debian's C and C++ runtime and Python's own must be from the wheel.
USE = """
import re, sys, time
begin = time.perf_counter()
import stoker
import_ms = 1000 * (time.perf_counter() - begin)
with stoker.Feed("demo/data", batch_size=4, seed=7, **{"cache.dir": "cache"}) as feed:
    num_rows = sum(len(batch.ids) for batch in feed)
    shape = tuple(next(iter(feed)).mel.shape)
assert num_rows > 0 and len(shape) == 3 and shape[2] == 80, (num_rows, shape)
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
runtime = r"lib(c|m|dl|rt|pthread|util|gcc_s|stdc\\+\\+)\\.so|ld-linux|/python3|/\\.pyenv/"
foreign = {path for path in loaded if "/site-packages/stoker" not in path and not re.search(runtime, path)}
python_own = r"lib(z|expat|bz2|lzma|ffi|ssl|crypto|uuid|mpdec)\\.so"
foreign = {path for path in foreign if not re.search(python_own, path)}
assert not foreign, sorted(foreign)
print(f"import {import_ms:.0f} ms, {num_rows} rows, mel {shape}")
"""


def say(text: str) -> None:
    print(f"wheel root: {text}", file=sys.stderr, flush=True)


def skip(text: str) -> None:
    say(f"skipped: {text}")
    sys.exit(SKIPPED)


def make_root() -> None:
    """A root that is whole has the name; one that is being made has another."""
    if ROOT.exists():
        return
    if shutil.which("debootstrap") is None:
        skip("no debootstrap; apt-get install debootstrap")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="debian-root-") as folder:
        begin = time.monotonic()
        made = Path(folder) / "root"
        command = ["debootstrap", "--variant=minbase", "--include=python3,python3-venv", "bookworm", str(made)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"debootstrap failed:\n{done.stdout[-2000:]}")
        made.rename(ROOT)
        say(f"made {ROOT} in {time.monotonic() - begin:.0f} s")


def python_for(version: str) -> tuple[str, Path | None]:
    """The interpreter's path inside the root, and the folder that has to be mounted for it."""
    if (ROOT / f"usr/bin/python{version}").exists():
        return f"/usr/bin/python{version}", None
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*"))
    if not found:
        raise LookupError(f"no Python {version} for it")
    return str(found[-1] / "bin" / f"python{version}"), found[-1]


def run_inside(work: str, mounted: Path | None, script: str) -> str:
    """What the script printed: alone with the root, in namespaces without network and with processes of its own."""
    root = shlex.quote(str(ROOT))
    mounts = [f"mount -t proc proc {root}/proc", f"mount --bind /dev {root}/dev"]
    if mounted is not None:
        place = shlex.quote(f"{ROOT}{mounted}")
        mounts.append(f"mkdir -p {place} && mount --bind {shlex.quote(str(mounted))} {place}")
    inner = f"set -e; cd {work}; {script}"
    clean = "env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin LANG=C.UTF-8"
    outer = " && ".join([*mounts, f"exec chroot {root} {clean} /bin/sh -c {shlex.quote(inner)}"])
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--", "/bin/sh", "-c", outer]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr + done.stdout


def try_wheel(wheel: Path, work: Path) -> str:
    digits = re.search(r"-cp3(\d+)-", wheel.name)
    assert digits is not None, wheel.name
    python, mounted = python_for(f"3.{digits[1]}")
    shutil.copy(wheel, work)
    (work / "use.py").write_text(USE, encoding="utf-8")
    script = f"""
      {python} -m venv env
      env/bin/pip install -q --no-index --disable-pip-version-check ./{wheel.name}
      env/bin/stoker --version
      env/bin/python -m stoker demo --out demo
      env/bin/python use.py
    """
    said = run_inside("/" + str(work.relative_to(ROOT)), mounted, script)
    if not (work / "demo" / "report.html").exists():
        raise RuntimeError(f"the demo wrote no report.html\n{said}")
    if len(re.findall(r"^ +training +left out$", said, re.MULTILINE)) != 1:
        raise RuntimeError(f"expected one line that training is left out\n{said}")
    return said.strip().splitlines()[-1]


def main() -> int:
    if os.geteuid() != 0:
        skip("a root folder can be entered only by root")
    make_root()
    failed = False
    for wheel in map(Path, sys.argv[1:]):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(dir=ROOT / "tmp") as folder:
            try:
                figures = try_wheel(wheel, Path(folder))
            except (RuntimeError, LookupError) as error:
                failed = True
                say(f"{wheel.name}: {error}")
                continue
        say(f"{wheel.name}: {figures}; {time.monotonic() - begin:.0f} s in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
