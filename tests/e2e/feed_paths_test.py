"""Digests of `stoker stream` do not depend on workers, prefetch or path, and are what NumPy computes."""

from __future__ import annotations

import concurrent.futures
import itertools
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))
from feed_run import Stoker, contents, expect, stoker_of_command_line

from tests.oracle.xxh3 import xxh3_128

WORKERS = [0, 1, 2, 3, 7, 16, 64]
PREFETCH = [1, 2, 8]
BATCHES = "24"  # of 10 an epoch: two epoch ends inside


def paths(stoker: Stoker) -> dict[str, list[str]]:
    mel, pcm = stoker.precompute("mel"), stoker.precompute("pcm")
    return {
        "files": ["--preprocessing-mode", "runtime"],
        "cached": ["--preprocessing-mode", "precompute", "--cache", str(mel)],
        "pcm": ["--preprocessing-mode", "precompute", "--cache", str(pcm), "--set", "cache.content=pcm"],
    }


def check_equal_digests(stoker: Stoker, routes: dict[str, list[str]]) -> None:
    common = ["--batch-size", "4", "--batches", BATCHES]
    reference = stoker.stream(*common, *routes["files"], "--num-workers", "0")

    def check_run(run: tuple[str, int, int]) -> None:
        route, workers, prefetch = run
        chosen = ["--num-workers", str(workers), "--prefetch-buffer-size", str(prefetch)]
        report = stoker.stream(*common, *routes[route], *chosen, "--random-delay-us", "1500")
        name = f"{route}, {workers} workers, prefetch {prefetch}"
        expect(report["stream_digest"] == reference["stream_digest"], f"{name}: another stream")
        expect(contents(report) == contents(reference), f"{name}: other batches")
        # Among 64 workers on as many cores none need have a tenth; that one has them all must not be.
        share = max(report["fills"]) / sum(report["fills"])
        expect(workers < 2 or share <= 0.9, f"{name}: fills {report['fills']}")

    runs = list(itertools.product(routes, WORKERS, PREFETCH))
    # Most of a run is its random delays, so a few of them pass the time together.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(check_run, runs))
    print(f"{len(runs)} runs gave {reference['stream_digest']}")


def batch_bytes(line: dict[str, Any], exported: Path, speakers: list[str]) -> bytes:
    """What docs/format/order.md says a content digest covers."""
    parts: list[bytes] = []
    for row in line["rows"]:
        name = row.encode()
        parts.append(struct.pack("<Q", len(name)) + name)
        if not row:
            parts.append(struct.pack("<iiii", 0, 0, 0, 0))
            continue
        tokens = np.load(exported / "tokens" / f"{row}.npy")
        mel = np.load(exported / "mel" / f"{row}.npy")
        expect(tokens.dtype == np.int32 and mel.dtype == np.float16, f"{row}: {tokens.dtype}, {mel.dtype}")
        parts.append(struct.pack("<ii", len(tokens), len(mel)))
        parts.append(np.ascontiguousarray(tokens).tobytes() + np.ascontiguousarray(mel).tobytes())
        parts.append(struct.pack("<ii", speakers.index(row.split("_")[0]), 0))
    return b"".join(parts)


def check_recomputed(stoker: Stoker, routes: dict[str, list[str]]) -> None:
    exported = stoker.folder / "exported"
    stoker.json("cache", "export", "--data", str(stoker.data), "--cache", routes["cached"][-1], "--out", str(exported))
    named = ["--set", "data.enable_multispeaker=true", "--set", r"data.speaker_id_pattern=^(spk\d+)_"]
    report = stoker.stream("--batch-size", "4", "--batches", "20", "--list-ids", *named, *routes["cached"])
    names = [line.split("_")[0] for line in (stoker.data / "metadata.csv").read_text().splitlines()]
    speakers = list(dict.fromkeys(names))
    for line in report["batches"]:
        expect(xxh3_128(batch_bytes(line, exported, speakers)) == line["content"], f"batch {line['index']} differs")
    whole = xxh3_128("".join(line["content"] for line in report["batches"]).encode())
    expect(whole == report["stream_digest"], "the stream digest differs")
    print(f"{len(report['batches'])} content digests recomputed with NumPy")


def check_world_sizes(stoker: Stoker, routes: dict[str, list[str]]) -> None:
    common = ["--batch-multiple", "24", "--batch-frames", "6000", "--list-ids", *routes["cached"]]
    whole = stoker.stream(*common, "--world-size", "1", "--rank", "0")["batches"]
    for world in [2, 3, 4, 8]:
        for rank in range(world):
            own = stoker.stream(*common, "--world-size", str(world), "--rank", str(rank))["batches"]
            expect(len(own) == len(whole), f"world {world}: rank {rank} has {len(own)} steps")
            for step, (part, all_rows) in enumerate(zip(own, whole, strict=True)):
                expect(part["rows"] == all_rows["rows"][rank::world], f"world {world}, rank {rank}, step {step}")
                expect(part["shape"][1:] == all_rows["shape"][1:], f"world {world}: another shape in step {step}")
                expect(part["global_ids"] == all_rows["global_ids"], f"world {world}: another global batch")
    print("world sizes 1, 2, 3, 4, 8 share one sequence")


def main() -> int:
    with stoker_of_command_line(__doc__, num_clips=40) as stoker:
        routes = paths(stoker)
        check_equal_digests(stoker, routes)
        check_recomputed(stoker, routes)
        check_world_sizes(stoker, routes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
