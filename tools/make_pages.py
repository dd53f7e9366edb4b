#!/usr/bin/env python3
"""Writes the pages and pictures of the docs that are made from bench/results and from the tree of sources.

Of README.md and docs/fa/README.md only the part between the marks of the figure is written.

--check writes nothing and names those that are stale.

python3 -m tools.make_pages [--check]
"""

import argparse
import sys
from pathlib import Path

from bench.peers import feed_report
from tools import draw_house
from tools.pages import (
    against_dataloader,
    hardware_limit,
    hardware_limit_fa,
    how_fast,
    how_fast_fa,
    planted_causes,
    results,
    train_sizes,
)

DOCS = results.ROOT / "docs"


def pages() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    wanted = {
        DOCS / "guide" / "how-fast.md": how_fast.english(),
        DOCS / "guide" / "share-of-the-hardware-limit.md": hardware_limit.english(),
        DOCS / "fa" / "how-fast.md": how_fast_fa.persian(),
        DOCS / "fa" / "share-of-the-hardware-limit.md": hardware_limit_fa.persian(),
        DOCS / "pictures" / "against-dataloader.svg": against_dataloader.chart(),
        draw_house.PICTURE: draw_house.svg(),
    }
    for page, part in (
        (results.ROOT / "README.md", against_dataloader.english()),
        (DOCS / "fa" / "README.md", against_dataloader.persian()),
    ):
        wanted[page] = against_dataloader.filled(page, part)
    trials = planted_causes.english()
    if trials is not None:
        wanted[DOCS / "reference" / "planted-causes.md"] = trials
    sizes = train_sizes.header()
    if sizes is not None:
        wanted[train_sizes.HEADER] = sizes
    report = results.load("peers-feed")
    if report is not None:
        wanted[DOCS / "pictures" / "peers-feed.svg"] = feed_report.chart(report)
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    options = parser.parse_args()
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        name = path.relative_to(results.ROOT)
        if options.check:
            print(f"{name} is stale; run: python3 -m tools.make_pages")
        else:
            path.write_text(wanted[path], encoding="utf-8")
            print(name)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
