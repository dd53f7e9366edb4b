#include "stoker/cli/data_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "stoker/base/number_text.h"
#include "stoker/data/row_rules.h"

namespace stoker::cli {
namespace {

constexpr std::size_t kMostListed = 20;
constexpr std::size_t kMostIdsOfACode = 3;
constexpr std::size_t kMostSpeakers = 12;
constexpr std::size_t kHistogramBins = 16;

std::string account_line(const data::IndexCounts& counts) {
  return fmt::format("rows      {} = {} accepted + {} filtered + {} rejected", grouped(counts.rows),
                     grouped(counts.accepted), grouped(counts.filtered), grouped(counts.rejected));
}

// " (a, b, …)": the first rows that a code was found in, so that none has to be searched for.
std::string first_ids(std::span<const data::Finding> findings, std::string_view code) {
  std::string ids;
  std::size_t num_found = 0;
  for (const data::Finding& finding : findings) {
    if (finding.id.empty() || finding.error.code->name != code) continue;
    if (++num_found > kMostIdsOfACode) break;
    ids += (ids.empty() ? " (" : ", ") + escape_control(finding.id);
  }
  if (ids.empty()) return ids;
  return ids + (num_found > kMostIdsOfACode ? ", …)" : ")");
}

void add_counts(std::vector<std::string>& lines, std::string_view title,
                const data::CodeCounts& codes, std::span<const data::Finding> findings = {}) {
  for (const auto& [code, count] : codes) {
    lines.push_back(
        fmt::format("{:<10}{:>9} {}{}", title, grouped(count), code, first_ids(findings, code)));
    title = "";
  }
}

void add_findings(std::vector<std::string>& lines, std::span<const data::Finding> findings,
                  std::string_view mark) {
  for (const data::Finding& finding : findings.first(std::min(findings.size(), kMostListed))) {
    std::string line = error_line(finding.error);
    line.replace(0, std::string_view("error").size(), mark);
    if (!finding.id.empty())
      line += fmt::format(" (row {} \"{}\")", finding.line, escape_control(finding.id));
    lines.push_back(std::move(line));
  }
  if (findings.size() > kMostListed)
    lines.push_back(fmt::format("… and {} more", grouped(findings.size() - kMostListed)));
}

// A bar of at most `width` cells in eighths, so that small differences can be seen.
std::string bar(double share, std::size_t width) {
  static constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(share * static_cast<double>(width) * 8.0));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out += kEighths[eighths % 8];
}

void add_histogram(std::vector<std::string>& lines, const std::vector<double>& durations_s) {
  const data::Histogram histogram = data::histogram_of(durations_s, kHistogramBins);
  const std::uint64_t most = std::max<std::uint64_t>(
      1, *std::max_element(histogram.counts.begin(), histogram.counts.end()));
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    lines.push_back(fmt::format(
        "  {:6.2f} – {:6.2f} s {:>9} {}", static_cast<double>(bin) * histogram.bin_width,
        static_cast<double>(bin + 1) * histogram.bin_width, grouped(histogram.counts[bin]),
        bar(static_cast<double>(histogram.counts[bin]) / static_cast<double>(most), 40)));
}

void add_speakers(std::vector<std::string>& lines, const data::Summary& summary) {
  lines.push_back(fmt::format("speakers  {}", grouped(summary.speakers.size())));
  for (std::size_t i = 0; i < std::min(summary.speakers.size(), kMostSpeakers); ++i) {
    const data::SpeakerSummary& speaker = summary.speakers[i];
    lines.push_back(fmt::format("  {:<20} {:>20} {:>12}", escape_control(speaker.name),
                                counted(speaker.num_utterances, "utterance", "utterances"),
                                seconds_text(speaker.audio_s)));
  }
  if (summary.speakers.size() > kMostSpeakers)
    lines.push_back(fmt::format("  … and {} more", summary.speakers.size() - kMostSpeakers));
}

}  // namespace

void put_summary(Json& report, const data::Summary& summary) {
  const data::DurationSummary& durations = summary.durations;
  report["durations"] = {{"shortest_s", durations.shortest_s},
                         {"mean_s", durations.mean_s},
                         {"median_s", durations.median_s},
                         {"p95_s", durations.p95_s},
                         {"longest_s", durations.longest_s}};
  for (const auto& [rate_hz, count] : summary.rates_hz)
    report["rates_hz"][std::to_string(rate_hz)] = count;
  for (const data::SpeakerSummary& speaker : summary.speakers)
    report["speakers"][speaker.name] = {{"utterances", speaker.num_utterances},
                                        {"audio_s", speaker.audio_s}};
  report["languages"] = summary.languages;
  report["characters"] = summary.characters;
  report["characters_per_s"] = summary.characters_per_s;
  const data::Histogram histogram = data::histogram_of(summary.durations_s, kHistogramBins);
  report["histogram"] = {{"bin_width_s", histogram.bin_width}, {"counts", histogram.counts}};
}

