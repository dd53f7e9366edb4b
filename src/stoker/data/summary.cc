#include "stoker/data/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stoker/base/number_text.h"
#include "stoker/base/utf8.h"

namespace stoker::data {
namespace {

double at_share(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(last * share))];
}

DurationSummary summarise_durations(std::vector<double> durations_s) {
  if (durations_s.empty()) return {};
  std::sort(durations_s.begin(), durations_s.end());
  DurationSummary out;
  for (const double duration_s : durations_s) out.total_s += duration_s;
  out.shortest_s = durations_s.front();
  out.mean_s = out.total_s / static_cast<double>(durations_s.size());
  out.median_s = at_share(durations_s, 0.5);
  out.p95_s = at_share(durations_s, 0.95);
  out.longest_s = durations_s.back();
  return out;
}

std::uint64_t count_text(std::string_view text, std::map<std::string, std::uint64_t>& characters) {
  std::uint64_t num_characters = 0;
  for (std::size_t at = 0; at < text.size(); ++num_characters) {
    const std::size_t size_bytes = decode_utf8(text.substr(at)).size_bytes;
    ++characters[std::string(text.substr(at, size_bytes))];
    at += size_bytes;
  }
  return num_characters;
}

}  // namespace

Summary summarise(const Index& index) {
  Summary out;
  for (const std::string& name : index.speakers()) out.speakers.push_back({.name = name});
  std::uint64_t num_characters = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Utterance row = index[i];
    out.durations_s.push_back(row.duration_s());
    ++out.rates_hz[row.rate_hz];
    ++out.languages[index.languages()[row.language]];
    ++out.speakers[row.speaker].num_utterances;
    out.speakers[row.speaker].audio_s += row.duration_s();
    num_characters += count_text(row.text, out.characters);
  }
  out.durations = summarise_durations(out.durations_s);
  if (out.durations.total_s > 0)
    out.characters_per_s = static_cast<double>(num_characters) / out.durations.total_s;
  std::stable_sort(out.speakers.begin(), out.speakers.end(),
                   [](const auto& a, const auto& b) { return a.audio_s > b.audio_s; });
  return out;
}

Json account_json(const Index& index) {
  Json report;
  const IndexCounts& counts = index.counts();
  report["rows"] = counts.rows;
  report["accepted"] = counts.accepted;
  report["filtered"] = counts.filtered;
  report["rejected"] = counts.rejected;
  report["audio_s"] = index.audio_s();
  report["codes"] = index.account().reject_codes();
  report["filters"] = index.account().filter_codes();
  report["oddities"] = index.account().warning_codes();
  report["notes"] = index.account().notes();
  report["num_speakers"] = index.speakers().size();
  report["data_digest"] = index.data_digest().hex();
  return report;
}

std::string voices_text(const Index& index) {
  if (index.size() == 0) return "none";
  std::set<std::uint32_t> used;
  for (std::size_t i = 0; i < index.size(); ++i) used.insert(index[i].language);
  std::string languages;
  for (const std::uint32_t language : used)
    languages += (languages.empty() ? "" : ", ") + escape_control(index.languages()[language]);
  return fmt::format("{} speaker{}, language{} {}", grouped(index.speakers().size()),
                     index.speakers().size() == 1 ? "" : "s", used.size() == 1 ? "" : "s",
                     languages);
}

Histogram histogram_of(const std::vector<double>& values, std::size_t num_bins) {
  Histogram out{.bin_width = 0, .counts = std::vector<std::uint64_t>(num_bins)};
  if (values.empty() || num_bins == 0) return out;
  const double largest = *std::max_element(values.begin(), values.end());
  if (!(largest > 0)) return out;
  out.bin_width = largest / static_cast<double>(num_bins);
  for (const double value : values)
    ++out.counts[std::min(num_bins - 1, static_cast<std::size_t>(value / out.bin_width))];
  return out;
}

}  // namespace stoker::data
