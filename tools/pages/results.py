"""The figures on record: JSON files of bench/results, and the line that says where a figure comes from."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"


def load(name: str) -> dict[str, Any] | None:
    """The record of that name, or nothing where no one has measured it yet."""
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def names_with_rows() -> list[str]:
    """Records of `stoker bench …` whose rows say how much of their limit they reach."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8")).get("result", {})
        rows = result.get("rows", []) if isinstance(result, dict) else []
        if any("share_of_limit" in row and "clips_per_s" in row for row in rows):
            found.append(path.stem)
    return found


def source_line(record: dict[str, Any]) -> str:
    """Date, machine and command, as they stand beside every figure."""
    machine = record.get("machine", "machine not on record")
    cores = f", {record['cores']} cores" if "cores" in record else ""
    return f"*{record.get('date', 'undated')}, {machine}{cores}: `{record.get('command', '')}`*"
