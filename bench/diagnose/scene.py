"""What trials are made of: data sets, healthy settings, and what the feed brings with them here."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import shutil
import subprocess
import wave
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.diagnose import outside
from bench.diagnose.sound_files import compressed_copy, encode, library
from bench.program import RunFailed, run_stoker
from bench.record import Json

CLIPS = 400
COMPRESSED_CLIPS = 150
GIANT_S = 80
PROGRAM_LIMIT_S = 120.0
DEBUGGER_LIMIT_S = 60.0
CALIBRATIONS, CALM_CORES = 4, 0.3
HIGHEST_PRIORITY = -20


@dataclass(frozen=True)
class Supply:
    """What a feed brings to a consumer that takes all at once."""

    batches_per_s: float
    clips_per_s: float
    bytes_per_s: float

    @property
    def clips_per_batch(self) -> float:
        return self.clips_per_s / self.batches_per_s

    @property
    def bytes_per_batch(self) -> float:
        return self.bytes_per_s / self.batches_per_s


@dataclass
class Trial:
    """One run of the diagnosis: its plan, and what surrounds the program meanwhile."""

    plan: Json
    cores: list[int] = field(default_factory=outside.allowed_cores)
    num_neighbours: int = 0
    quota_cores: float | None = None
    cold_files: list[Path] = field(default_factory=list)


class Scene:
    """Data sets are made when they are first asked for and kept in the folder.

    `alone`: the program runs at the highest priority, at which others hardly get a core that it wants; so the sampler
    reports no neighbours but planted ones.
    """

    def __init__(self, stoker: Path, planted: Path, folder: Path, calibration_s: float, alone: bool = False) -> None:
        self.alone = alone
        self.stoker, self.planted, self.folder, self.calibration_s = stoker, planted, folder, calibration_s
        self.num_cores = len(outside.allowed_cores())
        self._supplies: dict[str, Supply] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def data(self, name: str) -> Path:
        folder = self.folder / name
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            makers: dict[str, Callable[[Path], None]] = {"flac": self._flac, "giant": self._giant}
            if name in makers:
                makers[name](folder)
            else:
                self._make(folder, *MADE[name])
            (folder / "ready").touch()
        return folder

    def _make(self, folder: Path, clips: int, *words: str) -> None:
        run_stoker(self.stoker, "data", "make", "--out", str(folder), "--clips", str(clips), *words, tells=False)

    def _flac(self, folder: Path) -> None:
        compressed_copy(self.data("few"), folder, "flac")

    def _giant(self, folder: Path) -> None:
        """The plain data, and one compressed recording that is twenty times as long as the others."""
        plain = self.data("plain")
        shutil.copytree(plain, folder, ignore=shutil.ignore_patterns("ready", ".stoker"))
        joined, params, seconds = [], None, 0.0
        for wav in sorted((plain / "wavs").glob("*.wav")):
            with wave.open(str(wav), "rb") as sound:
                params = params or sound.getparams()
                joined.append(sound.readframes(sound.getnframes()))
                seconds += sound.getnframes() / sound.getframerate()
            if seconds > GIANT_S:
                break
        whole = folder / "giant.wav"
        with wave.open(str(whole), "wb") as sound:
            assert params is not None
            sound.setparams(params)
            sound.writeframes(b"".join(joined))
        encode(library(), whole, folder / "wavs" / "giant.ogg", "ogg")
        whole.unlink()
        words = " ".join(["This recording is long."] * (GIANT_S // 3))
        with (folder / "metadata.csv").open("a", encoding="utf-8") as lines:
            lines.write(f"giant.ogg|{words}|{words}\n")

    def sounds(self, name: str) -> list[Path]:
        return sorted((self.data(name) / "wavs").iterdir())

    def settings(self, name: str, **values: object) -> list[str]:
        """As --set takes them; keys have a double underscore in the place of the dot."""
        chosen: Json = {"data__path": self.data(name), "device": "cpu", "data__preprocessing_mode": "runtime"}
        chosen |= {"data__num_workers": self.num_cores, "data__auto_tune_performance": "false"}
        chosen |= values
        return [f"{key.replace('__', '.')}={value}" for key, value in chosen.items()]

    def precompute(self, name: str) -> None:
        if not (self.data(name) / ".stoker").exists():
            run_stoker(self.stoker, "precompute", "--data", str(self.data(name)), tells=False)

    def precompute_samples(self, name: str, cache: Path, hop: int) -> None:
        """16-bit samples in a cache of their own, of which a GPU makes the mels."""
        words = ["--set", "cache.content=pcm", "--cache", str(cache), "--preset", "myxtts_tf", "--hop-length", str(hop)]
        if not cache.exists():
            run_stoker(self.stoker, "precompute", "--data", str(self.data(name)), *words, tells=False)

    def supply(self, settings: list[str], cores: list[int] | None = None) -> Supply:
        """Measured once for each, on a calm machine; neither seed nor buffer changes it."""
        settings = [each for each in settings if not each.startswith(("seed=", "data.prefetch_buffer_size="))]
        key = json.dumps([settings, cores])
        if key not in self._supplies:
            self._supplies[key] = self._measure(settings, cores or outside.allowed_cores())
        return self._supplies[key]

    def _measure(self, settings: list[str], cores: list[int]) -> Supply:
        """Others only slow it down: of disturbed measurements the best counts."""
        said: Json = {}
        for _ in range(CALIBRATIONS):
            if not self.alone:
                outside.wait_for_calm(5 * self.calibration_s)
            watch = outside.OthersWatch()
            again = self.run(Trial({"settings": settings, "budget_s": self.calibration_s}, cores))
            if again["supply_batches_per_s"] > said.get("supply_batches_per_s", 0):
                said = again
            if self.alone or watch.used_cores() < CALM_CORES:
                break
        if not said:
            raise RunFailed(f"no batch came: {settings}")
        data = next(Path(each.split("=", 1)[1]) for each in settings if each.startswith("data.path="))
        sizes = [file.stat().st_size for file in (data / "wavs").iterdir()]
        clips_per_s = said["supply_batches_per_s"] * said["clips_per_s"] / said["batches_per_s"]
        return Supply(said["supply_batches_per_s"], clips_per_s, clips_per_s * sum(sizes) / len(sizes))

    def run(self, trial: Trial) -> Json:
        """What the diagnosis says."""
        plan_file = self.folder / f"plan-{os.getpid()}.json"
        plan = dict(trial.plan)
        if self.alone and not trial.num_neighbours:
            plan["machine"] = dict(plan.get("machine", {})) | {"other_cores": 0}
        plan_file.write_text(json.dumps(plan), encoding="utf-8")
        with contextlib.ExitStack() as around:
            groups: list[Path] = []
            priority = HIGHEST_PRIORITY if self.alone else 0
            if trial.quota_cores is not None:
                groups.append(around.enter_context(outside.quota(trial.quota_cores, self.alone)))
            if trial.num_neighbours:
                around.enter_context(outside.neighbours(trial.num_neighbours, PROGRAM_LIMIT_S, priority))
            if trial.cold_files:
                around.enter_context(outside.cold(trial.cold_files, every_s=0.05))

            # The shell joins the groups, then becomes the program.
            joins = "".join(f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))} && " for group in groups)
            cores = ",".join(map(str, trial.cores))
            words = [
                "sh",
                "-c",
                f'{joins}exec nice -n {priority} taskset -c {cores} "$@"',
                "sh",
                str(self.planted),
                str(plan_file),
            ]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
                try:
                    said, errors = program.communicate(timeout=PROGRAM_LIMIT_S)
                except subprocess.TimeoutExpired as error:
                    seen = self.folder / f"stuck-{program.pid}.txt"
                    seen.write_text(stacks_of(program.pid), encoding="utf-8")
                    program.kill()
                    last = program.communicate()[1].splitlines()[-1:]
                    text = f"{json.dumps(trial.plan)}: no end within {PROGRAM_LIMIT_S:.0f} s, last {last}"
                    raise RunFailed(f"{text}, its stacks are in {seen}") from error
                finally:
                    program.kill()  # whatever went wrong, nobody waits for it; one that has ended is left alone
        if program.returncode != 0:
            raise RunFailed(f"{json.dumps(trial.plan)}: {errors[-1000:]}")
        return dict(json.loads(said))


def stacks_of(pid: int) -> str:
    """Of every thread of a program that does not end: by a debugger where there is one, else where the kernel waits."""
    for debugger in ("gdb", "cuda-gdb"):
        if shutil.which(debugger):
            words = [debugger, "-p", str(pid), "-batch", "-ex", "thread apply all backtrace 24"]
            try:
                done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=DEBUGGER_LIMIT_S)
            except subprocess.TimeoutExpired:
                continue
            if "Thread" in done.stdout:
                return done.stdout
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
        files = [(task / name).read_text(encoding="utf-8").strip() for name in ("comm", "wchan", "syscall")]
        lines.append(f"{task.name}: {' '.join(files)}")
    return "\n".join(lines) + "\n"


MADE: dict[str, tuple[Any, ...]] = {
    "plain": (CLIPS, "--lengths", "natural"),
    "few": (COMPRESSED_CLIPS, "--lengths", "natural", "--seed", "7"),
    "long": (CLIPS, "--lengths", "ljspeech"),
    "high": (COMPRESSED_CLIPS, "--lengths", "natural", "--sample-rate", "48000"),
    "tiny": (2 * CLIPS, "--lengths", "uniform:0.5-0.8"),
    "uneven": (CLIPS, "--lengths", "uniform:0.6-12"),
}


def draw_batch(rng: random.Random) -> Json:
    """Settings that change nothing about whether a feed is healthy."""
    return {
        "data__batch_frames": rng.choice([6000, 8000, 12000]),
        "data__batch_layout": rng.choice(["padded", "packed"]),
        "data__prefetch_buffer_size": rng.choice([6, 8, 12]),
        "seed": rng.randrange(1000),
    }
