"""What the benchmarks' records say in one way: the machine, the command, and each bar beside what was found."""

from __future__ import annotations

import datetime
import json
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
Json = dict[str, Any]


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def gpu_name() -> str | None:
    """As the driver names it; None without one."""
    try:
        words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        said = subprocess.run(words, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip().splitlines()[0]


def this_command() -> str:
    """The one that runs, as a person would type it."""
    module = ".".join(Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("").parts)
    return shlex.join(["python3", "-m", module, *sys.argv[1:]])


class Bars:
    """What was promised beside what was found."""

    def __init__(self) -> None:
        self.rows: list[Json] = []

    def at_least(self, name: str, found: float, bar: float) -> None:
        self.rows.append({"name": name, "found": found, "bar": f">= {bar:g}", "ok": found >= bar})

    def at_most(self, name: str, found: float, bar: float) -> None:
        self.rows.append({"name": name, "found": found, "bar": f"<= {bar:g}", "ok": found <= bar})

    def ok(self) -> bool:
        return all(row["ok"] for row in self.rows)


def show(bars: Bars) -> None:
    for row in bars.rows:
        print(f"{'pass' if row['ok'] else 'FAIL'}  {row['name']}: {row['found']:,.4g}, {row['bar']}", file=sys.stderr)


def finish(name: str, figures: Json, bars: Bars, kept: Path | None) -> int:
    """Prints every bar, keeps the record, and says by the exit status whether all are met. The default place is the
    file of this name among the results."""
    record = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "gpu": gpu_name(),
        "command": this_command(),
        **figures,
        "bars": bars.rows,
        "ok": bars.ok(),
    }
    show(bars)
    target = kept or RESULTS / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"kept in {target}", file=sys.stderr)
    return 0 if bars.ok() else 1
