"""Every option that takes a path, tried with every odd path under a time limit: an answer or an error with a code.

As root the same is run again as an ordinary user, for whom permissions mean something.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect

TIME_LIMIT_S = 100
NOBODY = 65534
LONGEST_NAME = 255
WORDS: list[bytes] = [
    *[b"", b".", b"..", b"/", b"//", b"nx", b"nx/", b"nx/a/b", b"./nx2", b"nx//b", b"~", b"~/x", b"~root", b"a/../b"],
    *[b"-", b" ", b"a b", b"a\nb", b"a\tb", b"a\x01b", b"\x1b[31m", b"\xff\xfe", b"x\xc3", b"caf\xc3\xa9", b"\xd8\xb5"],
    *[b"%s%n", b"$(x)", b"*", b"a=b", b"a,b", b"'", b'"', b"{}", b"null", b"@x", b"\\", b"../sibling"],
    *[b"n" * LONGEST_NAME, b"n" * (LONGEST_NAME + 1), b"n" * 4096, b"n" * 70_000, b"a/" * 2040 + b"x", b"a/" * 3000],
]
# Things in the working folder of every run; `kind` must be the same afterwards.
THINGS: list[bytes] = [
    *[b"file", b"file/x", b"folder", b"folder/", b"folder/.", b"fifo", b"loop", b"loop/x", b"dangling", b"to-file"],
    *[b"to-folder", b"shut", b"shut/x", b"read-only/x", b"device"],
]


def make_things(folder: Path) -> None:
    """One of each kind of thing that a path may lead to."""
    (folder / "file").write_text("text\n")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    for name, target in {"loop": "loop", "dangling": "later/x", "to-file": "file", "to-folder": "folder"}.items():
        (folder / name).symlink_to(target)
    (folder / "shut").mkdir(mode=0o000)
    (folder / "read-only").mkdir(mode=0o555)
    if os.geteuid() == 0:
        # A node of its own: the machine's /dev/null is not put at risk.
        os.mknod(folder / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        os.mkfifo(folder / "device")


def kinds(folder: Path) -> dict[str, int]:
    names = ["file", "folder", "fifo", "loop", "dangling", "to-file", "to-folder", "shut", "read-only", "device"]
    return {name: stat.S_IFMT((folder / name).lstat().st_mode) for name in names}


@dataclass
class Option:
    """A command line with one path left open."""

    name: str
    command: Callable[[bytes], list[bytes | str]]
    values: list[bytes]


def setting(name: str) -> Callable[[bytes], list[bytes | str]]:
    return lambda value: ["config", "show", "--set", name.encode() + b"=" + value]


def option(*command: str, name: str) -> Callable[[bytes], list[bytes | str]]:
    return lambda value: [*command, name.encode() + b"=" + value]


def argument(*command: str) -> Callable[[bytes], list[bytes | str]]:
    return lambda value: [*command, "--", value]


def config_file(folder: Path) -> Callable[[bytes], list[bytes | str]]:
    """The value as cache.dir of a settings file; what YAML cannot carry goes by --set."""

    def command(value: bytes) -> list[bytes | str]:
        path = folder / "settings.yaml"
        text = value.decode("utf-8", "replace").replace("\\", "\\\\").replace('"', '\\"')
        text = "".join(c if c >= " " else f"\\x{ord(c):02x}" for c in text)
        path.write_text(f'cache:\n  dir: "{text}"\n', encoding="utf-8")
        return ["config", "check", str(path)]

    return command


def options(data: Path, wav: Path, folder: Path, share: int) -> list[Option]:
    """The first few take the whole list; of the rest each takes every `share`-th value, beginning elsewhere."""
    feed = ["stream", "--data", str(data), "--device", "cpu", "--batches", "1", "--num-workers", "0"]
    feed += ["--preprocessing-mode", "runtime"]
    whole = {
        "config check": config_file(folder),
        "cache.dir": setting("cache.dir"),
        "data.path": setting("data.path"),
        "data split --out": option("data", "split", str(data), name="--out"),
        "reference --out": option("config", "reference", "errors", name="--out"),
    }
    some = {
        "--config": option("config", "show", name="--config"),
        "data check": argument("data", "check"),
        "data info": argument("data", "info"),
        "data check --rejects": option("data", "check", str(data), name="--rejects"),
        "data check --audio-root": option("data", "check", str(data), name="--audio-root"),
        "data info --svg": option("data", "info", str(data), name="--svg"),
        "data make --out": option("data", "make", "--clips", "1", name="--out"),
        "migrate": argument("config", "migrate"),
        "migrate --out": option("config", "migrate", str(folder / "old.yaml"), name="--out"),
        "features": argument("features"),
        "features --out": option("features", str(wav), name="--out"),
        "features --plot": option("features", str(wav), name="--plot"),
        "features folder": option("features", str(wav), str(wav), name="--out"),
        "precompute --data": option("precompute", name="--data"),
        "precompute --cache": option("precompute", "--data", str(data), name="--cache"),
        "precompute --rejects": option("precompute", "--data", str(data), name="--rejects"),
        "verify --cache": option("verify", "--data", str(data), name="--cache"),
        "cache info": option("cache", "info", name="--cache"),
        "cache import": option("cache", "import", str(data), name="--cache"),
        "cache export": option("cache", "export", "--data", str(data), name="--out"),
        "state in": option(*feed, name="--state-in"),
        "state out": option(*feed, name="--state-out"),
        "stream --rejects": option(*feed, name="--rejects"),
        "replay": option("bench", "feed", "--data", str(data), name="--replay-tuner"),
    }
    all_values = WORDS + THINGS
    rotated = [Option(name, some[name], all_values[i % share :: share]) for i, name in enumerate(some)]
    return [Option(name, command, all_values) for name, command in whole.items()] + rotated


def try_option(program: Path, each: Option, root: Path) -> int:
    """Runs all values of one option in a working folder of its own; returns how many."""
    folder = Path(tempfile.mkdtemp(dir=root)) / "work"
    folder.mkdir()
    make_things(folder)
    before = kinds(folder)
    for value in each.values:
        command = [os.fsencode(word) for word in [str(program), *each.command(value)]]
        shown = f"{each.name} with {value[:80]!r}"
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIME_LIMIT_S,
                check=False,
                env={**os.environ, "HOME": str(root), "XDG_CACHE_HOME": str(root / "cache")},
            )
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{shown}: no end after {TIME_LIMIT_S} s") from late
        said = done.stderr.decode("utf-8", "replace")
        expect(0 <= done.returncode <= 7, f"{shown}: exit {done.returncode}\n{said}")
        expect(done.returncode in (0, 1) or "error[E-" in said, f"{shown}: no error line\n{said}")
        expect(kinds(folder) == before, f"{shown}: a thing of another kind is there now\n{said}")
    return len(each.values)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Removed by rm: Python's own way recurses, and paths of 2,000 folders were made here."""
    root = Path(tempfile.mkdtemp())
    try:
        yield root
    finally:
        for path in root.glob("*/work/shut"):
            path.chmod(0o755)
        subprocess.run(["rm", "-rf", str(root)], check=False)


def run_all(program: Path, share: int) -> None:
    with scratch_folder() as root:
        stoker = Stoker(program, root)
        stoker.make_data(2)
        (root / "old.yaml").write_text("data:\n  batch_size: 4\n")
        wav = next((stoker.data / "wavs").iterdir())
        all_options = options(stoker.data, wav, root, share)
        with ThreadPoolExecutor(2) as pool:
            tried = sum(pool.map(lambda each: try_option(program, each, root), all_options))
    print(f"{tried} command lines over {len(all_options)} options as user {os.geteuid()}", flush=True)


def run_as_nobody(program: Path, share: int) -> int:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    os.chdir("/")
    try:
        subprocess.run([str(program), "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as refused:
        print(f"skipped as an ordinary user, who cannot run the program here: {refused}", flush=True)
        return 0
    try:
        run_all(program, share)
    except Exception as fault:
        print(fault, file=sys.stderr, flush=True)
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--share", type=int, default=6, help="Every how manyth value most options take")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    run_all(program, arguments.share)
    if os.geteuid() != 0:
        return 0
    # A copy of this process rather than a new one: the ordinary user may not be let into Python's own folder.
    child = os.fork()
    if child == 0:
        os._exit(run_as_nobody(program, 2 * arguments.share))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
