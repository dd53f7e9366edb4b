// The page of the endpoint: tables and meters, rendered here so that a browser needs no script.
#include "stoker/observe/http/served_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/number_text.h"
#include "stoker/base/report/markup.h"
#include "stoker/observe/live/live_text.h"

namespace stoker::observe {
namespace {

// Named places: seconds, at, body.
constexpr std::string_view kPage = R"x(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="{seconds}">
<link rel="icon" href="data:,">
<title>stoker monitor</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>stoker monitor</h1>
<p class="soft">{at}; refreshed every {seconds} s</p>
{body}</main>
</body>
</html>
)x";

constexpr std::string_view kStyle = R"x(
:root{--ink:#1f2328;--soft:#59636e;--line:#d8dee4;--ground:#f6f7f9;--card:#fff;--bar:#c2410c;--good:#1a7f4b;--bad:#c62828}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#2b333d;--ground:#0a0e13;--card:#0f141a;
--bar:#ff9d4d;--good:#4ed58a;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:1.4rem 0 .4rem}
.soft{color:var(--soft);margin:.2rem 0}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line)}
th,td{text-align:left;padding:.4rem .6rem;border-top:1px solid var(--line);vertical-align:top}
th{font-weight:600;width:8.5rem}td{overflow-wrap:anywhere}
meter{width:100%;height:.8rem}
.verdict{font-size:1.15rem;margin:.6rem 0;padding:.6rem .8rem;background:var(--card);border:1px solid var(--line);
border-left:4px solid var(--bar)}
.healthy{border-left-color:var(--good)}.starved{border-left-color:var(--bad)}
)x";

std::string row(std::string_view name, std::string_view value,
                std::optional<double> share = std::nullopt) {
  std::string meter;
  if (share && std::isfinite(*share))
    meter =
        fmt::format("<br><meter min=\"0\" max=\"1\" value=\"{:.3f}\" aria-label=\"{}\"></meter>",
                    std::clamp(*share, 0.0, 1.0), escape_markup(name));
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}{}</td></tr>\n", escape_markup(name),
                     escape_markup(value), meter);
}

std::string section(std::string_view title, std::string_view rows) {
  return fmt::format("<h2>{}</h2>\n<table>\n{}</table>\n", escape_markup(title), rows);
}

std::string gpu_row(const LiveGpu& gpu) {
  const cuda::GpuSample& now = gpu.now;
  std::string text = now.utilization_percent ? fmt::format("{} %", *now.utilization_percent) : "-";
  if (now.memory_used_bytes && now.memory_total_bytes)
    text += fmt::format(", {} of {} GiB", gib_text(*now.memory_used_bytes),
                        gib_text(*now.memory_total_bytes));
  if (now.power_w) text += fmt::format(", {:.0f} W", *now.power_w);
  if (now.clock_mhz) text += fmt::format(", {} MHz", *now.clock_mhz);
  if (now.temperature_c) text += fmt::format(", {} °C", *now.temperature_c);
  const std::uint64_t held = now.throttle_reasons.value_or(0) & cuda::kHardThrottles;
  if (held != 0) text += ", held down: " + cuda::throttle_text(held);
  const auto share = now.utilization_percent ? std::optional(*now.utilization_percent / 100.0)
                                             : std::optional<double>();
  return row(fmt::format("GPU {} {}", gpu.index, card_name(gpu.name)), text, share);
}

std::string machine_section(const LiveFigures& figures) {
  std::string rows;
  for (const LiveGpu& gpu : figures.gpus) rows += gpu_row(gpu);
  if (figures.gpus.empty()) rows += row("GPU", no_gpu_text(figures));
  const CpuWindow& cpu = figures.machine.cpu;
  const auto used =
      cpu.busy_cores ? std::optional(*cpu.busy_cores / figures.num_cores) : std::optional<double>();
  rows += row("CPU",
              cpu.busy_cores ? fmt::format("{:.1f} of {} cores", *cpu.busy_cores, figures.num_cores)
                             : fmt::format("{} cores", figures.num_cores),
              used);
  rows += row("Memory", memory_text(figures.machine.memory), memory_share(figures.machine.memory));
  const StorageWindow& disk = figures.machine.storage;
  rows += row("Disk", disk_name(disk) + ", reads " + rate_text(disk.device_read_bytes_per_s),
              disk.device_busy_share);
  return section("Machine", rows);
}

std::string stages_section(const LiveFeed& feed) {
  std::string rows;
  for (std::size_t i = 0; i < feed::kNumRecordStages; ++i) {
    const double share = feed.stage_shares[i];
    if (share > 0)
      rows += row(feed::name_of(static_cast<feed::RecordStage>(i)), percent_text(share), share);
  }
  return rows.empty() ? rows : section("Where the time of a batch goes", rows);
}

std::string gaps_section(const LiveFeed& feed) {
  std::string rows;
  for (const LiveGap& gap : feed.gaps)
    rows += row(ago_text(gap.ago_s) + " ago",
                fmt::format("{} in {}{}", seconds_text(gap.length_s),
                            gap.is_consumer ? "the consumer: " : "", gap.stage));
  return rows.empty() ? rows : section("Longest gaps of the last batches", rows);
}

std::string verdict_text(const LiveFeed& feed) {
  if (feed.totals.batches == 0) return {};
  return fmt::format("<p class=\"verdict {}\">{}</p>\n", name_of(feed.verdict),
                     escape_markup(feed.verdict_sentence));
}

// Paths of runs are the user's own words; whoever opens the page sees the state alone.
std::string feed_sections(const LiveFigures& figures) {
  const LiveFeed& feed = figures.feed;
  std::string rows = row("State", name_of(feed.state));
  if (feed.totals.batches == 0) return section("Feed", rows);
  rows += row("Rate", fmt::format("{} batches, {} clips, {} frames a second",
                                  count_text(feed.batches_per_s), count_text(feed.clips_per_s),
                                  count_text(feed.frames_per_s)));
  rows += row("Stall",
              fmt::format("{} now, {} since it began", percent_text(feed.stall_share),
                          percent_text(feed.stall_share_total)),
              feed.stall_share);
  rows += row("Ready", counted(feed.num_ready, "batch", "batches"),
              feed.most_ready > 0 ? std::optional(double{1} * feed.num_ready / feed.most_ready)
                                  : std::nullopt);
  rows += row("Workers",
              fmt::format("{}, busy {}", feed.num_workers, percent_text(feed.worker_busy_share)));
  rows +=
      row("Consumer", fmt::format("step {} ms, interval {} ms, CV {:.2f}", count_text(feed.step_ms),
                                  count_text(feed.interval_ms), feed.interval_cv));
  rows += row("Handed out", fmt::format("{}, {}", counted(feed.totals.batches, "batch", "batches"),
                                        counted(feed.totals.clips, "clip", "clips")));
  return section("Feed", rows) + stages_section(feed) + gaps_section(feed);
}

}  // namespace

std::string live_page(const LiveFigures& figures) {
  const auto seconds = static_cast<int>(std::clamp(std::round(figures.interval_s), 1.0, 60.0));
  return fmt::format(kPage, fmt::arg("seconds", seconds), fmt::arg("style", kStyle),
                     fmt::arg("at", clock_text(figures.unix_ns)),
                     fmt::arg("body", verdict_text(figures.feed) + machine_section(figures) +
                                          feed_sections(figures)));
}

}  // namespace stoker::observe
