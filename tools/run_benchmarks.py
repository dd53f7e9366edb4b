#!/usr/bin/env python3
"""Runs `stoker bench …` and the micro-benchmarks, and keeps what they print as JSON in bench/results/.

Each benchmark checks its own output before it prints a number; a failed check fails this run.
"""

import argparse
import datetime
import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
COMMANDS = {
    "mel-cpu": ["bench", "mel"],
    "cache": ["bench", "cache", "--cache", "/dev/shm/stoker-bench-cache"],
}


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def run(name: str, command: list[str]) -> bool:
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{name}: failed\n{done.stderr}", file=sys.stderr)
        return False
    kept = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "command": " ".join(["stoker", *command[1:]]),
        "result": json.loads(done.stdout),
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
    program = str(options.build.resolve() / "stoker")
    verdicts = [run(name, [program, *COMMANDS[name]]) for name in names]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
