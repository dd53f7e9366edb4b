"""From the runs of a race to its tables and its picture; the pages of the guide are built from the same tables."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.peers.bar_chart import Bar, BarGroup, bar_chart

LABELS = {
    "torch": "torch DataLoader",
    "dali": "DALI (CPU)",
    "grain": "Grain",
    "tensorflow": "tf.data",
    "spdl": "SPDL",
    "lhotse": "Lhotse",
    "streaming": "MosaicML Streaming",
    "webdataset": "WebDataset",
    "stoker-python": "stoker (Python)",
}
TITLES = {"cached": "cached mel to padded batch, clips/s", "files": "sound file to padded batch, clips/s"}
RACE_HEADS = (
    "loader",
    "setting",
    "clips/s, best",
    "median",
    "CPU s per 1,000 clips",
    "interval CV",
    "CV at 90 % of its rate",
    "stall there",
    "first batch, ms",
    "from process start, s",
    "memory, MB",
    "padding",
)
TUNING_HEADS = ("path", "loader", "settings tried, clips/s of one short run")
RESUME_HEADS = ("loader", "stopped with", "resumed with", "what happened", "state, bytes")
NOT_IN_RACE = "did not take part in this race"
COMPARED_ROW = "stoker native f32"
# The columns of the race in which entrants are compared: what each is, its place in the table, whether more is better.
COMPARED = (
    ("clips_per_s", 2, True),
    ("cpu_s_per_1000_clips", 4, False),
    ("interval_cv", 5, False),
    ("paced_cv", 6, False),
    ("paced_stall", 7, False),
    ("first_batch_s", 8, False),
    ("first_batch_from_start_s", 9, False),
    ("memory_mb", 10, False),
    ("padding_share", 11, False),
)
DAMAGE_HEADS = ("damage", "loader", "of 64 utterances delivered", "said", "names the file")
MOST_SHOWN = 160
MEDIANS = (
    *("cpu_s_per_1000_clips", "interval_cv", "paced_cv", "paced_stall", "p50_ms", "p99_ms", "first_batch_s"),
    *("first_batch_from_start_s", "memory_mb", "padding_share", "share_of_limit"),
)

Row = Mapping[str, Any]


def summarise(runs: Sequence[Row]) -> list[dict[str, Any]]:
    """One row an entrant and path: best and median speed, medians of the rest, fastest entrant first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for run in runs:
        groups.setdefault((run["path"], run["name"]), []).append(run)
    rows = []
    for (path, name), members in groups.items():
        speeds = [float(run["clips_per_s"]) for run in members]
        row: dict[str, Any] = {"name": name, "path": path, "setting": members[0]["setting"]}
        row |= {key: members[0][key] for key in ("version", "limit", "stored") if key in members[0]}
        row |= {"clips_per_s": max(speeds), "median_clips_per_s": statistics.median(speeds), "runs_clips_per_s": speeds}
        row |= {key: statistics.median(run[key] for run in members) for key in MEDIANS if key in members[0]}
        rows.append(row)
    return sorted(rows, key=lambda row: (row["path"], -row["clips_per_s"]))


def label_of(name: str) -> str:
    return LABELS.get(name, name)


def is_own(name: str) -> bool:
    return name.startswith("stoker")


def stored_of(row: Row) -> str:
    """Number format of the mels that a row reads. Records that do not say it are older: stoker read float16."""
    return str(row.get("stored", "f16" if is_own(row["name"]) and row["path"] == "cached" else "f32"))


def row_label(row: Row) -> str:
    """The loader, and what it reads where that is not what it delivers."""
    name = label_of(row["name"])
    delivered = "f16" if name.endswith("f16") else "f32"
    return name if stored_of(row) == delivered else f"{name}, stored {stored_of(row)}"


def is_like_peers(row: Row) -> bool:
    """Peers read and deliver float32; a row that reads or delivers less is shown and not compared."""
    return row["name"] in ("stoker native f32", "stoker-python") and stored_of(row) == "f32"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def race_cells(row: Row) -> list[str]:
    return [
        row_label(row),
        row["setting"].replace(",", ", "),
        f"{row['clips_per_s']:,.0f}",
        f"{row['median_clips_per_s']:,.0f}",
        f"{row['cpu_s_per_1000_clips']:.3g}",
        f"{row['interval_cv']:.2f}",
        f"{row['paced_cv']:.2f}" if "paced_cv" in row else "–",
        f"{100 * row['paced_stall']:.1f} %" if "paced_stall" in row else "–",
        f"{1e3 * row['first_batch_s']:.1f}",
        f"{row['first_batch_from_start_s']:.2f}",
        f"{row['memory_mb']:,.0f}",
        f"{100 * row['padding_share']:.0f} %",
    ]


