"""python/stoker/_engine.pyi is what the module says of itself; `ninja -C build stub` writes it anew."""

import difflib
import subprocess
import sys
from pathlib import Path

import stoker

KEPT = Path(__file__).resolve().parents[2] / "python" / "stoker" / "_engine.pyi"


def test_stub_is_that_of_the_module(tmp_path: Path) -> None:
    made = tmp_path / "_engine.pyi"
    folder = str(Path(stoker.__file__).parents[1])
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "--exclude-values", "-i", folder, "-m", "stoker._engine"]
    subprocess.run([*command, "-o", str(made)], check=True)
    kept, found = (path.read_text(encoding="utf-8").splitlines() for path in (KEPT, made))
    assert list(difflib.unified_diff(kept, found, lineterm="")) == [], "ninja -C build stub"


def test_package_says_that_it_is_typed() -> None:
    assert (Path(stoker.__file__).parent / "py.typed").is_file()
