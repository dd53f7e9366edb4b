"""The commands that fault tests disturb, the data they run on, and what a disturbed run may leave behind."""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What docs/reference/errors.md lists; 1 is the verdict of a check that found something.
DOCUMENTED_EXITS = {0, 1, 2, 3, 4, 5, 7}
TIME_LIMIT_S = 60.0
HANG = -1
# Times, and who filled a batch, differ between two undisturbed runs. What a run did without is told in the others; what
# it delivers nevertheless is compared.
UNSTEADY = {"seconds", "clips_per_s", "first_batch_s", "open_s", "fills", "stages", "generation"}
UNSTEADY |= {"fallbacks", "warnings", "unread"}
NUM_CLIPS = 6


@dataclass(frozen=True)
class Command:
    """One run of the program. {data} {cache} {out} {arrays} {wav} {id} are filled in."""

    name: str
    arguments: str
    start: str = ""  # the cache it starts from: built, damaged, or none
    builds: bool = False  # it may change the cache; the others must leave each byte alone
    checks: bool = False  # exit 1 says that something was found
    explains: bool = False  # its report says what could not be read


COMMANDS = [
    Command("data check", "data check {data} --rejects {out}/rejects.jsonl --bad-inputs fail --num-workers 2"),
    Command("precompute", "precompute --data {data} --cache {cache} --num-workers 2", builds=True),
    Command("precompute again", "precompute --data {data} --cache {cache} --num-workers 2", "built", builds=True),
    Command("precompute damaged", "precompute --data {data} --cache {cache} --num-workers 2", "damaged", builds=True),
    Command("verify", "verify --data {data} --cache {cache} --num-workers 2", "built", checks=True),
    Command(
        "verify --fix",
        "verify --data {data} --cache {cache} --num-workers 2 --fix",
        "damaged",
        builds=True,
        checks=True,
    ),
    Command("verify --sources", "verify --data {data} --cache {cache} --num-workers 2 --sources", "built", checks=True),
    Command(
        "stream cached",
        "stream --data {data} --cache {cache} --device cpu --num-workers 2 --batch-size 2"
        " --preprocessing-mode precompute --state-out {out}/state",
        "built",
    ),
    Command(
        "stream runtime",
        "stream --data {data} --cache {cache} --device cpu --num-workers 2 --batch-size 2 --preprocessing-mode runtime",
    ),
    Command(
        "stream auto",
        "stream --data {data} --cache {cache} --device cpu --num-workers 2 --batch-size 2 --preprocessing-mode auto",
        builds=True,
    ),
    Command("cache info", "cache info --cache {cache}", "built"),
    Command("cache export", "cache export --cache {cache} --out {out}/x", "built"),
    Command(
        "cache import", "cache import --array pitch={arrays} --data {data} --cache {cache}", builds=True, checks=True
    ),
    Command("cache explain", "cache explain {id} --data {data} --cache {cache}", "built", explains=True),
    Command("features", "features {wav} --out {out}/f.npy --plot {out}/f.png"),
    Command("text", "text twelve+12"),
    Command("config show", "config show"),
]
FAIL_AT_BAD_ROWS = ["--set", "data.bad_inputs=fail"]


@dataclass
class Run:
    """What one run gave."""

    exit_code: int
    report: dict[str, Any]
    said: str
    files: dict[str, bytes]  # below {out}
    cache: dict[str, bytes]