def rows_of(report: Row, path: str) -> list[Row]:
    return [row for row in report["rows"] if row["path"] == path]


def missing_peers(report: Row, path: str) -> list[tuple[str, str]]:
    """The peers without a row, each with the reason: none is left out in silence."""
    present = {row["name"] for row in rows_of(report, path)}
    why = {row["name"]: str(row["why"]) for row in report["not_run"] if row["path"] in ("", path)}
    return [(name, why.get(name, NOT_IN_RACE)) for name in LABELS if name not in present]


def missing_cells(name: str, why: str) -> list[str]:
    return [label_of(name), why, *["–"] * (len(RACE_HEADS) - 2)]


def race_table(report: Row, path: str, heads: Sequence[str] = RACE_HEADS) -> str:
    rows = [race_cells(row) for row in rows_of(report, path)]
    return table(heads, rows + [missing_cells(name, why) for name, why in missing_peers(report, path)])


def best_peer(report: Row, path: str) -> Row | None:
    peers = [row for row in rows_of(report, path) if not is_own(row["name"])]
    return max(peers, key=lambda row: float(row["clips_per_s"])) if peers else None


def ratios(report: Row, path: str) -> dict[str, tuple[float, float]]:
    """How many times the best peer the feed of stoker is, like with like: by the best runs, and by the medians."""
    peer = best_peer(report, path)
    if peer is None:
        return {}
    return {
        row["name"]: (
            row["clips_per_s"] / peer["clips_per_s"],
            row["median_clips_per_s"] / peer["median_clips_per_s"],
        )
        for row in rows_of(report, path)
        if is_like_peers(row)
    }


def ratio_lines(report: Row, path: str) -> list[str]:
    peer = best_peer(report, path)
    if peer is None:
        return []
    best_name = label_of(peer["name"])
    lines = [
        f"- {label_of(name)}: {best:.1f} times {best_name}, the best peer (medians: {median:.1f} times)"
        for name, (best, median) in ratios(report, path).items()
    ]
    return lines or ["- No ratio: this race has no row of stoker that reads and delivers float32, as the peers do."]


def compared_row(report: Row, path: str) -> Row | None:
    """The row of the feed itself, if it reads and delivers what the peers do."""
    return next((row for row in rows_of(report, path) if is_like_peers(row) and row["name"] == COMPARED_ROW), None)


class Ahead(NamedTuple):
    """A column in which peers are better than the feed of stoker that reads and delivers what they do."""

    column: int
    own: str
    peers: list[tuple[str, str]]  # best first


def ahead_of_stoker(report: Row, path: str) -> list[Ahead]:
    own = compared_row(report, path)
    if own is None:
        return []
    peers = [row for row in rows_of(report, path) if not is_own(row["name"])]
    found = []
    for key, column, more_is_better in COMPARED:
        if any(key not in row for row in (own, *peers)):
            continue  # a record that is older than the column
        sign = -1.0 if more_is_better else 1.0
        best_first = sorted(peers, key=lambda row: sign * float(row[key]))
        better = [row for row in best_first if sign * row[key] < sign * own[key]]
        if better:
            named = [(label_of(row["name"]), race_cells(row)[column]) for row in better]
            found.append(Ahead(column, race_cells(own)[column], named))
    return found


def ahead_lines(report: Row, path: str) -> list[str]:
    """Where peers are ahead, said as plainly as where they are not."""
    if compared_row(report, path) is None or best_peer(report, path) is None:
        return []
    lines = [
        f"- ahead of stoker native f32 ({ahead.own}) in {RACE_HEADS[ahead.column]}: "
        + ", ".join(f"{name} {figure}" for name, figure in ahead.peers)
        for ahead in ahead_of_stoker(report, path)
    ]
    return lines or ["- No peer is ahead of stoker native f32 in any column."]


