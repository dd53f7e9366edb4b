"""CONTRIBUTING.md describes the house as it is: the layers of tools/check_layers.py, and every room of src/stoker."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools import check_layers, draw_house  # noqa: E402

LAYER = re.compile(r"^\| `(\w+)` \| ([^|]*) \|[^|]*\|$", re.MULTILINE)
ROOM_LINE = re.compile(r"^\| (`[\w/]+/[\w/]+`(?:, `[\w/]+`)*) \|[^|]*\|$", re.MULTILINE)


def layers_of(page: str) -> dict[str, set[str]]:
    """The table of layers; what is in brackets is a remark."""
    cells = {folder: re.sub(r"\(.*\)", "", allowed) for folder, allowed in LAYER.findall(page)}
    return {folder: set(re.findall(r"\w+", allowed)) for folder, allowed in cells.items()}


def rooms_of(page: str) -> set[str]:
    return {room for line in ROOM_LINE.findall(page) for room in re.findall(r"[\w/]+", line)}


def real_rooms(source: Path) -> set[str]:
    outer = {room for folder in check_layers.ALLOWED for room in draw_house.rooms_in(source / folder)}
    inner = {room for parent in outer for room in draw_house.rooms_in(parent)}
    return {str(room.relative_to(source)) for room in outer | inner}


def faults_of(page: str) -> list[str]:
    layers, rooms, real = layers_of(page), rooms_of(page), real_rooms(ROOT / "src" / "stoker")
    wrong = [name for name in check_layers.ALLOWED if layers.get(name) != check_layers.ALLOWED[name]]
    faults = [f"CONTRIBUTING.md and tools/check_layers.py differ about {name}" for name in wrong]
    faults += [f"CONTRIBUTING.md does not describe the room {name}" for name in sorted(real - rooms)]
    return faults + [f"CONTRIBUTING.md describes {name}, which is not there" for name in sorted(rooms - real)]


def main() -> int:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    faults = faults_of(page)
    # The test must be able to fail.
    for planted in (page.replace("| config, cuda |", "| config |"), page.replace("`cache/read`", "`cache/reed`")):
        if not faults_of(planted):
            faults.append("a planted fault was not caught")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
