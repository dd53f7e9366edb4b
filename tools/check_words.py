#!/usr/bin/env python3
"""Fails when a retired word is used: the project has one word for one thing, as docs/guide/glossary.md lists them.

    tools/check_words.py [--fix-list] [ROOT]

Identifiers are checked, and prose: the text of pages, comments, and string literals with a blank in them. Flags, JSON
keys, error codes, code spans, generated files and CHANGELOG.md are exempt. --fix-list prints the sentences to mend and
always succeeds.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("README.md", "CONTRIBUTING.md", "docs", "bench", "tools", "cmake", "examples", "src", "tests")
# The table itself and its test, pages in another language, and what programs write.
EXEMPT = re.compile(
    r"tools/check_words\.py|tests/contract/words_test\.py|docs/fa/.*|docs/reference/.*|bench/results/.*"
    r"|docs/guide/(how-fast|share-of-the-hardware-limit)\.md|.*generated.*"
)


@dataclass(frozen=True)
class Retired:
    """A word that is no longer used."""

    pattern: str  # a regular expression; a blank in it also matches a line break
    instead: str
    where: str = ""  # only in paths that begin so


IDENTIFIERS = (
    Retired(r"\bRowStore\b|\bUtteranceStore\b", "UtteranceSource"),
    Retired(r"\bRowReader\b", "UtteranceReader"),
    Retired(r"\bRowExtras\b", "OptionalFields"),
    Retired(r"\bEpochPlanner\b", "EpochCursor"),
    Retired(r"\bBatchFill\b|\bbatch_fill\b", "Collator"),
    Retired(r"\bDeviceWork\b|\bdevice_work\b", "DeviceUploader"),
    Retired(r"\bDeviceStage\b", "UploadThread"),
    Retired(r"\bDeviceHop\b|\bdevice_hop\b", "PeerTransfer"),
    Retired(r"\bDeviceWay\b|\w*device_way\b", "TransferPlan"),
    Retired(r"\bWantedCache\b|\bwanted_cache\b", "FeatureSpec"),
    Retired(r"\w*[Cc]ommitter\b", "ManifestWriter"),
    Retired(r"\bCachePlace\b|\w*cache_place\b", "CacheLocation"),
    Retired(r"\bunused_caches\b", "cache_gc"),
    Retired(r"\bguarded_access\b", "sigbus_guard"),
    Retired(r"\bHelpBell\w*|\bhelp_bell\b", "wake_request"),
    Retired(r"\btold_deliver_", "published_head_"),
    Retired(r"\bBoundedQueue\b|\bbounded_queue\b", "the ring of slots"),
    Retired(r"\bpicture\(\)", "debug_string()"),
    Retired(r"\bFrame\b", "CommandContext", where="src/stoker/cli"),
)
PROSE = (
    Retired(r"\b(lies?|lain)\b|\blay\b(?! out)", '"is", or what it does'),
    Retired(r"\b(stands?|stood)\b(?!-)", '"is", "has", "replaces"'),
    Retired(r"\bfor ?ever\b", '"always", "without end"'),
    Retired(r"\b(came|comes?) by\b", '"is read", "passes"'),
    Retired(r"\bto the wire\b", '"share of the hardware limit"'),
    Retired(r"\b[Tt]he original('s)?(?! (data|file|order|text|value))\b|\bMyXTTS\b", "myxtts"),
    Retired(r"\b(every|each|wrong|longest) clip\b|\bclip after\b|\bclips? of (the|a|its|their)\b", '"utterance"'),
    Retired(r"\b(rows? of (the|a|its) (whole )?(data set|cache|source)|accepted rows?)\b", '"utterance"'),
    Retired(r"\brows? (that|which) (the|a) cache\b|\brow's (cached|own) (frames|mel|record)", '"utterance"'),
)


def blanked(text: str) -> str:
    """Spaces of the same length; line breaks stay."""
    return re.sub(r"[^\n]", " ", text)


def only(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with everything outside of the spans blanked."""
    parts, at = [], 0
    for begin, end in spans:
        parts += [blanked(text[at:begin]), text[begin:end]]
        at = end
    return "".join([*parts, blanked(text[at:])])


