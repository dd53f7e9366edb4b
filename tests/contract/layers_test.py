"""The layer check must be able to fail: each planted violation is caught, a clean tree passes."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
PLANTED = {
    "a lower layer includes a higher one": ("base/a.h", '#include "stoker/feed/feed.h"\n'),
    "siblings include each other": ("text/a.cc", '#include "stoker/audio/wav.h"\n'),
    "a base header shows fmt": ("base/a.h", "#include <fmt/format.h>\n"),
    "the feed includes libtorch": ("feed/a.cc", "#include <torch/torch.h>\n"),
    "a lower room includes a higher one": ("cache/read/a.cc", '#include "stoker/cache/build/plan.h"\n'),
    "rooms that are siblings include each other": ("feed/tuner/a.h", '#include "stoker/feed/source/ram_tier.h"\n'),
    "a room inside a room includes a higher one": ("audio/mel/cuda/a.cu", '#include "stoker/audio/augment/augment.h"\n'),
    "a room includes a flat file above it": ("feed/sampling/a.cc", '#include "stoker/feed/feed.h"\n'),
    "an exception is used by another room": ("feed/source/a.cc", '#include "stoker/feed/device/pack.h"\n'),
    "a room the table does not name": ("cache/utilities/a.h", "#include <vector>\n"),
    "the command walks past the trainer's door": ("cli/a.cc", '#include "stoker/train/model.h"\n'),
}
CLEAN = {
    "feed/a.cc": '#include "stoker/cache/read/reader.h"\n#include "stoker/base/io/io.h"\n',
    "cache/maintain/a.cc": '#include "stoker/cache/format/manifest.h"\n#include "stoker/cache/errors.h"\n',
    "feed/device/a.cc": '#include "stoker/feed/sampling/sampler.h"\n#include "stoker/feed/fallbacks.h"\n',
    "feed/assembly/a.cc": '#include "stoker/feed/device/pack.h"\n',
    "feed/feed.h": '#include "stoker/feed/tuner/tuner_log.h"\n',
    "text/persian/a.cc": '#include "stoker/text/english/rules.h"\n',
    "cli/a.cc": '#include "stoker/train/door/loader.h"\n',
}


def verdict(files: dict[str, str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, str(CHECK), folder], check=False, stderr=subprocess.DEVNULL).returncode


def main() -> int:
    missed = [title for title, (name, text) in PLANTED.items() if verdict({name: text}) == 0]
    for title in missed:
        print(f"not caught: {title}")
    if verdict(CLEAN) != 0:
        print("a clean tree was refused")
        return 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
