"""The check of settings must be able to fail: each planted fault is caught, a clean tree passes."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_settings.py"
HEADER = """
struct DataSettings {{
  static constexpr std::string_view kSection = "data";
{extra}
  static constexpr auto fields() {{
    return std::tuple{{
        field("path", &C::path, "Folder."),
        field("speed", &C::speed_hz, {{0, 1}}, "Speed."){tail},
    }};
  }}
}};

struct Settings {{
  DataSettings data;
}};
"""
READS_BOTH = "int f(const config::Settings& settings) { return settings.data.path + settings.data.speed_hz; }\n"
BY_VARIABLE = "int f(const config::DataSettings& given) { return given.path + given.speed_hz; }\n"
READS_ONE = "int f(const config::Settings& settings) { return settings.data.path; }\n"
WRITES_ONE = READS_ONE + "void g(config::Settings& settings) { settings.data.speed_hz = 3; }\n"
SPEAKS_OF_ONE = READS_ONE + "// settings.data.speed_hz\n"
OTHER_OBJECT = READS_ONE + "int g(Wheel wheel) { return wheel.speed_hz; }\n"

PLANTED = {
    "a setting that nothing reads": ("", "", READS_ONE),
    "a setting that is only written": ("", "", WRITES_ONE),
    "a setting that only a comment names": ("", "", SPEAKS_OF_ONE),
    "a member of the same name elsewhere": ("", "", OTHER_OBJECT),
    "a setting declared as not yet that is read": ("", ".not_yet(NotYet::kFeed)", READS_BOTH),
    "a struct declared as not yet that is read": ("  static constexpr NotYet kNotYet = NotYet::kTrain;", "", READS_ONE),
}
CLEAN = {
    "read through the part": ("", "", READS_BOTH),
    "read through a variable": ("", "", BY_VARIABLE),
    "not yet, and not read": ("", ".not_yet(NotYet::kFeed)", READS_ONE),
    "one value not yet": ("", '.not_yet(NotYet::kFeed, "auto")', READS_BOTH),
}


def verdict(extra: str, tail: str, reader: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "config").mkdir()
        (root / "feed").mkdir()
        (root / "config" / "settings.h").write_text(HEADER.format(extra=extra, tail=tail), encoding="utf-8")
        (root / "feed" / "open.cc").write_text(reader, encoding="utf-8")
        return subprocess.run([sys.executable, str(CHECK), folder], check=False, stderr=subprocess.DEVNULL).returncode


def main() -> int:
    wrong = [f"not caught: {title}" for title, case in PLANTED.items() if verdict(*case) == 0]
    wrong += [f"refused: {title}" for title, case in CLEAN.items() if verdict(*case) != 0]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
