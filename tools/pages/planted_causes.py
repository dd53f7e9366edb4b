"""The page "Planted causes": how often the diagnosis named what was planted, as a table of planted against named."""

from __future__ import annotations

from typing import Any

from bench.peers.feed_report import table
from tools.pages import results

Json = dict[str, Any]

HEAD = """# Planted causes

<!-- Written by `python3 -m tools.make_pages` from bench/results; edit that, not this. -->

Is `stoker diagnose` right? Each trial draws a healthy feed (data, batch size, layout, buffer) and a consumer that it
would satisfy, spoils one thing by a drawn amount, and asks the same function that the command calls, with 5 s for all
its measurements. A cause that is planted at a seam is a storage, stage, consumer or sampler of the trial's own; one
from outside is real: other programs, a quota, files that left memory, other files. A trial is right when the first
cause that is named is the planted one. Limits were chosen with other seeds than those of this page. While other
programs use the machine a trial is repeated, which is decided before its answer is looked at.

`make bench-diagnose` runs it again.
"""


def count_named(rows: list[Json]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        first = row["found"][0] if row["found"] else row.get("verdict", "failed")
        counts[first] = counts.get(first, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def of_kind(record: Json, kind: str) -> list[Json]:
    return [row for row in record["trials"] if row["kind"] == kind]


def right_of(rows: list[Json]) -> str:
    return f"{sum(row['right'] for row in rows)} of {len(rows)}"


def causes_table(record: Json) -> str:
    lines = []
    for plant in record["plants"]:
        rows = [row for row in of_kind(record, "cause") if row["name"] == plant["name"]]
        if not rows:
            lines.append([plant["name"], plant["side"], plant["where"], "not here", ""])
            continue
        named = ", ".join(f"`{name}` {count}" for name, count in count_named(rows).items())
        lines.append([plant["name"], plant["side"], plant["where"], right_of(rows), named])
    return table(["planted", "whose time", "where", "right", "named first"], lines)


def pairs_table(record: Json) -> str:
    rows = of_kind(record, "pair")
    lines = []
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        found = "; ".join(", ".join(f"`{each}`" for each in row["found"]) or "nothing" for row in mine)
        lines.append([name, right_of(mine), found])
    return table(["planted", "both among the first three", "named"], lines)


def cures_table(record: Json) -> str:
    lines = []
    for row in of_kind(record, "what-if"):
        lines += [
            [row["name"], cure["change"], f"{cure['predicted_gain']:.2f}", f"{cure['measured_gain']:.2f}"]
            for cure in row.get("cures", [])
        ]
    return table(["planted", "cure", "predicted gain", "measured gain"], lines)


def page(record: Json) -> str:
    bars = table(
        ["figure", "found", "bar", "met"],
        [[bar["name"], f"{bar['found']:.3f}", bar["bar"], "yes" if bar["ok"] else "no"] for bar in record["bars"]],
    )
    healthy = of_kind(record, "healthy")
    parts = [HEAD, f"{results.source_line(record)}\n", bars, "## One cause\n", causes_table(record)]
    named = ", ".join(f"`{name}` {count}" for name, count in count_named(healthy).items())
    parts += ["## None\n", f"Of {len(healthy)} healthy feeds {right_of(healthy)} were called so: {named}.\n"]
    parts += ["## Two causes\n", pairs_table(record), "## What a cure brings\n", cures_table(record)]
    return "\n".join(parts)


def gpu_part(record: Json, others: Json) -> str:
    """Healthy feeds are judged over both machines: of ten, one alone would decide."""
    healthy = of_kind(record, "healthy")
    named = ", ".join(f"`{name}` {count}" for name, count in count_named(healthy).items())
    right = sum(row["right"] for row in healthy + of_kind(others, "healthy"))
    count = len(healthy) + len(of_kind(others, "healthy"))
    parts = ["## On a GPU\n", f"{results.source_line(record)}\n", causes_table(record)]
    parts.append(
        f"Of {len(healthy)} healthy feeds into GPU memory {right_of(healthy)} were called so: {named}. "
        f"With those above it is {right} of {count}.\n"
    )
    return "\n".join(parts)


def english() -> str | None:
    """Nothing where no one has run the trials yet."""
    record, on_gpu = results.load("diagnose-cpu"), results.load("diagnose-gpu")
    if record is None:
        return None
    return page(record) if on_gpu is None else f"{page(record)}\n{gpu_part(on_gpu, record)}"
