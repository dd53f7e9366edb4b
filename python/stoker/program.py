"""Where the command `stoker` is: inside an installed package, or in the build folder beside it."""

from __future__ import annotations

import os
from pathlib import Path

from stoker.errors import StokerError


def program_path() -> Path:
    """The program that belongs to this package."""
    package = Path(__file__).parent if not os.path.islink(__file__) else Path(os.path.abspath(__file__)).parent
    for candidate in (package / "bin" / "stoker", package.parent.parent / "stoker"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise StokerError(
        f"expected the program stoker in {package / 'bin'}, found none",
        code="E-PACKAGE-PROGRAM",
        help="install the package again; from a source folder, run make first",
    )
