"""The comparison with torch DataLoader at the top of the README and of the Persian start page: a figure, a picture."""

import re
from pathlib import Path
from typing import Any

from bench.peers import feed_report
from bench.peers.bar_chart import Bar, BarGroup, bar_chart
from tools.pages import results

DIGITS = str.maketrans("0123456789,.", "۰۱۲۳۴۵۶۷۸۹٬٫")
PART = re.compile(
    r"(?<=<!-- figure, written by `python3 -m tools\.make_pages` -->\n).*?(?=<!-- end of the figure -->)", re.DOTALL
)
NAMES = ("torch DataLoader", "stoker")
# What a trainer with a GPU has: mels that were made before, or sound files; both sides deliver the same numbers.
GPU_WAYS = ("cached f32", "files gpu")

ENGLISH = """![Clips a second: stoker beside torch DataLoader](docs/pictures/against-dataloader.svg)

**{times:.0f} times PyTorch's DataLoader** on the same {cores} cores: {own:,.0f} clips of 6.6 s a second against
{peer:,.0f}, from the same sound files to the same float32 mels. DataLoader ran with the best of its settings.

{source}

"""
PERSIAN = """![کلیپ در ثانیه: استوکر در کنار torch DataLoader](../pictures/against-dataloader.svg)

**{times} برابر DataLoader در PyTorch** روی همان {cores} هسته: {own} کلیپ ۶٫۶ ثانیه‌ای در هر ثانیه، در برابر {peer} تا،
از همان فایل‌های صوتی به همان مل‌های float32. DataLoader با بهترین تنظیم خودش اجرا شده است.

{source}

"""


def race() -> tuple[dict[str, Any], feed_report.Row, feed_report.Row] | None:
    """The record of the race from sound files, stoker's row in it, and DataLoader's."""
    report = results.load("peers-feed")
    if report is None:
        return None
    rows = feed_report.rows_of(report, "files")
    own = feed_report.compared_row(report, "files")
    peer = next((row for row in rows if row["name"] == "torch"), None)
    return None if own is None or peer is None else (report, own, peer)


def english() -> str:
    found = race()
    if found is None:
        return ""
    report, own, peer = found
    speeds = {"own": own["clips_per_s"], "peer": peer["clips_per_s"]}
    times = speeds["own"] / speeds["peer"]
    return ENGLISH.format(times=times, cores=report["cores"], source=results.source_line(report), **speeds)


def persian() -> str:
    found = race()
    if found is None:
        return ""
    report, own, peer = found
    speeds = {"own": own["clips_per_s"], "peer": peer["clips_per_s"]}
    numbers = speeds | {"times": speeds["own"] / speeds["peer"], "cores": report["cores"]}
    texts = {name: f"{number:,.0f}".translate(DIGITS) for name, number in numbers.items()}
    return PERSIAN.format(source=results.source_line(report), **texts)


def chart() -> str:
    groups = []
    if found := race():
        report, own, peer = found
        title = f"sound files to mels in host memory, float32, {report['cores']} cores: clips/s"
        groups.append(pair(title, peer["clips_per_s"], own["clips_per_s"]))
    record = results.load("gpu-feed-peers") or {}
    for name in GPU_WAYS:
        if way := record.get("ways", {}).get(name):
            title = f"into a GPU, {record['cores']} cores, {way['title']}: clips/s"
            groups.append(pair(title, way["torch"]["clips_per_s"], way["stoker_clips_per_s"]))
    said = "; ".join(
        f"{group.title}: " + ", ".join(f"{bar.label} {bar.value:,.0f}" for bar in group.bars) for group in groups
    )
    return bar_chart(said, groups)


def pair(title: str, peer: float, own: float) -> BarGroup:
    return BarGroup(title, [Bar(NAMES[0], peer), Bar(NAMES[1], own, own=True)])


def filled(page: Path, part: str) -> str:
    """The page with its part between the two marks replaced."""
    text, count = PART.subn(lambda _: part, page.read_text(encoding="utf-8"))
    assert count == 1, f"{page}: expected one part for the figure, found {count}"
    return text