std::vector<std::string> check_lines(const data::Index& index) {
  std::vector<std::string> lines;
  add_findings(lines, index.rejects(), "reject");
  add_findings(lines, index.warnings(), "warning");
  lines.push_back(account_line(index.counts()));
  lines.push_back(fmt::format("audio     {}", seconds_text(index.audio_s())));
  lines.push_back("voices    " + data::voices_text(index));
  add_counts(lines, "rejected", index.account().reject_codes());
  add_counts(lines, "filtered", index.account().filter_codes());
  add_counts(lines, "odd", index.account().warning_codes(), index.warnings());
  add_counts(lines, "noted", index.account().notes());
  return lines;
}

std::vector<std::string> info_lines(const data::Index& index, const data::Summary& summary) {
  const data::DurationSummary& durations = summary.durations;
  std::vector<std::string> lines{account_line(index.counts())};
  lines.push_back(fmt::format(
      "audio     {}; shortest {:.2f} s, mean {:.2f} s, median {:.2f} s, 95 % below {:.2f} s, "
      "longest {:.2f} s",
      seconds_text(durations.total_s), durations.shortest_s, durations.mean_s, durations.median_s,
      durations.p95_s, durations.longest_s));
  add_histogram(lines, summary.durations_s);
  for (const auto& [rate_hz, count] : summary.rates_hz)
    lines.push_back(fmt::format("rate      {} Hz: {}", grouped(rate_hz),
                                counted(count, "utterance", "utterances")));
  for (const auto& [language, count] : summary.languages)
    lines.push_back(
        fmt::format("language  {}: {}", language, counted(count, "utterance", "utterances")));
  add_speakers(lines, summary);
  std::string characters;
  for (const auto& [character, count] : summary.characters) characters += character;
  lines.push_back(fmt::format("text      {:.1f} characters per second; {} different: {}",
                              summary.characters_per_s, summary.characters.size(),
                              escape_control(characters)));
  lines.push_back(fmt::format("digest    {}", index.data_digest().hex()));
  return lines;
}

void put_padding(Json& report, const data::Index& index, const feed::ExpectedPadding& padding) {
  Json costly = Json::array();
  for (const feed::CostlyUtterance& each : padding.costly)
    costly.push_back({{"id", index[each.row].id},
                      {"frames", each.num_frames},
                      {"padding_share", each.padding_share},
                      {"above_batch_frames", each.is_above_budget}});
  report["padding"] = {{"share", padding.share},
                       {"shapes", padding.num_shapes},
                       {"batches", padding.num_batches},
                       {"costly", std::move(costly)},
                       {"max_mel_frames", nullptr}};
  if (padding.max_mel_frames) report["padding"]["max_mel_frames"] = *padding.max_mel_frames;
}

std::vector<std::string> padding_lines(const data::Index& index,
                                       const feed::ExpectedPadding& padding) {
  std::vector<std::string> lines{fmt::format("padding   {:.2f} % expected; {}, {}",
                                             100.0 * padding.share,
                                             counted(padding.num_shapes, "shape", "shapes"),
                                             counted(padding.num_batches, "batch", "batches"))};
  for (const feed::CostlyUtterance& each : padding.costly)
    lines.push_back(fmt::format(
        "  {:<20} {:>9} frames cost {:.2f} % of padding{}", escape_control(index[each.row].id),
        grouped(each.num_frames), 100.0 * each.padding_share,
        each.is_above_budget ? "; more than data.batch_frames by itself" : ""));
  if (padding.max_mel_frames)
    lines.push_back(fmt::format("  data.max_mel_frames {0} (--max-mel-frames {0}) leaves {1} out",
                                *padding.max_mel_frames,
                                padding.costly.size() == 1 ? "it" : "them"));
  return lines;
}

SplitLines split_lines(const data::Index& index, const data::SplitOptions& options) {
  SplitLines out;
  const bool several = index.sources().size() > 1;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const data::Utterance row = index[i];
    const std::string_view own_id =
        several && row.id.starts_with(index.sources()[row.source].name + "/")
            ? row.id.substr(index.sources()[row.source].name.size() + 1)
            : row.id;
    const data::Split split = data::split_of(own_id, options);
    std::string_view name = "unused";
    if (split == data::Split::kTrain) name = "train";
    if (split == data::Split::kEval) name = "eval";
    out.num_train += static_cast<std::uint64_t>(split == data::Split::kTrain);
    out.num_eval += static_cast<std::uint64_t>(split == data::Split::kEval);
    out.num_unused += static_cast<std::uint64_t>(split == data::Split::kAll);
    out.text += fmt::format("{}|{}\n", row.id, name);
  }
  return out;
}

}  // namespace stoker::cli
