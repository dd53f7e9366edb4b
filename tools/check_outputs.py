#!/usr/bin/env python3
"""Fails when code makes or renames a file by itself instead of through base/io/output_file.h.

A path that the user named may be a device, a pipe, a link or a folder; publish_output alone knows what to do with
each. The files below may do it themselves, each for the reason beside it: the names are stoker's own, in a folder that
is stoker's own.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAKES_FILES = re.compile(
    r"\b(publish_file|rename_at|renameat2?|(?:std::|fs::|filesystem::|::)rename|ofstream|fopen|create_director\w+"
    r"|O_CREAT|kCreateNew|kReadWrite|mkostemp|mkstemp)\b"
)
COMMENT = re.compile(r"//[^\n]*")
ALLOWED: dict[str, str] = {
    "base/io/file.cc": "open_beneath itself",
    "base/io/io.h": "the seam itself",
    "base/io/system_io.cc": "the seam itself",
    "base/io/whole_file.cc": "publish_file itself",
    "base/io/output_file.cc": "publish_output itself",
    "cache/build/build.cc": "sources.bin in the cache",
    "cache/build/cache_lock.cc": "the lock in the cache",
    "cache/build/manifest_writer.cc": "the manifest in the cache",
    "cache/maintain/export.cc": "files named by ids in the folder of an export",
    "cache/build/precompute.cc": "config.yaml and rejects.jsonl in the cache",
    "cache/build/shard_publish.cc": "shards in the cache",
    "cli/cache_import_command.cc": "config.yaml in the cache",
    "data/voice/data_set_maker.cc": "files of a new data set in a folder that was empty",
    "audio/file/wav_writer.cc": "files of a new data set in a folder that was empty",
    "feed/records/record_memory.cc": "the ring of records in the run folder, or in a folder of the user that is ours",
    "observe/live/gpu_csv.cc": "a table that grows while it is watched; check_output first, and regular files alone",
    "feed/baseline/baseline_sources.cc": "the loose files beside a cache",
    "train/checkpoint/checkpoint_folder.cc": "checkpoints in the run folder",
    "train/checkpoint/run_folder.cc": "checkpoints in the run folder",
    "train/loop/event_file.cc": "events of TensorBoard, a new file in its folder",
    "train/loop/line_file.cc": "metrics.jsonl and bad-steps.jsonl in the run folder",
    "train/loop/run_start.cc": "files of an earlier run, moved aside in the run folder",
    "train/loop/training_run.cc": "config.yaml in the run folder",
    "bench/selftest/feed_checks.cc": "files in the self-test's own folder, removed with it",
    "bench/selftest/sound_checks.cc": "files in the self-test's own folder, removed with it",
    "observe/machine/machine_log.cc": "machine.jsonl in the run folder",
    "observe/machine/storage_facts.cc": "files for measuring the disk, removed at once",
}


def faults_in(source: Path) -> list[str]:
    """Every place that is not allowed, and every allowance that nothing needs."""
    faults: list[str] = []
    used: set[str] = set()
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".cc", ".h", ".cu", ".cuh"}:
            continue
        name = str(path.relative_to(source))
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        for match in MAKES_FILES.finditer(text):
            if name in ALLOWED:
                used.add(name)
                continue
            line = text.count("\n", 0, match.start()) + 1
            faults.append(f"{path}:{line}: {match.group(1)} outside of base/io/output_file.cc")
    if source == ROOT / "src" / "stoker":
        faults += [f"tools/check_outputs.py allows {name} without need" for name in ALLOWED if name not in used]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "src" / "stoker")
    faults = faults_in(parser.parse_args().source)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
