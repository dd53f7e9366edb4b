#!/usr/bin/env python3
"""Fails when a declared setting has no reader, or when one declared as `not_yet` has one.

A setting is a line `field("name", &C::member, …)` in a struct of src/stoker/config. Its readers are the places outside
the declarations that read the member: through the part of Settings (`settings.data.path`) or through a variable of the
struct (`const DataSettings& data`). `--list` prints every setting with the folders that read it.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

STRUCT = re.compile(r"struct (\w+Settings) \{(.*?)\n\};", re.DOTALL)
SECTION = re.compile(r'kSection = "(\w*)"')
PART = re.compile(r"^  (\w+Settings) (\w+);$", re.MULTILINE)
FIELD = re.compile(r'field\("(\w+)", &C::(\w+)')
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
# In `config` the declarations, the loaders and the checks pass values on; these files make something of them.
CONFIG_READERS = {"mel_presets.cc"}


@dataclass
class Setting:
    path: str
    struct: str
    member: str
    is_not_yet: bool
    has_value: bool  # only one value is `not_yet`, the others are read
    readers: set[str] = field(default_factory=set)


def settings_of(config: Path) -> tuple[list[Setting], dict[str, str]]:
    """Every declared setting, and the part of Settings that each struct is."""
    settings: list[Setting] = []
    parts: dict[str, str] = {}
    for header in sorted(config.rglob("*settings.h")):
        text = header.read_text(encoding="utf-8")
        for struct, body in STRUCT.findall(text):
            section = SECTION.search(body)
            if section is None:
                continue
            whole = "kNotYet = NotYet::" in body
            for piece in re.split(r"(?=field\(\")", body)[1:]:
                found = FIELD.match(piece)
                if found is None:
                    raise SystemExit(f"{header}: a field without a member: {piece[:60]}")
                name, member = found.groups()
                later = re.search(r"\.not_yet\(NotYet::\w+(, \")?", piece)
                path = f"{section.group(1)}.{name}" if section.group(1) else name
                settings.append(
                    Setting(path, struct, member, whole or later is not None, bool(later and later.group(1)))
                )
        parts.update(dict(PART.findall(text)))
    return settings, parts


def names_in(text: str, struct: str, part: str) -> set[str]:
    """How a file calls the struct: the part of Settings, variables of its type, references to the part."""
    names = {part} | set(re.findall(rf"\b{struct}\b\s*&?\s*(\w+)", text))
    return names | set(re.findall(rf"\bauto&\s+(\w+)\s*=[^;]*\.{part};", text))


def find_readers(root: Path, settings: list[Setting], parts: dict[str, str]) -> None:
    for path in sorted(root.rglob("*")):
        folder = path.relative_to(root).parts[0]
        if path.suffix not in {".h", ".cc", ".cu"} or (folder == "config" and path.name not in CONFIG_READERS):
            continue
        text = COMMENT_OR_TEXT.sub(" ", path.read_text(encoding="utf-8"))
        if "ettings" not in text:
            continue
        names = {struct: "|".join(sorted(names_in(text, struct, part))) for struct, part in parts.items()}
        for setting in settings:
            # An assignment gives the member a value; it does not read one.
            read = rf"\b(?:{names[setting.struct]})(?:\.|->){setting.member}\b(?!\s*=[^=])"
            if re.search(read, text):
                setting.readers.add(folder)


def faults_of(settings: list[Setting]) -> list[str]:
    faults: list[str] = []
    for setting in settings:
        readers = ", ".join(sorted(setting.readers))
        if not setting.readers and not setting.is_not_yet:
            faults.append(f"{setting.path}: nothing reads it; read it, remove it or declare it .not_yet(…)")
        if setting.readers and setting.is_not_yet and not setting.has_value:
            faults.append(f"{setting.path}: declared .not_yet(…), but {readers} read it")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent / "src" / "stoker")
    parser.add_argument("--list", action="store_true", help="print every setting and the folders that read it")
    arguments = parser.parse_args()
    settings, parts = settings_of(arguments.root / "config")
    if not settings:
        raise SystemExit(f"{arguments.root}/config declares no settings")
    find_readers(arguments.root, settings, parts)
    if arguments.list:
        for setting in settings:
            print(f"{setting.path:<40} {', '.join(sorted(setting.readers)) or 'not yet'}")
    faults = faults_of(settings)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
