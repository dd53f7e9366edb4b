#!/usr/bin/env python3
"""Does the diagnosis foresee what the native loader brings in the place of the naive one?

    python3 -m bench.diagnose.loaders [--stoker build/stoker] [--out FOLDER] [--trials 6] [--keep-json F]

Each trial draws a batch size and a consumer whose step is two or three times as long as the native feed takes for a
batch. On the naive loader `stoker diagnose --apply` must name the loader, and what it predicts is held against what
the native one really brought. On the native loader the same consumer must hear that the feed is not its bottleneck,
and how many times as much it could bring is held against its supply in a run of its own.
"""

from __future__ import annotations

import argparse
import random
import shlex
import statistics
import sys
from pathlib import Path

from bench.diagnose import outside
from bench.program import STATUS_STARVED, ended, run_stoker
from bench.record import Bars, Json, finish

SEED = 3_000_000
MOST_ERROR, MOST_SUPPLY_ERROR = 0.15, 0.25
NATIVE = ["data.use_native_loading=true"]
CALM_CORES = 0.25


class Trials:
    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.data = asked.out / "loaders"
        if not (self.data / "metadata.csv").exists():
            words = ["data", "make", "--out", str(self.data), "--clips", "400", "--lengths", "natural"]
            run_stoker(asked.stoker, *words, tells=False)

    def diagnose(self, *words: str) -> Json:
        """Ends with 1 where the consumer is starved; while others use the machine it is asked again."""
        said: Json = {}
        for _ in range(self.asked.repeats):
            outside.wait_for_calm(self.asked.calm_s)
            watch = outside.OthersWatch()
            asks = ["diagnose", "--device", "cpu", "--data", str(self.data), "--preprocessing-mode", "runtime", *words]
            said = run_stoker(self.asked.stoker, *asks, limit_s=120, statuses=(0, STATUS_STARVED), tells=False)
            said["others_cores"] = watch.used_cores()
            if said["others_cores"] < CALM_CORES:
                break
        return said

    def run(self, number: int) -> Json:
        rng = random.Random(f"{SEED}/{number}")
        batch = ["--batch-frames", str(rng.choice([4000, 6000, 8000, 12000])), "--budget-s", str(self.asked.budget_s)]
        supply = self.diagnose(*batch)
        step_ms = rng.uniform(1.8, 3) * 1e3 / supply["supply_batches_per_s"]
        paced = [*batch, "--step-ms", f"{step_ms:.4f}"]
        naive = self.diagnose(*paced, "--disable-native-loading", "--apply")
        native = self.diagnose(*paced)
        cure: Json = next((each for each in naive["cures"] if each["set"] == NATIVE), {})
        true_ratio = 1e-3 * step_ms * supply["supply_batches_per_s"]
        row = {
            "words": shlex.join(paced),
            "naive": {key: naive[key] for key in ("verdict", "cause", "stall_share", "sentence", "others_cores")},
            "predicted_gain": cure.get("predicted_gain"),
            "predicted_low": cure.get("predicted_low"),
            "predicted_high": cure.get("predicted_high"),
            "measured_gain": cure.get("measured_gain"),
            "native": {key: native[key] for key in ("verdict", "supply_ratio", "sentence", "others_cores")},
            "supply_ratio": true_ratio,
        }
        print(
            f"{row['words']}: naive {naive['verdict']} ({naive['cause']}), predicted {row['predicted_gain']}, "
            f"measured {row['measured_gain']}; native {native['verdict']}, {native['supply_ratio']:.2f} times, "
            f"measured {true_ratio:.2f}; others {naive['others_cores']:.2f}",
            file=sys.stderr,
            flush=True,
        )
        return row


def judge(rows: list[Json]) -> Bars:
    bars = Bars()
    told = [row for row in rows if row["naive"]["verdict"] == "starved" and row["measured_gain"]]
    bars.at_least("naive loader named and cured", len(told) / len(rows), 1)
    fed = [row for row in rows if row["native"]["verdict"] == "healthy"]
    bars.at_least("native loader is not the bottleneck", len(fed) / len(rows), 1)
    errors = [abs(row["predicted_gain"] / row["measured_gain"] - 1) for row in told]
    if errors:
        bars.at_most("error of the predicted gain, median", statistics.median(errors), MOST_ERROR)
        bars.at_most("error of the predicted gain, largest", max(errors), 2 * MOST_ERROR)
    ratios = [abs(row["native"]["supply_ratio"] / row["supply_ratio"] - 1) for row in fed]
    if ratios:
        bars.at_most("error of what the feed could bring, median", statistics.median(ratios), MOST_SUPPLY_ERROR)
    return bars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--out", type=Path, default=Path("build/diagnose-trials"), help="data sets are kept here")
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--budget-s", type=float, default=8.0)
    parser.add_argument("--calm-s", type=float, default=20.0, help="wait so long for an idle machine")
    parser.add_argument("--repeats", type=int, default=3, help="of a run that other programs disturbed")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    trials = Trials(asked)
    rows = [trials.run(number) for number in range(asked.trials)]
    bars = judge(rows)
    figures = {"cores": len(outside.allowed_cores()), "rows": rows}
    return finish("diagnose-loaders", figures, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
