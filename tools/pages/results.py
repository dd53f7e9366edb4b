"""The figures on record: JSON files of bench/results, and the line that says where a figure comes from."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"
RACES = ("peers-feed", "peers-mel")  # have pages of their own kind


def load(name: str) -> dict[str, Any] | None:
    """The record of that name, or nothing where no one has measured it yet."""
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def report_of(record: dict[str, Any]) -> dict[str, Any]:
    """What `stoker bench …` printed: the record itself, its `result`, or the side of stoker in a comparison."""
    report = record.get("result", record.get("stoker", record))
    return {"rows": report, "gpu": record.get("gpu")} if isinstance(report, list) else report


# The keys under which a row gives its share of a reference: one that was measured, or a GPU's memory.
SHARES = ("share_of_limit", "share_of_memory")


def referred_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a `stoker bench …` that have a reference, one a batch size where there are many."""
    rows: list[dict[str, Any]] = []
    for row in report_of(record).get("rows", []):
        sizes = row["batches"] if isinstance(row.get("batches"), list) else [{}]
        rows += [row | size for size in sizes]
    for row in rows:
        row["share_of_reference"] = next((row[key] for key in SHARES if row.get(key) is not None), None)
    return [row for row in rows if row["share_of_reference"] is not None and "clips_per_s" in row]


def names_with_references() -> list[str]:
    """Records with such rows, or with bars that were to be met."""
    names = sorted(path.stem for path in RESULTS.glob("*.json") if path.stem not in RACES)
    records = {name: load(name) or {} for name in names}
    return [name for name, record in records.items() if referred_rows(record) or record.get("bars")]


def source_line(record: dict[str, Any]) -> str:
    """Date, machine and command, as they are given beside every figure."""
    report = report_of(record)
    parts = [record.get("date", ""), record.get("machine", ""), report.get("gpu") or ""]
    parts += [f"{record['cores']} cores" if "cores" in record else ""]
    command = record.get("command") or report.get("command", "") or next(iter(record.get("commands", [])), "")
    command = f"stoker {command}" if command.startswith("bench ") else command
    return f"*{', '.join(filter(None, parts)) or 'date and machine are not on record'}: `{command}`*"
