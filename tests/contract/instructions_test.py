"""instructions_test.py COMPILER: the check of instructions must be able to fail. Each planted word is caught, so is an
estimate that only the compiler put in, and clean sources and libraries pass."""

import platform
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_instructions.py"
PLANTED = {
    "Highway's estimate of 1/root": ("src/a-inl.h", "return ApproximateReciprocalSqrt(x);\n"),
    "Highway's estimate of 1/x": ("src/a.cc", "return ApproximateReciprocal(x);\n"),
    "SSE's estimate": ("src/a.cc", "return _mm_rsqrt_ps(x);\n"),
    "AVX-512's estimate under a mask": ("src/a.cc", "return _mm512_mask_rcp14_ps(x, m, x);\n"),
    "NEON's estimate": ("src/a.cc", "return vrsqrteq_f32(x);\n"),
    "a flag that lets the compiler estimate": ("cmake/a.cmake", "add_compile_options(-ffast-math)\n"),
}
CLEAN = {
    "src/a.cc": "return Sqrt(Div(x, y));  // a reciprocal\n",
    "src/a_cuda.cu": "return rsqrtf(x);\n",
}
# With these flags the compiler turns 1/root into an estimate; without them into a root and a division.
SOURCE = "#include <cmath>\nfloat f(float x) { return 1.0F / std::sqrt(x); }\n"
ESTIMATING = ["-O2", "-ffast-math", "-mrecip=all"]
EXACT = ["-O2", "-fno-math-errno"]


def verdict(root: Path, *libraries: Path) -> int:
    command = [sys.executable, str(CHECK), "--root", str(root), *map(str, libraries)]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def source_verdict(files: dict[str, str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return verdict(Path(folder))


def library_verdict(compiler: str, flags: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "a.cpp", Path(folder) / "liba.so"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run([compiler, *flags, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        return verdict(Path(folder), library)


def main() -> int:
    wrong = [f"not caught: {title}" for title, (name, text) in PLANTED.items() if source_verdict({name: text}) != 1]
    if source_verdict(CLEAN) != 0:
        wrong.append("clean sources were refused")
    if platform.machine() == "x86_64":
        if library_verdict(sys.argv[1], ESTIMATING) != 1:
            wrong.append("not caught: an estimate that the compiler put in")
        if library_verdict(sys.argv[1], EXACT) != 0:
            wrong.append("a clean library was refused")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
