"""The C++ page names every call of Feed and Batch and every field of FeedOptions, OpenOptions and OpenedFeed."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FEED = ROOT / "src" / "stoker" / "feed"
PAGE = ROOT / "docs" / "guide" / "cpp-api.md"
CALL = re.compile(r"^  (?! )(?:static )?[\w:<>,&* ]+[\s&*](?P<name>[a-z]\w*)\(", re.MULTILINE)
FIELD = re.compile(r"^  (?! )[\w:<>*, ]+[\s*](?P<name>[a-z]\w*)(?: = .*|\{\})?;", re.MULTILINE)


def body_of(header: str, type_name: str) -> str:
    """The public part of a class, without comments."""
    text = (FEED / header).read_text(encoding="utf-8")
    match = re.search(rf"^(?:class|struct) {type_name} \{{\n(.*?)^(?: private:|\}};)", text, re.MULTILINE | re.DOTALL)
    assert match is not None, f"{header} has no {type_name}"
    return re.sub(r"//.*", "", match[1])


def main() -> int:
    wanted = {
        *(match["name"] for match in CALL.finditer(body_of("feed.h", "Feed"))),
        *(match["name"] for match in CALL.finditer(body_of("batch.h", "Batch"))),
        *(match["name"] for match in FIELD.finditer(body_of("feed_options.h", "FeedOptions"))),
        *(match["name"] for match in FIELD.finditer(body_of("open_feed.h", "OpenOptions"))),
        *(match["name"] for match in FIELD.finditer(body_of("open_feed.h", "OpenedFeed"))),
    }
    assert {"next", "tuner_log", "mel", "release", "data", "device", "state", "devices", "source"} <= wanted, wanted
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S))
    named = {word for span in spans for word in re.findall(r"\w+", span)}
    missing = sorted(wanted - named)
    for name in missing:
        print(f"{PAGE.relative_to(ROOT)} does not name {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
