#!/usr/bin/env python3
"""How often does a training wait for the card within a step? Counted by the driver, whoever calls.

    python3 -m bench.train.host_syncs --stoker build/stoker --out FOLDER [--cupti FOLDER] [--steps 400] [--keep-json F]

Builds bench/train/sync_counter.c against CUPTI and has the driver load it into `stoker train` (one graph launch is one
step). Between the steps given every call by which a thread waits for the card is counted: the whole card or context
(cuCtxSynchronize), a stream, an event, a copy that returns when it is done. The loop's own thread may wait for the
event of a step that is many steps behind, which bounds how far it runs ahead and leaves the card its work; whatever
else it waits for is a synchronisation, and there must be none. Threads of the feed wait for their own copies.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from bench.program import RunFailed, completed, ended, last_words, run_stoker
from bench.record import Bars, Json, finish

SOURCE = Path(__file__).with_name("sync_counter.c")
FIRST_STEP = 200  # by then every shape is captured


def cupti_folder() -> Path:
    """Of the toolkit, or of the package beside torch: a folder with include/cupti.h."""
    places = [Path("/usr/local/cuda/extras/CUPTI"), Path("/usr/local/cuda")]
    places += [Path(entry) / "nvidia" / "cu13" for entry in sys.path]
    places += [Path(entry) / "nvidia" / "cuda_cupti" for entry in sys.path]
    for place in places:
        if (place / "include" / "cupti.h").exists():
            return place
    raise RunFailed(f"cupti.h is in none of {', '.join(map(str, places))}: name its folder with --cupti")


def build(folder: Path, out: Path) -> Path:
    library = out / "sync_counter.so"
    libraries = next(path for path in (folder / "lib64", folder / "lib") if list(path.glob("libcupti.so*")))
    file = sorted(libraries.glob("libcupti.so*"))[0]
    includes = [f"-I{folder / 'include'}", "-I/usr/local/cuda/include"]
    words = ["gcc", "-O2", "-shared", "-fPIC", *includes, str(SOURCE), str(file), f"-Wl,-rpath,{libraries}"]
    done = completed([*words, "-o", library])
    if done.returncode != 0:
        raise RunFailed(f"{SOURCE.name} cannot be compiled: {last_words(done.stderr)}")
    return library


def count(asked: argparse.Namespace, library: Path) -> Json:
    counts = asked.out / "counts.json"
    os.environ["CUDA_INJECTION64_PATH"] = str(library)
    os.environ["SYNC_COUNTER_OUT"] = str(counts)
    os.environ["SYNC_COUNTER_FROM"] = str(FIRST_STEP)
    os.environ["SYNC_COUNTER_TO"] = str(FIRST_STEP + asked.steps)
    words = ["--data", str(asked.data), "--checkpoint-dir", str(asked.out / "run"), "--model-size", asked.model_size]
    words += ["--steps", str(FIRST_STEP + asked.steps + 50), "--save-step", "1000000", "--val-step", "1000000"]
    run_stoker(asked.stoker, "train", *words, "--device", "cuda")
    return dict(json.loads(counts.read_text(encoding="utf-8")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cupti", type=Path, help="folder with include/cupti.h (looked for)")
    parser.add_argument("--model-size", default="normal")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    found = count(asked, build(asked.cupti or cupti_folder(), asked.out))
    loop: dict[str, int] = next((row["calls"] for row in found["threads"] if row["is_main"]), {})
    waits = sum(calls for name, calls in loop.items() if name.startswith("cuEventSynchronize"))
    syncs = sum(loop.values()) - waits
    figures = {
        **found,
        "host_syncs_per_step": syncs / found["launches"],
        "bounded_waits_per_step": waits / found["launches"],
    }
    bars = Bars()
    bars.at_least("steps counted", found["launches"], asked.steps)
    bars.at_least("waits seen before and behind those steps", found["waits_outside"], 1)
    bars.at_most("synchronisations of the loop a step", figures["host_syncs_per_step"], 0)
    return finish("train-syncs", figures, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
