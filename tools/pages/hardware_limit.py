"""The guide page "Share of the hardware limit": every benchmark's figure beside its reference.

What is said around the figures is in Words, so that the Persian page has the same tables.
"""

from dataclasses import dataclass
from typing import Any

from bench.peers.feed_report import table
from tools.pages import results

HEAD = """# Share of the hardware limit

<!-- Written by `python3 -m tools.make_pages` from bench/results; edit that, not this. -->

A speed alone says little. Each benchmark therefore measures a reference in the same run, on the same cores, in turn
with the figure: a plain copy of the same bytes for cached records, the log-mel of one clip that stays in the
processor's cache for sound files, the multiply-adds of a core for the mel, the bus or the memory of a GPU. The share
is the figure divided by its reference. It may exceed 100 %: the feed is faster than the plain copy where its stores
bypass the cache, or where no copy is needed because a GPU reads the cache's own pages; and any figure can exceed a
reference that was measured in a slower moment.
"""

# What tells one row of a benchmark from the next, as far as it varies.
NAMING = (
    *("operation", "detail", "device", "loader", "path", "way", "preset", "level", "variant", "lengths", "dtype"),
    *("batch", "batch_size", "batch_frames", "threads", "num_workers", "changed"),
)


@dataclass(frozen=True)
class Words:
    """What the page says around the figures, in one language."""

    head: str
    titles: dict[str, str]
    heads: tuple[str, ...]
    reference: str  # with a place for the references
    at_demand: str
    at_demand_heads: tuple[str, ...]
    on_gpu: str
    on_gpu_heads: tuple[str, ...]
    time_goes: str
    thread_heads: tuple[str, ...]
    stage_heads: tuple[str, ...]
    targets: str
    target_heads: tuple[str, ...]
    yes_no: tuple[str, str]
    tail: str = ""


ENGLISH = Words(
    head=HEAD,
    titles={
        "mel-cpu": "Log-mel on a core",
        "cache": "Records from the cache into batches",
        "feed": "The whole feed",
        "feed-demand": "The whole feed at a fixed demand",
        "feed-demand-16": "The whole feed at nine tenths of what sixteen cores bring",
        "gpu-mel": "Log-mel on a GPU",
        "gpu-mel-presets": "Log-mel on a GPU, other presets and the portable kernel",
        "gpu-ops": "Small operations on a GPU",
        "gpu-feed": "The whole feed into a GPU",
    },
    heads=("what", "clips/s, best", "median", "share of reference", "CPU s per 1,000 clips"),
    reference="Reference: {}.",
    at_demand="At that demand, beside the same consumer fed from memory:",
    at_demand_heads=("what", "step, ms", "stall", "interval CV, feed / memory", "p99/p50, feed / memory"),
    on_gpu="What the GPU did, timed on the GPU:",
    on_gpu_heads=(
        "what",
        "waits for a batch",
        "AU: time without the feed, of time with it",
        "step, ms, with / without feed",
        "cost",
        "driver, mean / least",
    ),
    time_goes="Where the time goes:",
    thread_heads=(
        *("what", "workers busy", "thread to the GPU waits for them", "for copies", "for the consumer"),
        *("its calls, us a batch", "bus busy"),
    ),
    stage_heads=("stage", "ns a frame", "share"),
    targets="Targets:",
    target_heads=("figure", "found", "target", "reached"),
    yes_no=("yes", "**no**"),
)


