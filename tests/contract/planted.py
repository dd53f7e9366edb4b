"""What the tests of the checks share: files planted in a folder, and what the check in tools/ says about them."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")
TOOLS = Path(__file__).resolve().parents[2] / "tools"


def verdict(check: str, files: Mapping[str, str], *options: str) -> int:
    """Exit status of tools/`check` on a folder with these files; the folder's path comes after the options."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(TOOLS / check), *options, folder]
        return subprocess.run(command, check=False, capture_output=True).returncode


def judge(verdict_of: Callable[[Case], int], planted: Mapping[str, Case], clean: Mapping[str, Case]) -> int:
    """0 when every planted case is refused with exit 1 and every clean one passes; else 1, after naming the others."""
    wrong = [f"not caught: {title}" for title, case in planted.items() if verdict_of(case) != 1]
    wrong += [f"refused: {title}" for title, case in clean.items() if verdict_of(case) != 0]
    for line in wrong:
        print(line)
    return 1 if wrong else 0
