#!/usr/bin/env python3
"""Does the diagnosis name the cause that was planted?

    python3 -m bench.diagnose.inject [--build build] [--out FOLDER] [--trials 10] [--seeds judging] [--only NAME …]

Plants every cause of bench/diagnose/plants.py at a drawn strength into a drawn healthy feed and asks
`planted_diagnose`, which calls what `stoker diagnose` calls. A trial is right when the first cause that it names is
the planted one; of a healthy feed, when it says so; of two causes, when both are among the first three. What a cure
would bring is compared with what it brought when it was really applied. Limits of the diagnosis were chosen with the
seeds `tuning`; the record is made with `judging`. While other programs use the machine a trial is repeated: whether it
is disturbed is measured from outside and before its answer is looked at.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.diagnose import outside
from bench.diagnose.gpu_plants import GPU_PLANTS, healthy_on_gpu
from bench.diagnose.plants import PAIRS, PLANTS, Draw, Planting, both, healthy, named
from bench.diagnose.scene import Scene
from bench.program import RunFailed, ended
from bench.record import Bars, Json, finish, gpu_name, show

SEEDS = {"tuning": 1_000_000, "judging": 4_000_000}
DISTURBED_CORES = 0.25
SKIPPED_STATUS = 77
LEAST_RIGHT, LEAST_HEALTHY, LEAST_BOTH = 0.95, 0.95, 0.85
MOST_MEDIAN_ERROR, MOST_P95_ERROR = 0.10, 0.25
WHAT_IF = ("one worker", "demand beyond all cores", "compressed files", "files of 48 kHz", "a buffer of one")


@dataclass
class Job:
    """One trial that is still to be run."""

    kind: str  # cause, healthy, pair or what-if
    name: str
    number: int
    plant: Planting
    wanted: tuple[tuple[str, ...], ...] = ()  # names of each planted cause
    repeats: int = 0

    @property
    def key(self) -> list[Any]:
        return [self.kind, self.name, self.number]

    def is_right(self, row: Json) -> bool:
        if "failed" in row:
            return False
        if self.kind == "healthy":
            return bool(row["verdict"] == "healthy")
        if self.kind == "what-if":
            return bool(row["cures"])
        among = row["found"][:1] if self.kind == "cause" else row["found"]
        return all(set(names) & set(among) for names in self.wanted)


def all_jobs(asked: argparse.Namespace) -> list[Job]:
    if asked.device == "cuda" and gpu_name() is None:
        print("skipped  the causes of a GPU: no driver is here", file=sys.stderr)
        return []
    every = GPU_PLANTS if asked.device == "cuda" else PLANTS
    plants = [named(name, every) for name in asked.only] or list(every)
    jobs = [Job("cause", each.name, i, each.plant, (each.names,)) for each in plants for i in range(asked.trials)]
    well = healthy_on_gpu if asked.device == "cuda" else healthy
    jobs += [Job("healthy", "healthy", i, well) for i in range(asked.healthy)]
    if asked.device == "cuda":
        return jobs
    for first, second in PAIRS:
        name, plant = f"{first.name} + {second.name}", both(first, second)
        jobs += [Job("pair", name, i, plant, (first.names, second.names)) for i in range(asked.pairs)]
    for name in WHAT_IF:
        jobs += [Job("what-if", name, i, named(name).plant) for i in range(asked.what_if)]
    return jobs


class Driver:
    """Runs trials one after the other and keeps what each gave; a run that was ended goes on where it was."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        program = asked.build / "bench" / "diagnose" / "planted_diagnose"
        self.scene = Scene(
            (asked.build / "stoker").resolve(), program.resolve(), asked.out, asked.calibration_s, asked.alone
        )
        self.kept = asked.out / f"{asked.seeds}.jsonl"
        self.rows: list[Json] = []
        if asked.resume and self.kept.exists():
            self.rows = [json.loads(line) for line in self.kept.read_text(encoding="utf-8").splitlines()]
        else:
            self.kept.unlink(missing_ok=True)

    def run(self, jobs: list[Job]) -> None:
        done = [row["key"] for row in self.rows]
        waiting = deque(job for job in jobs if job.key not in done)
        while waiting:
            job = waiting.popleft()
            row = self.try_once(job)
            if row is None:
                continue
            is_disturbed = row.get("others_cores", 0) >= DISTURBED_CORES and not self.asked.alone
            if is_disturbed and job.repeats < self.asked.repeats:
                job.repeats += 1
                print(
                    f"put off  {job.name} {job.number}: others {row['others_cores']:.2f}", file=sys.stderr, flush=True
                )
                waiting.append(job)  # later, when the others may have ended
                continue
            self.keep(job, row)

    def try_once(self, job: Job) -> Json | None:
        rng = random.Random(f"{SEEDS[self.asked.seeds]}/{job.kind}/{job.name}/{job.number}")
        row: Json = {"key": job.key, "kind": job.kind, "name": job.name, "number": job.number, "found": []}
        try:
            trial = job.plant(Draw(self.scene, rng, self.asked.budget_s))
            trial.plan["applies"] = int(job.kind == "what-if")
            if not self.asked.alone:
                outside.wait_for_calm(self.asked.calm_s)
            watch = outside.OthersWatch()
            said = self.scene.run(trial)
        except outside.CannotPlantError as error:
            print(f"skipped  {job.name}: {error}", file=sys.stderr, flush=True)
            return None
        except RunFailed as error:
            return row | {"failed": str(error)[-600:]}
        return row | {
            "verdict": said["verdict"],
            "found": [cause["id"] for cause in said["causes"][:3]],
            "stall_share": said["stall_share"],
            "supply_ratio": said["supply_ratio"],
            "batches": said["batches"],
            "cures": [cure for cure in said["cures"] if cure.get("measured_gain") is not None],
            "others_cores": watch.used_cores(),
            "repeats": job.repeats,
            "plan": trial.plan | {"quota_cores": trial.quota_cores, "num_neighbours": trial.num_neighbours},
        }

    def keep(self, job: Job, row: Json) -> None:
        row["right"] = job.is_right(row)
        self.rows.append(row)
        with self.kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        mark = "right" if row["right"] else "WRONG"
        figures = f"stall {100 * row.get('stall_share', 0):.0f} %, others {row.get('others_cores', 0):.2f}"
        text = f"{mark}  {job.kind} {job.name} {job.number}: {row['found']} ({figures}) {row.get('failed', '')}"
        print(text, file=sys.stderr, flush=True)


