"""Settings files of myxtts run on data without a cache: as they are, and in every preprocessing mode.

The files are written here in the names of myxtts; the blocks of its documents are run too where they are at hand,
in the folder `seeds` beside STOKER_TEST_DATA or beside the project.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, contents, expect

OWN_FILES = {
    "prepared": """
        data:
          preprocessing_mode: precompute
          use_tf_native_loading: true
          batch_size: 6
          num_workers: 3
          prefetch_buffer_size: 4
          cache_verification: true
          auto_rebuild_token_cache: true
        training:
          enable_graph_mode: true
          enable_xla_compilation: false
        """,
    "rebuild switched off": """
        data:
          dataset_path: elsewhere
          auto_rebuild_mel_cache: false
          auto_rebuild_token_cache: false
          persistent_workers: true
        """,
    "augmented": """
        data:
          enable_pitch_shift: true
          pitch_shift_range: [-2, 2]
          model_start_delay: 3.5
          trim_silence: false
          normalize_audio: false
          enable_loudness_normalization: false
        """,
    "one key": "use_tf_native_loading: false\n",
    "small card": """
        data:
          batch_size: 2
          num_workers: 1
          pipeline_buffer_size: 25
        training:
          gradient_accumulation_steps: 4
          epochs: 3
        """,
    "sorted by hand": """
        model: {n_mels: 80, hop_length: 256}
        data: {text_cleaners: [basic_cleaners], max_mel_frames: 900, add_blank: true}
        """,
}
MODES = ["runtime", "auto", "precompute"]


def seed_files() -> dict[str, str]:
    """Every YAML block of the documents of myxtts."""
    data = os.environ.get("STOKER_TEST_DATA")
    beside = Path(data).parent if data else Path(__file__).resolve().parents[3] / "shared"
    blocks: dict[str, str] = {}
    for path in sorted((beside / "seeds").glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^( *)```ya?ml\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            blocks[f"{path.name}:{line}"] = textwrap.dedent(match.group(2))
    return blocks


def run_as_it_is(stoker: Stoker, config: Path, yaml: str) -> None:
    """Without a word about the mode: only a file that asks for a complete cache may miss one."""
    command = [str(stoker.program), "stream", "--config", str(config), "--data", str(stoker.data), "--batches", "1"]
    done = subprocess.run([*command, "--device", "cpu"], capture_output=True, text=True, timeout=120, check=False)
    if re.search(r"preprocessing_mode: \"?precompute", yaml):
        expect("E-FEED-NOTCACHED" in done.stderr, f"{config.name}: precompute without a cache: {done.stderr}")
    else:
        expect(done.returncode == 0, f"{config.name}: exit {done.returncode}: {done.stderr}")
    shutil.rmtree(stoker.data / ".stoker", ignore_errors=True)


def run_in_every_mode(stoker: Stoker, config: Path, yaml: str) -> None:
    given = ["--config", str(config)]
    digests = {}
    # The naive loader reads one file a clip instead of the cache, which only a benchmark writes.
    modes = MODES[:2] if "use_tf_native_loading: false" in yaml else MODES
    for mode in modes:
        if mode == "precompute":
            stoker.json("precompute", *given, "--data", str(stoker.data))
            verified = stoker.json("verify", *given, "--data", str(stoker.data))
            expect(verified["ok"] is True, f"{config.name}: verify says {verified}")
        digests[mode] = contents(stoker.stream(*given, "--preprocessing-mode", mode, "--batches", "2"))
        if mode == "auto":
            shutil.rmtree(stoker.data / ".stoker", ignore_errors=True)
        expect(digests[mode] == digests["runtime"], f"{config.name}: {mode} and runtime differ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    program: Path = parser.parse_args().program
    seeds = seed_files()
    if not seeds:
        print("skipped: the documents of myxtts are not at hand; only the files written here are run")
    with tempfile.TemporaryDirectory() as folder:
        made = Stoker(program, Path(folder) / "made")
        made.make_data(9)
        for number, (name, yaml) in enumerate({**OWN_FILES, **seeds}.items()):
            stoker = Stoker(program, Path(folder) / str(number))
            shutil.copytree(made.data, stoker.data)
            config = stoker.folder / "old.yaml"
            config.write_text(textwrap.dedent(yaml), encoding="utf-8")
            print(name, flush=True)
            run_as_it_is(stoker, config, yaml)
            run_in_every_mode(stoker, config, yaml)
    return 0


if __name__ == "__main__":
    sys.exit(main())
