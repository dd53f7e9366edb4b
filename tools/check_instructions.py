#!/usr/bin/env python3
"""Finds instructions whose result the maker of a processor chooses, in the sources or in a built library.

IEEE defines what addition, multiplication, division, root and fused multiply-add give. It does not define the
estimates of 1/x and 1/root: AMD, Intel and an emulator each give others, so that features made with them differ
between machines. The same is true of the transcendental functions of the x87 unit.

    tools/check_instructions.py                        the words in src/
    tools/check_instructions.py build/lib/libstoker.so also what the compiler made of them

CUDA sources are not looked at: the estimates of a GPU have one maker, and belong to the numeric path `cuda`.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".h", ".cc")
# Highway's names, the intrinsics of SSE, AVX-512 and NEON, the compilers' builtins, and flags that let the compiler
# choose an estimate by itself.
WORDS = re.compile(
    r"ApproximateReciprocal\w*|_mm\d*_(?:\w+_)?(?:rsqrt|rcp)\w*|__builtin_ia32_(?:rsqrt|rcp)\w*"
    r"|\bv(?:rsqrt|recp)[es]q?_\w+"
)
FLAGS = re.compile(r"-ffast-math|-Ofast|-mrecip\b|-funsafe-math-optimizations|-freciprocal-math|fast-math")
# Every width and mask form: rsqrtps, vrsqrtss, vrsqrt14pd, vrcp28ps, vrcpph, vexp2ps, pfrsqrt, fsin, fyl2xp1 …
OPCODES = re.compile(
    r"v?(?:rsqrt|rcp)(?:14|28)?[ps][sdh]|vexp2p[sd]|pfr(?:cp|sqrt|sqit1|cpit[12])\w*"
    r"|fsin|fcos|fsincos|fptan|fpatan|f2xm1|fyl2x|fyl2xp1"
)
LINE = re.compile(r"^\s*[0-9a-f]+:\s+(?:(?:lock|rep|repz|repnz|notrack|bnd|data16) )*([a-z0-9]+)")
SYMBOL = re.compile(r"^[0-9a-f]+ <(.+)>:$")


def faults_in_text(name: str, text: str, pattern: re.Pattern[str]) -> list[str]:
    """One line for each word found, comments included: a comment that names an estimate is out of date."""
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        faults += [f"{name}:{number}: {found.group()}" for found in pattern.finditer(line)]
    return faults


def source_faults(root: Path) -> list[str]:
    sources = [path for path in sorted((root / "src").rglob("*")) if path.suffix in SUFFIXES]
    recipes = [*root.glob("CMakeLists.txt"), *root.glob("cmake/*.cmake"), *(root / "src").rglob("CMakeLists.txt")]
    faults = []
    for paths, pattern in ((sources, WORDS), (sorted(recipes), FLAGS)):
        for path in paths:
            faults += faults_in_text(str(path.relative_to(root)), path.read_text(encoding="utf-8"), pattern)
    return faults


def library_faults(library: Path) -> list[str]:
    """The function of each such instruction; raises when nothing could be disassembled."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", "--demangle", "--wide", str(library)]
    faults: dict[str, None] = {}
    symbol = "?"
    num_instructions = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := LINE.match(line):
                num_instructions += 1
                if OPCODES.fullmatch(found.group(1)):
                    faults[f"{library.name}: {found.group(1)} in {symbol}"] = None
            elif found := SYMBOL.match(line):
                symbol = found.group(1)
    if process.returncode != 0 or num_instructions == 0:
        raise SystemExit(f"check_instructions: objdump read {num_instructions} instructions of {library}")
    return list(faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("libraries", type=Path, nargs="*", help="built libraries or programs to disassemble")
    parser.add_argument("--root", type=Path, default=ROOT, help="tree whose src/ is read")
    options = parser.parse_args()
    faults = source_faults(options.root)
    for library in options.libraries:
        faults += library_faults(library)
    for fault in faults:
        print(f"{fault}: its result is the processor maker's choice; use an operation that IEEE defines")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
