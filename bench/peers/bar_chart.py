"""Bars on their side as SVG text, readable on light and dark pages, with a number at each bar."""

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

WIDTH, LABEL_WIDTH, NUMBER_WIDTH = 760, 190, 90
BAR_HEIGHT, BAR_GAP, TITLE_HEIGHT = 20, 6, 40
STYLE = """
    text { font: 14px system-ui, sans-serif; fill: #2b2620; } .title { font-weight: 600; }
    .own { fill: #c4711f; } .other { fill: #8a8f98; } .rule { stroke: #8a7f6a; }
    @media (prefers-color-scheme: dark) { text { fill: #eee7da; } .other { fill: #6f7680; } }
"""


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    own: bool = False


@dataclass(frozen=True)
class BarGroup:
    """Bars that share a scale beginning at zero."""

    title: str
    bars: list[Bar]


def group_height(group: BarGroup) -> int:
    return TITLE_HEIGHT + len(group.bars) * (BAR_HEIGHT + BAR_GAP)


def bar_lines(bar: Bar, top: int, longest: float) -> list[str]:
    room = WIDTH - LABEL_WIDTH - NUMBER_WIDTH
    width = max(1.0, room * bar.value / longest)
    middle = top + BAR_HEIGHT - 5
    kind = "own" if bar.own else "other"
    return [
        f'  <text x="{LABEL_WIDTH - 8}" y="{middle}" text-anchor="end">{escape(bar.label)}</text>',
        f'  <rect class="{kind}" x="{LABEL_WIDTH}" y="{top}" width="{width:.1f}" height="{BAR_HEIGHT}" rx="2"/>',
        f'  <text x="{LABEL_WIDTH + width + 6:.1f}" y="{middle}">{bar.value:,.0f}</text>',
    ]


def bar_chart(description: str, groups: list[BarGroup]) -> str:
    """One <svg> element; the description is what a screen reader says."""
    lines: list[str] = []
    top = 0
    for group in groups:
        lines.append(f'  <text class="title" x="8" y="{top + 24}">{escape(group.title)}</text>')
        longest = max((bar.value for bar in group.bars), default=1.0)
        for number, bar in enumerate(group.bars):
            lines += bar_lines(bar, top + TITLE_HEIGHT + number * (BAR_HEIGHT + BAR_GAP), longest)
        top += group_height(group)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 8}" role="img"'
    return "\n".join(
        [f"{head} aria-label={quoteattr(description)}>", f"  <style>{STYLE}  </style>", *lines, "</svg>", ""]
    )
