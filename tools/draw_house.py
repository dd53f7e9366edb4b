#!/usr/bin/env python3
"""Draws docs/pictures/house.svg: the layers that tools/check_layers.py allows, and the rooms found in src/stoker.

    python3 -m tools.draw_house        writes the picture; `python3 -m tools.make_pages` does so with the pages

Each folder is above all folders that it may include.
"""

import sys
from html import escape
from pathlib import Path

from tools.check_layers import ALLOWED

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "house.svg"
WIDTH, MARGIN, GAP = 880, 10, 10
NAME_HEIGHT, ROOM_HEIGHT = 30, 26
LETTER_WIDTH = 7.2  # of the small font, on average
STYLE = """
    .folder { fill: #f4f1ea; stroke: #8a7f6a; } .room { fill: #fffdf8; stroke: #c9bfa9; }
    .feed { fill: #f6d9b8; stroke: #b0621a; } text { fill: #2b2620; } .small { font-size: 12px; fill: #5c5446; }
    @media (prefers-color-scheme: dark) {
      .folder { fill: #2c2a26; } .room { fill: #3a3731; } .feed { fill: #4a3219; }
      text { fill: #eee7da; } .small { fill: #c9bfae; }
    }
"""


def level_of(folder: str) -> int:
    """0 for a folder that includes no other, else one more than the highest that it may include."""
    return max((level_of(below) + 1 for below in ALLOWED[folder]), default=0)


def floors() -> list[list[str]]:
    """Folders by level, the highest level first."""
    levels = {folder: level_of(folder) for folder in ALLOWED}
    return [[name for name in ALLOWED if levels[name] == level] for level in range(max(levels.values()), -1, -1)]


def rooms_in(folder: Path) -> list[Path]:
    """Folders directly inside it that hold sources."""
    return sorted(path for path in folder.glob("*/") if any(path.rglob("*.h")) or any(path.rglob("*.cc")))


def rooms_of(folder: str, source: Path) -> list[str]:
    """Names of the rooms, each with the rooms inside it."""
    labels = []
    for room in rooms_in(source / folder):
        inner = ", ".join(path.name for path in rooms_in(room))
        labels.append(f"{room.name} ({inner})" if inner else room.name)
    return labels


def room_width(label: str) -> float:
    return len(label) * LETTER_WIDTH + 12


def folder_box(folder: str, rooms: list[str], x: float, y: float, size: tuple[float, float]) -> list[str]:
    below = ", ".join(name for name in ALLOWED if name in ALLOWED[folder])
    kind = "feed" if folder == "feed" else "folder"
    width, height = size
    parts = [
        f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="6"/>',
        f'<text x="{x + 10:.0f}" y="{y + 20:.0f}">{escape(folder)}'
        + (f'<tspan class="small" dx="8">includes {escape(below)}</tspan>' if below else "")
        + "</text>",
    ]
    at = x + 10
    for label in rooms:
        parts.append(
            f'<rect class="room" x="{at:.0f}" y="{y + 30:.0f}" width="{room_width(label):.0f}" '
            f'height="{ROOM_HEIGHT}" rx="4"/>'
            f'<text class="small" x="{at + 6:.0f}" y="{y + 47:.0f}">{escape(label)}</text>'
        )
        at += room_width(label) + 6
    return parts


def svg(source: Path = ROOT / "src" / "stoker") -> str:
    parts: list[str] = []
    y = float(MARGIN)
    for floor in floors():
        rooms = {folder: rooms_of(folder, source) for folder in floor}
        needs = {folder: max(190.0, 14 + sum(room_width(label) + 6 for label in rooms[folder])) for folder in floor}
        height = NAME_HEIGHT + (ROOM_HEIGHT + 8 if any(rooms.values()) else 0)
        free = WIDTH - 2 * MARGIN - GAP * (len(floor) - 1) - sum(needs.values())
        x = float(MARGIN)
        for folder in floor:
            width = needs[folder] + free / len(floor)
            parts += folder_box(folder, rooms[folder], x, y, (width, height))
            x += width + GAP
        y += height + GAP
    said = "; ".join(", ".join(floor) for floor in floors())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + MARGIN - GAP:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="15" role="img" '
        f'aria-label="Layers of src/stoker from top to bottom: {escape(said)}">'
    )
    body = "\n".join(f"  {part}" for part in parts)
    return f"{head}\n  <!-- Written by python3 -m tools.draw_house. -->\n  <style>{STYLE}  </style>\n{body}\n</svg>\n"


def main() -> int:
    PICTURE.write_text(svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
