"""The check of settings must be able to fail: each planted fault is caught, a clean tree passes."""

import sys

from planted import judge, verdict

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


def tree(extra: str, tail: str, reader: str) -> dict[str, str]:
    return {"config/settings.h": HEADER.format(extra=extra, tail=tail), "feed/open.cc": reader}


if __name__ == "__main__":
    sys.exit(judge(lambda case: verdict("check_settings.py", tree(*case)), PLANTED, CLEAN))