NOT_PROSE = re.compile(r"`[^`\n]*`|--[a-z][\w-]*|\]\([^)\s]*\)|\bhttps?://\S+")
FENCES = re.compile(r"^```.*?^```|<!--.*?-->|^ {4,}\S[^\n]*", re.MULTILINE | re.DOTALL)
CXX_PARTS = re.compile(
    r"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|R\"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)\""
    r"|\"(?P<text>(?:\\.|[^\"\\\n])*)\"|(?<!\w)'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
HASH_COMMENT = re.compile(r"(?:^|\s)#(?!!)([^\n]*)", re.MULTILINE)


def page_prose(text: str) -> str:
    return FENCES.sub(lambda match: blanked(match[0]), text)


def cxx_prose(text: str) -> str:
    spans = []
    for match in CXX_PARTS.finditer(text):
        for group in ("line", "block", "raw", "text"):
            if match[group] is not None and (group in ("line", "block") or " " in match[group]):
                spans.append(match.span(group))
    return only(text, spans)


def python_prose(text: str) -> str:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
            spans.append(tuple(starts[row - 1] + column for row, column in (token.start, token.end)))
    return only(text, [(begin, end) for begin, end in spans])


def hash_prose(text: str) -> str:
    return only(text, [match.span(1) for match in HASH_COMMENT.finditer(text)])


READERS = {".md": page_prose, ".py": python_prose, ".cmake": hash_prose, ".sh": hash_prose}
READERS |= dict.fromkeys((".h", ".cc", ".cu", ".cuh"), cxx_prose)


def reader_of(path: Path) -> Callable[[str], str] | None:
    if path.name == "CMakeLists.txt":
        return hash_prose
    if not path.suffix and path.read_bytes()[:2] == b"#!":
        return hash_prose
    return READERS.get(path.suffix)


def prose_of(path: Path, text: str) -> str:
    """What people read in the file, at its own offsets; the rest is blank."""
    reader = reader_of(path)
    assert reader is not None
    return NOT_PROSE.sub(lambda match: blanked(match[0]), reader(text))


def sentence_at(prose: str, at: int) -> str:
    """The sentence around an offset, on one line."""
    before = re.split(r"\n *\n|(?<=\.)\s|\|", prose[:at])[-1]
    after = re.split(r"\n *\n|(?<=\.)\s|\|", prose[at:])[0]
    return " ".join(f"{before}{after}".split())


def files(root: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        base = root / folder
        for path in [base] if base.is_file() else sorted(base.rglob("*")):
            name = str(path.relative_to(root))
            if path.is_file() and not EXEMPT.fullmatch(name) and reader_of(path) is not None:
                yield name, path


def faults_in(name: str, text: str, prose: str, table: tuple[Retired, ...], sentences: bool) -> list[str]:
    found = []
    for word in table:
        if not name.startswith(word.where):
            continue
        for match in re.finditer(word.pattern.replace(" ", r"\s+"), text):
            line = text.count("\n", 0, match.start()) + 1
            said = " ".join(match[0].split())
            rest = f": {sentence_at(prose, match.start())}" if sentences else ""
            found.append((line, f"{name}:{line}: retired: {said}; use {word.instead}{rest}"))
    return [fault for _, fault in sorted(found)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--fix-list", action="store_true")
    options = parser.parse_args()
    faults: list[str] = []
    for name, path in files(options.root, FOLDERS):
        text = path.read_text(encoding="utf-8")
        faults += faults_in(name, f"{text}\n{name}", text, IDENTIFIERS, False)
        prose = prose_of(path, text)
        faults += faults_in(name, prose, prose, PROSE, options.fix_list)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults and not options.fix_list else 0


if __name__ == "__main__":
    sys.exit(main())