def smaller_states(report: Row) -> list[tuple[str, int]]:
    """Peers that went on exactly, from a smaller state than stoker's."""
    exact = [row for row in report["resume"] if row["outcome"] == "exact"]
    own = min((row["state_bytes"] for row in exact if is_own(row["name"])), default=0)
    return sorted({(label_of(row["name"]), row["state_bytes"]) for row in exact if row["state_bytes"] < own})


def smaller_states_line(report: Row) -> str:
    """Empty where there is none."""
    states = ", ".join(f"{name} ({size:,} bytes)" for name, size in smaller_states(report))
    return f"With a smaller state than stoker's: {states}.\n" if states else ""


def tuning_table(report: Row, heads: Sequence[str] = TUNING_HEADS) -> str:
    """Every setting that was tried, one row a peer and path, best first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in report["tuning"]:
        groups.setdefault((row["path"], row["name"]), []).append(row)
    rows = []
    for (path, name), members in groups.items():
        ordered = sorted(members, key=lambda row: -float(row["clips_per_s"]))
        tried = "; ".join(f"{row['setting'].replace(',', ', ')}: {row['clips_per_s']:,.0f}" for row in ordered)
        rows.append([path, label_of(name), tried])
    return table(heads, sorted(rows))


def outcome_text(row: Row) -> str:
    if row["outcome"] == "exact":
        return "goes on with the very next batch"
    if row["outcome"] == "differs":
        missing, repeated = row["clips_missing"], row["clips_repeated"]
        return f"goes on elsewhere without a message: {missing} utterances missing, {repeated} seen before"
    if row["outcome"] == "cannot":
        return f"cannot: {row['said']}"
    return f"`{row['said']}`"


def resume_cells(row: Row) -> list[str]:
    state = f"{row['state_bytes']:,}" if "state_bytes" in row else "–"
    return [label_of(row["name"]), row["from"], row["to"], outcome_text(row), state]


def resume_table(report: Row, heads: Sequence[str] = RESUME_HEADS) -> str:
    return table(heads, [resume_cells(row) for row in report["resume"]])


def damage_text(row: Row) -> str:
    """What came out."""
    if row["delivered_wrong"]:
        return f"{row['delivered']} utterances, {row['delivered_wrong']} of them wrong"
    if row["delivered"] < row["clips"] - 1:
        return f"stopped after {row['delivered']}"
    return f"{row['delivered']} utterances, all correct"


def damage_cells(row: Row) -> list[str]:
    told = f"`{row['said'][:MOST_SHOWN]}`" if row["said"] else "nothing"
    return [row["damage"], label_of(row["name"]), damage_text(row), told, "yes" if row["names_file"] else "no"]


def damage_table(report: Row, heads: Sequence[str] = DAMAGE_HEADS) -> str:
    return table(heads, [damage_cells(row) for row in report["damage"]])


def markdown(report: Row) -> str:
    """The whole report, as printed at the end of a race."""
    head = (
        f"{report['date']}, {report['machine']}, {report['cores']} cores; `{report['command']}`: "
        f"{report['clips']:,} clips, batches of {report['batch_clips']}, each in turn {report['rounds']} times, "
        f"{report['disturbed_runs']} runs disturbed\n"
    )
    parts = [head] if report["complete"] else [head, "**Incomplete**: not everything was run.\n"]
    for path, title in TITLES.items():
        parts += [f"## {title}\n", race_table(report, path)]
        lines = ratio_lines(report, path) + ahead_lines(report, path)
        parts += ["\n".join(lines) + "\n"] if lines else []
    if report["resume"]:
        parts += ["## Resumed with another number of workers\n", resume_table(report)]
        parts += [line] if (line := smaller_states_line(report)) else []
    if report["damage"]:
        parts += ["## One damaged file\n", damage_table(report)]
    parts += [f"- not run: {row['name']} {row['path']}: {row['why']}" for row in report["not_run"]]
    return "\n".join(parts).rstrip() + "\n"


def chart(report: Row, titles: Mapping[str, str] = TITLES) -> str:
    groups = []
    for path, title in titles.items():
        bars = [Bar(row_label(row), row["clips_per_s"], is_own(row["name"])) for row in rows_of(report, path)]
        if bars:
            groups.append(BarGroup(title, bars))
    said = "; ".join(
        f"{group.title}: " + ", ".join(f"{bar.label} {bar.value:,.0f}" for bar in group.bars) for group in groups
    )
    return bar_chart(said, groups)


def write_chart(report: Row, path: Path) -> None:
    path.write_text(chart(report), encoding="utf-8")
