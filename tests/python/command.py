"""The command beside the package: what Python says is compared with what it says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from stoker import _engine

# The package is in the folder of the build that made the program.
PROGRAM = str(Path(_engine.__file__).parents[2] / "stoker")

# Of the command alone, and what a second run measures anew.
OF_THE_COMMAND = {"command", "version", "seconds", "ok", "clips_per_s", "notices"}


def run_json(*words: str, exit_code: int = 0) -> dict[str, Any]:
    """The JSON of a command that ends with this exit code."""
    done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def without(report: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The report without what two runs may say differently."""
    return {key: value for key, value in report.items() if key not in OF_THE_COMMAND | set(keys)}
