"""check_error_tests.py must be able to fail: a code that no test names is caught, one that a test names passes."""

import sys

from planted import judge, verdict

PAGE = "| `E-WAV-TRUNC` | 3 | The file is cut. | copy it |\n"
ERRORS = 'inline constexpr ErrorCode kWavTrunc{\n    "E-WAV-TRUNC", ExitCode::kData, "The file is cut.", "copy it"};\n'
PLANTED = {
    "a code that no test names": "EXPECT_EQ(1, 1);\n",
    "a code of which a longer one is named": 'EXPECT_EQ(code, "E-WAV-TRUNC-TWICE");\n',
    "a constant of which a longer one is named": "EXPECT_EQ(code, &kWavTruncated);\n",
}
CLEAN = {
    "the code": 'EXPECT_EQ(code, "E-WAV-TRUNC");\n',
    "its constant": "EXPECT_EQ(code, &audio::kWavTrunc);\n",
    "an error line": 'EXPECT_EQ(line, "error[E-WAV-TRUNC] a.wav");\n',
}


def tree_with(test: str) -> dict[str, str]:
    return {"docs/reference/errors.md": PAGE, "src/stoker/audio/errors.h": ERRORS, "tests/audio/a_test.cc": test}


if __name__ == "__main__":
    sys.exit(judge(lambda test: verdict("check_error_tests.py", tree_with(test)), PLANTED, CLEAN))