def share_right(rows: list[Json]) -> float:
    return sum(row["right"] for row in rows) / len(rows) if rows else 0.0


def errors_of(rows: list[Json]) -> list[float]:
    """|predicted / measured − 1| of every cure that was applied."""
    cures = [cure for row in rows for cure in row.get("cures", [])]
    return sorted(abs(cure["predicted_gain"] / cure["measured_gain"] - 1) for cure in cures if cure["measured_gain"])


def judge(rows: list[Json]) -> Bars:
    bars = Bars()
    of_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in ("cause", "healthy", "pair", "what-if")}
    if of_kind["cause"]:
        bars.at_least("right cause first", share_right(of_kind["cause"]), LEAST_RIGHT)
    if of_kind["healthy"]:
        bars.at_least("healthy called healthy", share_right(of_kind["healthy"]), LEAST_HEALTHY)
    if of_kind["pair"]:
        bars.at_least("both causes among the first three", share_right(of_kind["pair"]), LEAST_BOTH)
    errors = errors_of(of_kind["what-if"])
    if errors:
        bars.at_most("what-if error, median", statistics.median(errors), MOST_MEDIAN_ERROR)
        bars.at_most("what-if error, p95", errors[min(len(errors) - 1, int(0.95 * len(errors)))], MOST_P95_ERROR)
    return bars


def table(rows: list[Json]) -> str:
    """How often each planted cause was named as what."""
    lines = []
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name and row["kind"] in ("cause", "healthy")]
        if not mine:
            continue
        named_as: dict[str, int] = {}
        for row in mine:
            first = row["found"][0] if row["found"] else row.get("verdict", "failed")
            named_as[first] = named_as.get(first, 0) + 1
        text = ", ".join(f"{key} {count}" for key, count in sorted(named_as.items(), key=lambda each: -each[1]))
        lines.append(f"{name:32} {sum(row['right'] for row in mine):3} of {len(mine):3}  {text}")
    return "\n".join(lines)


def quick_status(rows: list[Json], least_right: float) -> int:
    """Of a few trials: a busy neighbour that nobody planted is a right answer, too, so those that others disturbed to
    the end are not judged; on a machine that is never calm nothing is."""
    calm = [row for row in rows if row.get("others_cores", 0) < DISTURBED_CORES]
    if 2 * len(calm) < len(rows):
        print(f"skipped  other programs disturbed {len(rows) - len(calm)} of {len(rows)} trials", file=sys.stderr)
        return SKIPPED_STATUS
    return 0 if share_right(calm) >= least_right else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--out", type=Path, default=Path("build/diagnose-trials"), help="data sets are kept here")
    parser.add_argument("--seeds", choices=sorted(SEEDS), default="judging")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="whose causes")
    parser.add_argument("--budget-s", type=float, default=5.0)
    parser.add_argument("--calibration-s", type=float, default=2.0, help="to find what a healthy feed brings")
    parser.add_argument("--trials", type=int, default=10, help="of each cause")
    parser.add_argument("--healthy", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=2, help="of each pair of causes")
    parser.add_argument("--what-if", type=int, default=10, help="of each cause that a setting cures")
    parser.add_argument("--only", nargs="+", default=[], help="names of causes")
    parser.add_argument("--calm-s", type=float, default=30.0, help="wait so long for an idle machine")
    parser.add_argument("--repeats", type=int, default=20, help="of a trial that other programs disturbed")
    parser.add_argument("--alone", action="store_true", help="on a busy machine: at the highest priority, as root")
    parser.add_argument("--resume", action="store_true", help="keep the trials of the run before")
    parser.add_argument("--least-right", type=float, help="ends well from this share of right causes; keeps nothing")
    parser.add_argument("--keep-json", type=Path, help="default: among the results")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    driver = Driver(asked)
    jobs = all_jobs(asked)
    if not jobs:
        return 0
    driver.run(jobs)
    print(table(driver.rows))
    bars = judge(driver.rows)
    if asked.least_right is not None:
        show(bars)
        return quick_status(driver.rows, asked.least_right)
    plants = GPU_PLANTS if asked.device == "cuda" else PLANTS
    figures = {
        "cores": driver.scene.num_cores,
        "seeds": asked.seeds,
        "plants": [{"name": each.name, "names": each.names, "side": each.side, "where": each.where} for each in plants],
        "trials": driver.rows,
    }
    return finish(f"diagnose-{'gpu' if asked.device == 'cuda' else 'cpu'}", figures, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