@dataclass
class World:
    """Data, caches and the undisturbed run of every command."""

    program: Path
    folder: Path
    expected: dict[str, Run] = field(default_factory=dict)
    caches: dict[str, dict[str, bytes]] = field(default_factory=dict)  # by command that builds

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def make(self) -> None:
        """Data, a good cache, a damaged one, and arrays to import."""
        lengths = ["--lengths", "uniform:0.6-1.0", "--seed", "7"]
        self.stoker("data", "make", "--out", str(self.data), "--clips", str(NUM_CLIPS), "--speakers", "2", *lengths)
        built = self.folder / "built"
        precompute = ["precompute", "--data", str(self.data), "--cache", str(built), "--num-workers", "2"]
        self.stoker(*precompute, *FAIL_AT_BAD_ROWS)  # as every run: config.yaml has the settings of the last build
        self.stoker("cache", "export", "--cache", str(built), "--out", str(self.folder / "exported"))
        damaged = self.folder / "damaged"
        shutil.copytree(built, damaged)
        shard = damaged / "shard-00000.stk"
        content = bytearray(shard.read_bytes())
        content[len(content) // 2] ^= 1
        shard.write_bytes(content)

    def stoker(self, *arguments: str) -> None:
        command = [str(self.program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr}")

    def words(self, command: Command, place: Path) -> list[str]:
        wav = sorted((self.data / "wavs").iterdir())[0]
        values = {
            "data": self.data,
            "cache": place / "cache",
            "out": place,
            "arrays": self.folder / "exported" / "mel",
            "wav": wav,
            "id": wav.stem,
        }
        return [word.format(**values) for word in command.arguments.split()]

    @contextmanager
    def place(self, command: Command) -> Iterator[Path]:
        """A folder for one run, with the cache it starts from."""
        with tempfile.TemporaryDirectory(prefix="run_", dir=self.folder, ignore_cleanup_errors=True) as name:
            place = Path(name)
            place.chmod(0o777)
            if command.start:
                shutil.copytree(self.folder / command.start, place / "cache")
            yield place

    def run(self, command: Command, place: Path, before: list[str], **options: Any) -> Run:
        """Runs it behind the words of `before` (strace, prlimit, env …)."""
        words = [*before, str(self.program), *self.words(command, place), *FAIL_AT_BAD_ROWS, "--json"]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdout=pipe, stderr=pipe, start_new_session=True, **options) as process:
            try:
                stdout, stderr = process.communicate(timeout=TIME_LIMIT_S)
            except subprocess.TimeoutExpired:
                # The session, because the tracer's death would leave the program behind.
                os.killpg(process.pid, signal.SIGKILL)
                return Run(HANG, {}, "", {}, {})
        said = stderr.decode(errors="replace")
        return Run(process.returncode, steady(stdout, place), said, files_of(place), cache_of(place))

    def learn(self, commands: Iterable[Command]) -> None:
        """Runs every command undisturbed."""
        for command in commands:
            with self.place(command) as place:
                run = self.run(command, place, [])
                if run.exit_code != 0:
                    raise AssertionError(f"{command.name}: exit {run.exit_code} undisturbed\n{run.said}")
                self.expected[command.name] = run
                if command.builds:
                    self.caches[command.name] = self.finished(command, place)

    def finished(self, command: Command, place: Path) -> dict[str, bytes]:
        """The cache after the build that a user would run next."""
        again = next(c for c in COMMANDS if c.name == "precompute") if "stream" in command.name else command
        run = self.run(again, place, [])
        if run.exit_code != 0:
            raise AssertionError(f"the next undisturbed {again.name}: exit {run.exit_code}\n{run.said}")
        return run.cache

    def faults(self, command: Command, place: Path, run: Run) -> list[str]:
        """What is wrong with a disturbed run; empty when nothing is."""
        if run.exit_code == HANG:
            return [f"did not end within {TIME_LIMIT_S:.0f} s"]
        expected = self.expected[command.name]
        found = []
        if run.exit_code not in DOCUMENTED_EXITS or (run.exit_code == 1 and not command.checks):
            found.append(f"exit {run.exit_code}: {run.said.strip()[-300:]}")
        if run.exit_code == 0 and run.report != expected.report and not command.explains:
            found.append(f"exit 0 with another report: {difference(expected.report, run.report)}")
        if run.exit_code == 0 and run.files != expected.files:
            found.append(f"exit 0 with other files: {difference(expected.files, run.files)}")
        if not command.builds:
            start = cache_of(self.folder / command.start, ".") if command.start else {}
            if run.cache != start:
                found.append(f"a reader changed the cache: {difference(start, run.cache)} (exit {run.exit_code})")
        elif run.exit_code == 0 or run.cache:
            try:
                after = self.finished(command, place)
            except AssertionError as refused:
                return [*found, str(refused)]
            if after != self.caches[command.name]:
                found.append(f"the next build differs: {difference(self.caches[command.name], after)}")
        return found


def steady(stdout: bytes, place: Path) -> dict[str, Any]:
    """The report without times and without the run's own folder."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(inner) for key, inner in value.items() if key not in UNSTEADY}
        if isinstance(value, list):
            return [strip(inner) for inner in value]
        return value.replace(str(place), "PLACE") if isinstance(value, str) else value

    try:
        report: dict[str, Any] = strip(json.loads(stdout))
    except ValueError:
        return {"not JSON": stdout.decode(errors="replace")}
    return report


def files_of(place: Path) -> dict[str, bytes]:
    """What a command wrote beside its cache."""
    found = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if path.is_file() and not name.startswith(("cache/", "strace")):
            found[name] = path.read_bytes()
    return found


def cache_of(place: Path, name: str = "cache") -> dict[str, bytes]:
    """The cache's files; the generation in the manifest counts builds, so it may differ."""
    folder = place / name
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name == "manifest.json":
            found[path.name] = manifest_text(path.read_bytes())
        elif path.is_file() and path.name != "lock":  # says who held it last where that could not be removed
            found[path.name] = path.read_bytes()
    return found


def manifest_text(content: bytes) -> bytes:
    try:
        manifest = json.loads(content)
    except ValueError:
        return content
    for key in ("generation", "crc", "crc32c"):
        manifest.pop(key, None)
    return json.dumps(manifest).encode()


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """The first few keys with other values."""
    keys = [key for key in {**expected, **found} if expected.get(key) != found.get(key)]
    shown = []
    for key in keys[:3]:
        pair = [
            value if not isinstance(value, bytes) else f"{len(value)} bytes"
            for value in (expected.get(key), found.get(key))
        ]
        shown.append(f"{key}: expected {str(pair[0])[:160]}, found {str(pair[1])[:160]}")
    return "; ".join(shown)


def run_all(cases: list[Any], judge: Callable[[Any], list[str]]) -> int:
    """Judges every case on all cores; prints each fault; the number of cases with one."""
    num_bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, found in zip(cases, pool.map(judge, cases), strict=True):
            num_bad += bool(found)
            for fault in found:
                print(f"FAULT {case}: {fault}", flush=True)
    return num_bad
