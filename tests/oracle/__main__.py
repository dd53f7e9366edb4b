"""Compares whole streams of the program with the oracle: `python -m tests.oracle --stoker build/stoker`."""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import os
import sys
import time
from pathlib import Path

# One thread a case: the jobs are the parallel part, and products this small lose half their time to thread hand-overs.
# NumPy reads these when it is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from tests.oracle.cases import NUM_COVERING, case_of, missed_pairs  # noqa: E402
from tests.oracle.factors import FACTORS, Case, all_pairs  # noqa: E402
from tests.oracle.run_case import run_case  # noqa: E402


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"), help="the program to try")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where a GPU is there")
    parser.add_argument("--cases", type=int, default=NUM_COVERING, help="how many, from --first on")
    parser.add_argument("--first", type=int, default=0, help=f"the first {NUM_COVERING} meet every pair of levels")
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--shard", default="0/1", help="K/N: every N-th case, from the K-th on")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no case after so long; 0: no limit")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FACTOR=LEVEL", help="another level, to narrow a fault"
    )
    parser.add_argument("--keep", type=Path, help="keep data, cache and batches in this folder")
    parser.add_argument("--pairs", action="store_true", help="say which pairs of levels are met, and end")
    return parser.parse_args()


def changed(case: Case, settings: list[str]) -> Case:
    for setting in settings:
        factor, _, level = setting.partition("=")
        if level not in FACTORS.get(factor, ()):
            raise SystemExit(f"--set {setting}: expected one of {FACTORS.get(factor) or sorted(FACTORS)}")
        case = {**case, factor: level}
    return case


def pair_line(cases: list[Case]) -> str:
    missed = len(missed_pairs(cases))
    pairs = len(all_pairs())
    return f"{len(FACTORS)} factors, {pairs} pairs of levels, {pairs - missed} met by {len(cases)} cases"


def print_pairs(cases: list[Case]) -> int:
    print(pair_line(cases))
    missed = sorted(missed_pairs(cases))
    for pair in missed:
        print("not met: {}={} with {}={}".format(*pair))
    return 1 if missed else 0


def again(arguments: argparse.Namespace, number: int) -> str:
    """The one command that runs a case again."""
    device = f" --device {arguments.device}" if arguments.device != "cpu" else ""
    settings = "".join(f" --set {setting}" for setting in arguments.set)
    return f"{sys.executable} -m tests.oracle --stoker {arguments.stoker}{device} --case {number}{settings}"


def try_case(number: int, arguments: argparse.Namespace) -> str:
    """The report of a case that differs; empty when it agrees."""
    case = changed(case_of(number), arguments.set)
    differs, commands = run_case(case, number, arguments.stoker.resolve(), arguments.device, arguments.keep)
    if not differs:
        return ""
    levels = " ".join(f"{factor}={level}" for factor, level in case.items())
    last = commands[-1] if commands else "none"
    return f"case {number}: {differs}\n  levels: {levels}\n  last command: {last}\n  again: {again(arguments, number)}"


def try_in_time(number: int, arguments: argparse.Namespace, end: float) -> str | None:
    """Nothing where the time was up."""
    return None if time.time() > end else try_case(number, arguments)


def main() -> int:
    arguments = parse_arguments()
    shard, num_shards = (int(part) for part in arguments.shard.split("/"))
    numbers = list(range(arguments.first, arguments.first + arguments.cases))[shard::num_shards]
    if arguments.case is not None:
        numbers = [arguments.case]
    if arguments.pairs:
        return print_pairs([case_of(number) for number in numbers])
    started = time.time()
    end = started + arguments.seconds if arguments.seconds else float("inf")
    done: list[int] = []
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        said = pool.map(functools.partial(try_in_time, arguments=arguments, end=end), numbers)
        for number, report in zip(numbers, said, strict=True):
            if report is not None:
                done.append(number)
            if report:
                failed += 1
                print(report, flush=True)
    cases = [changed(case_of(number), arguments.set) for number in done]
    print(f"{len(done)} cases, {failed} differ, {time.time() - started:.0f} s; {pair_line(cases)}")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
