"""instructions_test.py COMPILER: the check of instructions must be able to fail. Each planted word is caught, so is an
estimate that only the compiler put in, and clean sources and libraries pass."""

import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from planted import judge, verdict

PLANTED = {
    "Highway's estimate of 1/root": {"src/a-inl.h": "return ApproximateReciprocalSqrt(x);\n"},
    "Highway's estimate of 1/x": {"src/a.cc": "return ApproximateReciprocal(x);\n"},
    "SSE's estimate": {"src/a.cc": "return _mm_rsqrt_ps(x);\n"},
    "AVX-512's estimate under a mask": {"src/a.cc": "return _mm512_mask_rcp14_ps(x, m, x);\n"},
    "NEON's estimate": {"src/a.cc": "return vrsqrteq_f32(x);\n"},
    "a flag that lets the compiler estimate": {"cmake/a.cmake": "add_compile_options(-ffast-math)\n"},
}
CLEAN = {
    "a root and a division": {"src/a.cc": "return Sqrt(Div(x, y));  // a reciprocal\n"},
    "CUDA's own root": {"src/a_cuda.cu": "return rsqrtf(x);\n"},
}
# With these flags the compiler turns 1/root into an estimate; without them into a root and a division.
SOURCE = "#include <cmath>\nfloat f(float x) { return 1.0F / std::sqrt(x); }\n"
ESTIMATING = ["-O2", "-ffast-math", "-mrecip=all"]
EXACT = ["-O2", "-fno-math-errno"]


def library_verdict(compiler: str, flags: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "a.cpp", Path(folder) / "liba.so"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run([compiler, *flags, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        code: int = verdict("check_instructions.py", {}, str(library), "--root")
        return code


def main() -> int:
    wrong: int = judge(lambda files: verdict("check_instructions.py", files, "--root"), PLANTED, CLEAN)
    if platform.machine() == "x86_64":
        planted = {"an estimate that the compiler put in": ESTIMATING}
        wrong |= judge(lambda flags: library_verdict(sys.argv[1], flags), planted, {"a clean library": EXACT})
    return wrong


if __name__ == "__main__":
    sys.exit(main())
