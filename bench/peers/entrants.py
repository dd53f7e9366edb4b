"""Who takes part in the race, with which settings, and how one run of an entrant is started and ended."""

import contextlib
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers import environments
from bench.peers.pacing import SHARE
from bench.peers.race_data import RaceData, run_quietly
from bench.program import RunFailed

ROOT = Path(__file__).resolve().parent.parent.parent
RUN_LIMIT_S = 60
PATHS = ("cached", "files")


@dataclass(frozen=True)
class PeerEntry:
    """A library: its environment and program, the settings it is tuned over, the changes tried when it resumes.

    `mel_files` finds the mels of a peer that packs them; a damaged mel is then a damaged file of these.
    """

    name: str
    module: str
    settings: tuple[str, ...]
    resumes: tuple[tuple[str, str], ...]
    mel_files: str = ""
    is_stoker: bool = False  # its package and its program are those of the build that races


PEERS = (
    PeerEntry(
        "torch",
        "bench.peers.torch_peer",
        ("processes=0,threads=1", "processes=0,threads=2", "processes=1", "processes=2"),
        (("processes=2", "processes=1"), ("processes=0", "processes=2")),
    ),
    PeerEntry("dali", "bench.peers.dali_peer", ("threads=2", "threads=4"), (("threads=2", "threads=1"),)),
    PeerEntry(
        "grain",
        "bench.peers.grain_peer",
        ("threads=2", "threads=4", "processes=2"),
        (("processes=2", "processes=1"), ("threads=2", "processes=2"), ("threads=2", "threads=1")),
    ),
    PeerEntry("tensorflow", "bench.peers.tensorflow_peer", ("threads=2", "autotune=1"), (("threads=2", "threads=1"),)),
    PeerEntry(
        "spdl",
        "bench.peers.spdl_peer",
        (
            *("threads=1,whole_batches=1", "threads=4,whole_batches=1", "threads=2,whole_batches=1"),
            *("threads=2,whole_batches=1,processes=1", "threads=4", "threads=2"),
        ),
        (("threads=2", "threads=1"),),
    ),
    PeerEntry(
        "lhotse",
        "bench.peers.lhotse_peer",
        (
            *("processes=0", "processes=2", "processes=0,buckets=10", "processes=0,threads=2,buckets=10"),
            *("processes=1,buckets=10", "processes=2,buckets=10"),
        ),
        (("processes=2,buckets=10", "processes=1,buckets=10"), ("processes=0,buckets=10", "processes=2,buckets=10")),
    ),
    PeerEntry(
        "streaming",
        "bench.peers.streaming_peer",
        ("processes=0,threads=1", "processes=0,threads=2", "processes=1", "processes=2"),
        (("processes=2", "processes=1"), ("processes=0", "processes=2")),
        mel_files="*.mds",
    ),
    PeerEntry(
        "webdataset",
        "bench.peers.webdataset_peer",
        ("processes=0,threads=1", "processes=0,threads=2", "processes=1", "processes=2"),
        (("processes=2", "processes=1"), ("processes=0", "processes=2"), ("processes=2", "processes=2")),
        mel_files="*.tar",
    ),
    PeerEntry(
        "stoker-python",
        "bench.peers.stoker_peer",
        ("threads=1", "threads=2"),
        (("threads=2", "threads=1"), ("threads=0", "threads=7")),
        mel_files="*.stk",
        is_stoker=True,
    ),
)


def environment_of(peer: PeerEntry, program: Path) -> dict[str, str]:
    if not peer.is_stoker:
        return dict(os.environ)
    return {**os.environ, "PYTHONPATH": str(program.parent / "python"), "RACE_PROGRAM": str(program)}


def run_peer(peer: PeerEntry, data: RaceData, what: str, arguments: list[str]) -> dict[str, Any]:
    """One run in the peer's environment, in a process group of its own that does not outlive it."""
    command = [str(environments.python_of(peer.name)), "-m", peer.module, what]
    command += ["--clips", str(data.clips_file), *arguments]
    environment = environment_of(peer, data.program)
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **pipes)
    try:
        out, err = process.communicate(timeout=RUN_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"no end within {RUN_LIMIT_S} s") from error
    finally:
        end_group(process)
    if process.returncode != 0 or not out.strip():
        lines = err.strip().splitlines() or [f"exit {process.returncode}, nothing said"]
        raise RunFailed(lines[-1])
    result: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return result


def end_group(process: "subprocess.Popen[str]") -> None:
    """Ends worker processes that the peer left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def race_peer(peer: PeerEntry, data: RaceData, path: str, setting: str, seconds: float) -> dict[str, Any]:
    arguments = ["--path", path, "--setting", setting, "--seconds", str(seconds)]
    return run_peer(peer, data, "race", arguments)


STOKER_KEYS = (
    "clips_per_s",
    "cpu_s_per_1000_clips",
    "interval_cv",
    "p50_ms",
    "p99_ms",
    "first_batch_s",
    "padding_share",
    "batches",
    "limit",
    "share_of_limit",
)
# Loader, path, number format of stored and delivered mels: what stoker runs in each round. Peers read and deliver
# float32, so only such rows are compared with them; float16 is the default of stoker, and half the bytes. The naive
# loader does what a plain script would.
STOKER_RUNS = (
    ("native", "cached", "f32"),
    ("native", "cached", "f16"),
    ("native", "files", "f32"),
    ("naive", "cached", "f32"),
    ("naive", "files", "f32"),
)


def race_stoker(data: RaceData, run: tuple[str, str, str], seconds: float) -> list[dict[str, Any]]:
    """Two runs of `stoker bench feed`, at full speed and at nine tenths; it checks its own batches before it prints."""
    loader, path, dtype = run
    words = (
        *("bench", "feed", "--data", str(data.voice), "--device", "cpu", "--batch-size", "32"),
        *("--loader", loader, "--path", path, "--dtype", dtype, "--set", f"cache.dtype={dtype}"),
        *("--seconds", str(seconds), "--repeat", "1"),
    )
    report = run_quietly(data.program, *words)
    paced = run_quietly(data.program, *words, "--demand", f"{100 * SHARE:.0f}%")["rows"][0]
    whole_s = one_batch_s(data, run)
    return [
        {"name": f"stoker {loader} {row['dtype']}", "path": path, "setting": f"threads={row['num_workers']}"}
        | {key: row[key] for key in STOKER_KEYS}
        | {"memory_mb": row["rss_mb"], "first_batch_from_start_s": whole_s, "stored": dtype}
        | {"paced_cv": paced["interval_cv"], "paced_stall": paced["stall_share"]}
        for row in report["rows"]
    ]


def one_batch_s(data: RaceData, run: tuple[str, str, str]) -> float:
    """A whole process that delivers one batch and ends: a little more than the time to that batch."""
    loader, path, dtype = run
    begin = time.perf_counter()
    run_quietly(
        data.program,
        *("stream", "--data", str(data.voice), "--device", "cpu", "--batch-size", "32", "--batches", "1"),
        *("--set", f"cache.dtype={dtype}"),
        *("--preprocessing-mode", "precompute" if path == "cached" else "runtime"),
        *(["--disable-native-loading"] if loader == "naive" else []),
    )
    return time.perf_counter() - begin
