"""cache_page_test.py STOKER: reads a cache by docs/format/cache.md alone. The layouts are taken from the page's tables,
so a page that says other than the program does fails here."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import xxhash

PAGE = Path(__file__).resolve().parents[2] / "docs" / "format" / "cache.md"
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
NUMBERS = {"u16": "H", "u32": "I", "u64": "Q", "i64": "q"}
Fields = dict[int, Any]  # by place


def crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


TABLE = crc_table()


def crc32c(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register = register >> 8 ^ TABLE[(register ^ byte) & 255]
    return register ^ 0xFFFFFFFF


def hex_of(digest: tuple[int, int]) -> str:
    return f"{digest[0]:016x}{digest[1]:016x}"


def format_of(kind: str) -> str:
    """Of "u64 × 2", "u16, u16", "8 bytes"."""
    if found := re.fullmatch(r"(\d+) bytes", kind):
        return f"{found.group(1)}s"
    if found := re.fullmatch(r"(u\d+) × (\d)", kind):
        return NUMBERS[found.group(1)] * int(found.group(2))
    return "".join(NUMBERS[part] for part in kind.split(", "))


class Layout:
    """One table of the page."""

    def __init__(self, page: str, title: str, size: int) -> None:
        section = page.split(f"### {title}\n")[1].split("\n#")[0]
        self.rows = [(int(at), format_of(kind.strip())) for at, kind, _ in ROW.findall(section)]
        self.size = 0
        for at, code in self.rows:
            assert at == self.size, f"{title}: a field at {at}, the one before ends at {self.size}"
            self.size += struct.calcsize("<" + code)
        assert self.size == size, f"{title}: {self.size} bytes in the table, {size} in the text"

    def read(self, data: bytes) -> Fields:
        fields: Fields = {}
        for at, code in self.rows:
            values = struct.unpack_from("<" + code, data, at)
            fields[at] = values[0] if len(values) == 1 else values
        return fields


class Shard:
    def __init__(self, path: Path) -> None:
        page = PAGE.read_text(encoding="utf-8")
        self.record_layout = Layout(page, "Record header", 128)
        self.entry_layout = Layout(page, "Index entry", 80)
        self.data = path.read_bytes()
        self.header = Layout(page, "Shard header", 64).read(self.data)
        self.footer = Layout(page, "Footer", 64).read(self.data[-64:])

    def check(self, settings: str) -> None:
        data, footer = self.data, self.footer
        assert self.header[0] == b"STOKERSH"
        assert footer[0] == b"STOKEREN"
        assert self.header[60] == crc32c(data[:60])
        assert footer[60] == crc32c(data[-64:-4])
        assert footer[32] == len(data)
        assert hex_of(self.header[24]) == settings
        assert self.header[20] == footer[24]
        begun = struct.pack("<QQ16x", self.header[16], footer[8])
        assert footer[28] == crc32c(begun + self.index()), "CRC of the index"
        for i in range(footer[24]):
            self.check_record(self.entry_layout.read(self.index()[80 * i :]))

    def index(self) -> bytes:
        return self.data[self.footer[8] : self.footer[8] + self.footer[16]]

    def check_record(self, entry: Fields) -> None:
        at = entry[0]
        header = self.record_layout.read(self.data[at:])
        start, length = entry[44]
        names = 80 * self.footer[24]
        name = self.index()[names + start : names + start + length]
        assert header[0] == b"STKR"
        assert header[124] == entry[52] == crc32c(self.data[at : at + 124])
        assert hex_of(header[48]) == xxhash.xxh3_128_hexdigest(name), "key of " + name.decode()
        payload = self.data[at + 128 : at + 128 + header[16]]
        begun = struct.pack("<QQQQ", header[112], at, *header[48])
        assert header[116] == entry[56] == crc32c(begun + payload), "CRC of " + name.decode()
        assert header[104] == at
        assert header[80] == entry[64]


def check_cache(cache: Path) -> None:
    text = (cache / "manifest.json").read_bytes()
    lines = [json.loads(line) for line in text.splitlines()]
    shards = [line for line in lines if "shard" in line]
    before = text[: text.rindex(b'{"digest"')]
    assert lines[-1]["digest"] == xxhash.xxh3_128_hexdigest(before)
    assert lines[0]["generation"] == len(shards) == len(list(cache.glob("shard-*.stk")))
    written = [json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines]
    assert "".join(written).encode() == text
    example = PAGE.read_text(encoding="utf-8").split("```\n{")[1].split("\n")
    shown = [json.loads(line) for line in ["{" + example[0], *example[1:]] if line.startswith("{")]
    assert list(shown[0]) == list(lines[0])
    assert next(list(line) for line in shown if "shard" in line) == list(shards[0])
    settings = [line for line in shown if "setting" in line and line["group"] == "features"]
    assert settings, "the page shows no setting of the features"
    assert all(line in lines for line in settings), "the page's example of a setting is not in the manifest"
    for line in shards:
        shard = Shard(cache / line["shard"])
        shard.check(line["settings"])
        tail = shard.data[shard.footer[8] :]
        assert line["digest"] == xxhash.xxh3_128_hexdigest(tail)
        assert line["records"] == shard.footer[24]


def run(*command: str | Path) -> None:
    # A leak check and strace cannot look at one process together.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    subprocess.run([str(word) for word in command], check=True, capture_output=True, env=environment)


def check_temp_names(stoker: str, work: Path) -> None:
    """The names that a build renames, seen by strace, are those that the page gives."""
    if shutil.which("strace") is None:
        print("names of unfinished files were not looked at: strace is not installed (tools/bootstrap)")
        return
    log = work / "trace"
    trace = ["strace", "-f", "-qq", "-e", "trace=renameat", "-o", str(log)]
    run(*trace, stoker, "precompute", "--data", work / "data", "--cache", work / "b")
    renamed = re.findall(r'renameat\(\d+, "([^"]+)", \d+, "([^"]+)"\)', log.read_text(encoding="utf-8"))
    assert "`NAME.tmp.` and 16 random hexadecimal digits" in PAGE.read_text(encoding="utf-8")
    assert {"shard-00000.stk", "manifest.json"} <= {name for _, name in renamed}, renamed
    for temp, name in renamed:
        assert re.fullmatch(re.escape(name) + r"\.tmp\.[0-9a-f]{16}", temp), (temp, name)


def main() -> int:
    stoker = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(stoker, "data", "make", "--out", work / "data", "--clips", "6")
        run(stoker, "precompute", "--data", work / "data", "--cache", work / "a")
        check_cache(work / "a")
        check_temp_names(stoker, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
