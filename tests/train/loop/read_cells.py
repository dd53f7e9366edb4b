#!/usr/bin/env python3
"""Compares the cells of heat maps in a PNG with rows of signs: `#` bright, `.` dark, `-` between; panels end in `/`."""

import sys

from PIL import Image

LEFT, MARGIN = 110, 64  # around each plot, above and below alike
LEAST_WIDTH, LEAST_HEIGHT = 800, 400
FIRST_SHADE, LAST_SHADE = 4, 255


def sign(shade: object) -> str:
    return "." if shade == FIRST_SHADE else "#" if shade == LAST_SHADE else "-"


def main() -> int:
    picture = Image.open(sys.argv[1])
    top = 0
    for panel in sys.argv[2].split("/"):
        rows = panel.split(",")
        width = -(-LEAST_WIDTH // len(rows[0]))
        height = -(-LEAST_HEIGHT // len(rows))
        for y, row in enumerate(rows):
            at = top + MARGIN + y * height + height // 2
            found = "".join(sign(picture.getpixel((LEFT + x * width + width // 2, at))) for x in range(len(row)))
            if found != row:
                print(f"row {y} of the panel at {top}: {found}, not {row}")
                return 1
        top += 2 * MARGIN + height * len(rows)
    return 0 if picture.height == top else 1


if __name__ == "__main__":
    sys.exit(main())
