#!/usr/bin/env python3
"""What a trace costs: the same feed with and without `--trace`, in turn.

The figure is the median over neighbouring pairs of runs, because the machine changes between them. Ends with 1 where
the rate falls by more than `--bar`, also in the quarter of the pairs that cost least.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import ended, run_stoker


@dataclass
class Run:
    batches_per_s: float
    cpu_ms_per_batch: float
    batches: int
    writer_share: float  # of the process' time, what the thread of the trace took


@dataclass
class Cost:
    rate: list[float]  # share of the rate that is lost, one for each pair
    cpu: list[float]  # share by which the processor time of a batch grows
    writer: list[float]  # the trace's thread, as a share of the process' time

    def summary(self) -> dict[str, float]:
        return {
            "pairs": len(self.rate),
            "rate_median": statistics.median(self.rate),
            "rate_low_quarter": statistics.quantiles(self.rate, n=4)[0],
            "rate_high_quarter": statistics.quantiles(self.rate, n=4)[2],
            "cpu_median": statistics.median(self.cpu),
            "writer_median": statistics.median(self.writer),
        }


def profile(stoker: Path, feed: list[str], trace: Path | None) -> Run:
    report = run_stoker(stoker, "profile", *feed, *(["--trace", str(trace)] if trace else []), tells=False)
    if trace is not None and (report["trace_batches"] != report["batches"] or report["trace_lost"] != 0):
        raise SystemExit(f"the trace has {report['trace_batches']} of {report['batches']} batches")
    interval_ms = report["data_ms"] + report["compute_ms"]
    cpu = report["machine"]["cpu"]
    cores = cpu["own_cores"]
    writer = sum(thread["cpu_cores"] for thread in cpu["threads"] if thread["name"] == "trace-writer")
    return Run(1e3 / interval_ms, interval_ms * cores, report["batches"], writer / cores)


def measure(stoker: Path, feed: list[str], pairs: int, suffix: str) -> tuple[Cost, Run]:
    cost = Cost([], [], [])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(pairs):
            trace = Path(folder) / f"t{suffix}"
            # Whoever is first finds another machine than the second: take turns.
            order = [None, trace] if number % 2 == 0 else [trace, None]
            runs = {path is not None: profile(stoker, feed, path) for path in order}
            cost.rate.append(1 - runs[True].batches_per_s / runs[False].batches_per_s)
            cost.writer.append(runs[True].writer_share)
            cost.cpu.append(runs[True].cpu_ms_per_batch / runs[False].cpu_ms_per_batch - 1)
    return cost, runs[False]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--suffix", default=".pftrace", help=".pftrace, .json or .json.gz")
    parser.add_argument("--bar", type=float, default=0.01, help="share of the rate that a trace may cost")
    parser.add_argument("--out", type=Path, help="keep the result as JSON")
    parser.add_argument("feed", nargs="+", help="after `--`: the options of the feed, e.g. --data voice --seconds 2")
    asked = parser.parse_args()
    cost, last = measure(asked.stoker, asked.feed, asked.pairs, asked.suffix)
    found = cost.summary()
    is_met = found["rate_median"] <= asked.bar or found["rate_low_quarter"] <= asked.bar
    print(
        f"a trace{asked.suffix} costs {100 * found['rate_median']:+.2f} % of the rate "
        f"({100 * found['rate_low_quarter']:+.2f} to {100 * found['rate_high_quarter']:+.2f} % in half of the pairs) "
        f"and {100 * found['cpu_median']:+.2f} % of processor time; its thread takes "
        f"{100 * found['writer_median']:.2f} % of it, at {last.batches_per_s:.0f} batches/s"
    )
    if asked.out is not None:
        asked.out.write_text(json.dumps({"feed": asked.feed, "last": asdict(last), **found}, indent=1) + "\n")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(ended(main))
