"""The check of outputs must be able to fail: each planted file is caught, a clean tree passes."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_outputs.py"
PLANTED = {
    "a command publishes by itself": ("cli/a.cc", "publish_file(folder, name, bytes);\n"),
    "a command renames": ("cli/a.cc", "folder.io().rename_at(handle, from, to);\n"),
    "a benchmark writes with a stream": ("bench/a.cc", "std::ofstream(path) << text;\n"),
    "the feed creates a file": ("feed/a.cc", "open_beneath(folder, name, OpenFor::kCreateNew);\n"),
    "the library makes folders by itself": ("data/a.cc", "std::filesystem::create_directories(path);\n"),
}
CLEAN = {"cli/a.cc": "publish_output(io, path, bytes);  // never publish_file\n"}


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
