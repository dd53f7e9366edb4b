"""What a damaged file and a resume with another number of workers do to each entrant: tried, with what was said."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.entrants import PeerEntry, run_peer
from bench.peers.protocol import Tolerance, row_matches
from bench.peers.race_data import BAD_CLIP, DAMAGES, TRIAL_CLIPS, RaceData, damage, make_trial, run_quietly
from bench.program import RunFailed, completed, last_words

STOKER_RESUMES = ((2, 1), (0, 7))


def without_paths(text: str, data: RaceData) -> str:
    """What was said, without where this machine keeps the data."""
    return text.replace(str(data.folder / "trial") + "/", "").replace(str(data.folder) + "/", "")


def peer_resume(peer: PeerEntry, data: RaceData, change: tuple[str, str]) -> dict[str, Any]:
    arguments = ["--path", "cached", "--setting", change[0], "--other", change[1]]
    row: dict[str, Any] = {"name": peer.name, "from": change[0], "to": change[1]}
    try:
        return row | run_peer(peer, data, "resume", arguments)
    except RunFailed as error:
        return row | {"outcome": "failed", "said": without_paths(str(error), data)}


def stoker_resume(data: RaceData, change: tuple[int, int]) -> dict[str, Any]:
    """The digests of every batch after the stop, compared with those of a run that never stopped."""
    state = data.folder / "state.json"
    stream = ["stream", "--data", str(data.voice), "--batch-size", "32"]
    whole = run_quietly(data.program, *stream, "--batches", "12", "--num-workers", str(change[0]))
    before = [*stream, "--batches", "6", "--num-workers", str(change[0]), "--state-out", str(state)]
    run_quietly(data.program, *before)
    after = [*stream, "--batches", "6", "--num-workers", str(change[1]), "--state-in", str(state)]
    resumed = run_quietly(data.program, *after)
    exact = [batch["content"] for batch in resumed["batches"]] == [batch["content"] for batch in whole["batches"][6:]]
    return {
        "name": "stoker",
        "from": f"threads={change[0]}",
        "to": f"threads={change[1]}",
        "outcome": "exact" if exact else "differs",
        "state_bytes": len(state.read_bytes().rstrip()),
    }


def peer_damage(peer: PeerEntry, data: RaceData, how: str) -> dict[str, Any]:
    packs_mels = bool(peer.mel_files) and DAMAGES[how] == "cached"
    trial = make_trial(data, how, packs_mels)
    setting = peer.settings[-1]
    row: dict[str, Any] = {"name": peer.name, "damage": how, "setting": setting}
    try:
        if packs_mels:
            run_peer(peer, trial, "pack", ["--path", "cached", "--setting", setting])
            damage_pack(trial, peer, how)
        result = run_peer(peer, trial, "damage", ["--path", DAMAGES[how], "--setting", setting])
    except RunFailed as error:
        result = {"clips": TRIAL_CLIPS, "delivered": 0, "delivered_wrong": 0, "said": str(error), "whole": str(error)}
    whole = result.pop("whole")
    if result["said"] is not None:
        result["said"] = without_paths(result["said"], data)
    names = [bad_name(trial)] + ([path.name for path in packed_mels(trial, peer)] if packs_mels else [])
    return row | result | {"names_file": any(name in whole for name in names)}


def packed_mels(trial: RaceData, peer: PeerEntry) -> list[Path]:
    return sorted((trial.folder / "packed").glob(f"*-cached/{peer.mel_files}"))


def damage_pack(trial: RaceData, peer: PeerEntry, how: str) -> None:
    """The same harm to the packed file that holds the clip."""
    mel = np.load(trial.clips()[BAD_CLIP].npy).tobytes()
    holders = [path for path in packed_mels(trial, peer) if mel in path.read_bytes()]
    if not holders:
        raise RunFailed(f"no {peer.mel_files} holds the mel of {bad_name(trial)}")
    damage(holders[0], how, mel)


def bad_name(trial: RaceData) -> str:
    return Path(trial.clips()[BAD_CLIP].wav).stem


def stoker_damage(data: RaceData, how: str) -> dict[str, Any]:
    """Sounds: precompute, then stream. Mels: the same harm is done to the file of the cache, then stream."""
    trial = make_trial(data, how)
    cache = trial.folder / "cache"
    folders = ["--data", str(trial.voice), "--cache", str(cache)]
    run_quietly(trial.program, "precompute", *folders)
    wrong = wrong_mels(trial, folders)
    clean = run_quietly(trial.program, "stream", *folders, "--batch-size", "32")
    if DAMAGES[how] == "cached":
        damage_shard(cache, how)
    done = completed([trial.program, "stream", *folders, "--batch-size", "32", "--json"])
    if done.returncode != 0:
        raise RunFailed(last_words(done.stderr))
    streamed = json.loads(done.stdout)
    if streamed["stream_digest"] != clean["stream_digest"]:
        wrong = streamed["clips"]
    rejects = reject_lines(cache / "rejects.jsonl")
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
    told = rejects or " ".join(warnings)
    return {
        "name": "stoker",
        "damage": how,
        "setting": "",
        "clips": len(trial.clips()),
        "delivered": streamed["clips"],
        "delivered_wrong": wrong,
        "said": without_paths(told, data),
        "names_file": bad_name(trial) in told or "shard-" in told,
    }


def reject_lines(path: Path) -> str:
    """The rejects of a cache, as a sentence each."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return " ".join(
        f"{row['code']} {row['file']} @{row['at']}: expected {row['promised']}, found {row['found']}" for row in rows
    )


def wrong_mels(trial: RaceData, folders: list[str]) -> int:
    """How many mels of the cache are not those of the undamaged sounds."""
    run_quietly(trial.program, "cache", "export", *folders, "--out", str(trial.folder / "npy"))
    wrong = 0
    for clip in trial.clips():
        found = trial.folder / "npy" / "mel" / Path(clip.npy).name
        if found.exists():
            mel = np.load(found).astype(np.float32)
            wrong += len(mel) != clip.frames or not row_matches(mel, clip, Tolerance(largest=1e-2))
    return wrong


def damage_shard(cache: Path, how: str) -> None:
    """Readers map the files of a cache: a damaged copy takes the place of the good one, as after a bad disk."""
    shard = min(cache.glob("shard-*.stk"))
    copy = shard.with_suffix(".copy")
    shutil.copy(shard, copy)
    damage(copy, how)
    copy.replace(shard)
