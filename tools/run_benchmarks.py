#!/usr/bin/env python3
"""Runs `stoker bench …` and the micro-benchmarks, and keeps what they print as JSON in bench/results/.

Each benchmark checks its own output before it prints a number; a failed check fails this run.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import RunFailed, run_stoker
from bench.record import RESULTS, ROOT, processor

COMMANDS = {
    "mel-cpu": ["bench", "mel"],
    "cache": ["bench", "cache", "--cache", "/dev/shm/stoker-bench-cache"],
}


def run(name: str, program: Path) -> bool:
    try:
        result = run_stoker(program, *COMMANDS[name], tells=False)
    except RunFailed as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    kept = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "command": " ".join(["stoker", *COMMANDS[name]]),
        "result": result,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {RESULTS.relative_to(ROOT)}/{name}.json")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(COMMANDS)}")
    options = parser.parse_args()
    names = options.names or list(COMMANDS)
    program = options.build.resolve() / "stoker"
    verdicts = [run(name, program) for name in names]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
