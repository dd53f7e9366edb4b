"""What each model size costs, measured, as the header that `stoker config reference settings` is made from."""

from tools.pages import results

HEADER = results.ROOT / "src" / "stoker" / "config" / "size_figures.h"

TEXT = """// What each model size costs. Written by `python3 -m tools.make_pages` from
// bench/results/train-sizes.json, which bench/train_sizes.py measures.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker::config {{

struct SizeFigures {{
  std::uint64_t num_parameters;
  std::uint64_t peak_mib;  // most memory of the process
  double step_ms;          // median
}};

// In the order of ModelSize.
inline constexpr std::array<SizeFigures, 4> kSizeFigures{{{{
{rows}
}}}};
inline constexpr std::string_view kSizeFiguresSource =
    "{source}";

}}  // namespace stoker::config
"""


def header() -> str | None:
    """The header as it should be, or nothing where nobody has measured."""
    record = results.load("train-sizes")
    if record is None:
        return None
    rows = [f"    {{{row['parameters']}, {row['peak_rss_mib']}, {row['step_ms']}}}," for row in record["rows"]]
    parts = [record["date"], record["machine"], f"{record['cores']} cores"]
    parts.append(f"{record['batch_frames']:,} frames a batch")
    return TEXT.format(rows="\n".join(rows), source=", ".join(parts))
