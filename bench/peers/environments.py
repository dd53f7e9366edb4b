"""One Python environment a peer, with pinned versions, made when it is first needed and kept for the next run."""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "stoker" / "peers"
INSTALL_LIMIT_S = 900


def requirements_of(peer: str) -> Path:
    return HERE / "requirements" / f"{peer}.txt"


def pinned(peer: str) -> list[str]:
    """The pins of a peer: name==version."""
    lines = requirements_of(peer).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def python_of(peer: str) -> Path:
    return CACHE / peer / "bin" / "python"


def is_ready(peer: str) -> bool:
    """The stamp is written last: an installation that was cut off has none, one of other pins has another."""
    stamp = CACHE / peer / "pins.txt"
    return stamp.is_file() and stamp.read_text(encoding="utf-8").splitlines() == pinned(peer)


def make(peer: str) -> None:
    """Makes the environment of a peer unless it is there; raises CalledProcessError or TimeoutExpired."""
    if is_ready(peer):
        return
    print(f"peers: making an environment for {peer} in {CACHE / peer}: {', '.join(pinned(peer))}", file=sys.stderr)
    venv.create(CACHE / peer, with_pip=True, symlinks=True, clear=True)
    pip = [str(python_of(peer)), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(requirements_of(peer))], check=True, timeout=INSTALL_LIMIT_S, stdout=sys.stderr)
    (CACHE / peer / "pins.txt").write_text("\n".join(pinned(peer)) + "\n", encoding="utf-8")
