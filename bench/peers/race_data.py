"""What all entrants read: utterances of the built-in voice, their mels as .npy files, and copies with one bad file."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bench.peers.protocol import Clip
from bench.program import run_stoker

TRIAL_CLIPS = 64
RUN_LIMIT_S = 300.0
BAD_CLIP = 40  # in the second batch of 32
# What is done to one file, and to which kind of file.
DAMAGES = {
    "sound cut in half": "files",
    "sound without its header": "files",
    "mel cut in half": "cached",
    "one bit of a mel flipped": "cached",
}


# One command with --json; its report.
run_quietly = partial(run_stoker, limit_s=RUN_LIMIT_S, tells=False)


@dataclass(frozen=True)
class RaceData:
    """Where the files of the race are."""

    folder: Path
    program: Path

    @property
    def voice(self) -> Path:
        return self.folder / "voice"

    @property
    def clips_file(self) -> Path:
        return self.folder / "clips.json"

    def clips(self) -> list[Clip]:
        return [Clip(*row) for row in json.loads(self.clips_file.read_text(encoding="utf-8"))]


def make(program: Path, root: Path, num_clips: int) -> RaceData:
    """Makes what is not there yet; the list of clips is written last and says that all the rest is whole."""
    data = RaceData(root / f"clips-{num_clips}", program)
    if not data.clips_file.exists():
        print(f"peers: making {num_clips:,} clips in {data.folder}", file=sys.stderr)
        shutil.rmtree(data.folder, ignore_errors=True)
        data.folder.mkdir(parents=True)
        run_quietly(
            program, "data", "make", "--out", str(data.voice), "--clips", str(num_clips), "--lengths", "ljspeech"
        )
        cache = ["--data", str(data.voice), "--cache", str(data.folder / "cache-f32"), "--cache-dtype", "f32"]
        run_quietly(program, "precompute", *cache)
        run_quietly(program, "cache", "export", *cache, "--out", str(data.folder / "npy"))
        write_clips(data)
    # The cache is of the program that races, whoever made the clips.
    for stale in (data.voice / ".stoker", data.folder / "packed" / "stoker_peer-cached"):
        shutil.rmtree(stale, ignore_errors=True)
    for dtype in ("f16", "f32"):
        run_quietly(program, "precompute", "--data", str(data.voice), "--cache-dtype", dtype)
    warm(data)
    return data


def write_clips(data: RaceData) -> None:
    rows = []
    for npy in sorted((data.folder / "npy" / "mel").glob("*.npy")):
        frames = np.load(npy, mmap_mode="r").shape[0]
        rows.append(Clip(str(data.voice / "wavs" / f"{npy.stem}.wav"), str(npy), str(npy), frames))
    data.clips_file.write_text(json.dumps(rows), encoding="utf-8")


def warm(data: RaceData) -> None:
    """Reads every file once: all entrants meet a warm page cache."""
    for clip in data.clips():
        Path(clip.wav).read_bytes()
        Path(clip.npy).read_bytes()
    for packed in (data.folder / "packed").glob("*-*/*"):
        if packed.is_file():
            packed.read_bytes()


def damage(path: Path, how: str, mel: bytes = b"") -> None:
    """The bit is one of `mel` where the file holds that among others, of the middle of the file elsewhere."""
    content = bytearray(path.read_bytes())
    if how.endswith("cut in half"):
        content = content[: len(content) // 2]
    elif how == "sound without its header":
        content[:44] = bytes(44)
    else:
        begin = max(0, content.find(mel)) if mel else 0
        middle = (len(mel) or len(content)) // 2 // 4 * 4
        content[begin + middle + 3] ^= 0x40  # the top bit of an exponent
    path.unlink()  # the others are links to the good files
    path.write_bytes(content)


def make_trial(data: RaceData, how: str, packs_mels: bool = False) -> RaceData:
    """A small data set of links to good files, with one file damaged; references stay good.

    For a peer that packs its mels they stay good as well: what it packs is damaged later.
    """
    trial = RaceData(data.folder / "trial", data.program)
    shutil.rmtree(trial.folder, ignore_errors=True)
    (trial.voice / "wavs").mkdir(parents=True)
    (trial.folder / "mel").mkdir()
    rows = []
    for clip in data.clips()[:TRIAL_CLIPS]:
        wav, npy = trial.voice / "wavs" / Path(clip.wav).name, trial.folder / "mel" / Path(clip.npy).name
        os.link(clip.wav, wav)
        os.link(clip.npy, npy)
        rows.append(Clip(str(wav), str(npy), clip.reference, clip.frames))
    metadata = (data.voice / "metadata.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (trial.voice / "metadata.csv").write_text("".join(metadata[:TRIAL_CLIPS]), encoding="utf-8")
    bad = rows[BAD_CLIP]
    if DAMAGES[how] == "files":
        damage(Path(bad.wav), how)
    elif not packs_mels:
        damage(Path(bad.npy), how)
    trial.clips_file.write_text(json.dumps(rows), encoding="utf-8")
    return trial