def text_of(key: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return value if isinstance(value, str) else f"{key.replace('_', ' ')} {value:,}"


def row_name(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The values in which this row differs from some other."""
    differing = [key for key in NAMING if key in row and len({str(other.get(key)) for other in rows}) > 1]
    return ", ".join(filter(None, (text_of(key, row[key]) for key in differing))) or "all"


def row_cells(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    best = row.get("best_clips_per_s", row["clips_per_s"])
    median = row.get("median_clips_per_s")
    cpu_s = row.get("cpu_s_per_1000_clips")
    return [
        row_name(row, rows),
        f"{best:,.0f}",
        "–" if median is None else f"{median:,.0f}",
        f"{100 * row['share_of_reference']:.0f} %",
        "–" if cpu_s is None else f"{cpu_s:.3g}",
    ]


def steadiness(rows: list[dict[str, Any]], words: Words) -> list[str]:
    """Rows measured at a demand: how even the batches came, beside the same consumer fed from memory."""
    stepped = [row for row in rows if row.get("step_ms") and row.get("from_memory")]
    if not stepped:
        return []
    cells = [
        [
            row_name(row, rows),
            f"{row['step_ms']:.3f}",
            f"{100 * row['stall_share']:.2f} %",
            f"{row['interval_cv']:.3f} / {row['from_memory']['interval_cv']:.3f}",
            f"{row['p99_over_p50']:.3f} / {row['from_memory']['p99_over_p50']:.3f}",
        ]
        for row in stepped
    ]
    return [f"{words.at_demand}\n", table(words.at_demand_heads, cells)]


def gpu_steps(rows: list[dict[str, Any]], words: Words) -> list[str]:
    """Rows with a trainer on the GPU: waiting for data and what the feed's kernels cost a step, told apart."""
    stepped = [row for row in rows if row.get("au") is not None and row.get("step_alone_ms")]
    if not stepped:
        return []
    cells = [
        [
            row_name(row, rows),
            f"{100 * row['stall_share']:.2f} %",
            f"{100 * row['au']:.2f} %",
            f"{row['step_ms']:.3f} / {row['step_alone_ms']:.3f}",
            f"{100 * row['step_cost']:+.2f} %",
            "–" if row.get("gpu_util_mean") is None else f"{row['gpu_util_mean']:.0f} / {row['gpu_util_min']:.0f} %",
        ]
        for row in stepped
    ]
    return [f"{words.on_gpu}\n", table(words.on_gpu_heads, cells)]


def thread_lines(rows: list[dict[str, Any]], words: Words) -> list[str]:
    """Where the feed's threads spent their time on the way to a GPU."""
    timed = [row for row in rows if (row.get("times") or {}).get("device_thread")]
    cells = [
        [
            row_name(row, rows),
            *(
                f"{100 * share:.0f} %"
                for share in (
                    row["times"]["workers_busy"],
                    row["times"]["device_thread"]["waits_for_workers"],
                    row["times"]["device_thread"]["waits_for_copy"],
                    row["times"]["device_thread"]["waits_for_slot"],
                )
            ),
            f"{row['times']['device_thread']['launch_us_per_batch']:.0f}",
            "–" if row["times"]["bus_busy"] is None else f"{100 * row['times']['bus_busy']:.0f} %",
        ]
        for row in timed
    ]
    return [f"{words.time_goes}\n", table(words.thread_heads, cells)] if cells else []


def stage_lines(result: dict[str, Any], words: Words) -> list[str]:
    """Where the time goes, for benchmarks that look inside themselves."""
    stages: dict[str, float] = result.get("stage_ns_per_frame", {})
    if not stages:
        return []
    whole = sum(stages.values())
    rows = [[name, f"{ns:.0f}", f"{100 * ns / whole:.0f} %"] for name, ns in stages.items()]
    return [f"{words.time_goes}\n", table(words.stage_heads, rows)]


def bar_lines(record: dict[str, Any], words: Words) -> list[str]:
    """The targets, and whether they were reached."""
    bars: list[dict[str, Any]] = record.get("bars", [])
    cells = [
        [
            bar["name"].replace("share of the limit", "share of the reference"),
            f"{bar['found']:,.4g}",
            bar["bar"],
            words.yes_no[0 if bar["ok"] else 1],
        ]
        for bar in bars
    ]
    return [f"{words.targets}\n", table(words.target_heads, cells)] if cells else []


def title_of(name: str, words: Words) -> str:
    """A record of a kind that is known, perhaps with something behind its name: gpu-feed-cached."""
    for known in sorted(words.titles, key=len, reverse=True):
        if name.startswith(known):
            rest = name[len(known) :].strip("-").replace("-", " ")
            return f"{words.titles[known]}: {rest}" if rest else words.titles[known]
    return name


def reference_of(row: dict[str, Any], result: dict[str, Any]) -> str:
    """The reference of the row's speed."""
    return str(row.get("limit") or result.get("limit") or "")


def section(name: str, words: Words) -> list[str]:
    record = results.load(name)
    assert record is not None
    result, rows = results.report_of(record), results.referred_rows(record)
    references = list(dict.fromkeys(reference_of(row, result) for row in rows))
    return [
        f"## {title_of(name, words)}\n",
        f"{results.source_line(record)}\n",
        words.reference.format("; ".join(references)) + "\n" if any(references) else "",
        table(words.heads, [row_cells(row, rows) for row in rows]) if rows else "",
        *steadiness(rows, words),
        *gpu_steps(rows, words),
        *thread_lines(rows, words),
        *bar_lines(record, words),
        *stage_lines(result, words),
    ]


def page(words: Words) -> str:
    found = results.names_with_references()
    names = [name for name in words.titles if name in found] + [name for name in found if name not in words.titles]
    parts = [words.head, *(part for name in names for part in section(name, words) if part), words.tail]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


def english() -> str:
    return page(ENGLISH)
