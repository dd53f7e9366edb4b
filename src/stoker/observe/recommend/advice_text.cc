// Advice as a settings file with comments, and as JSON.
#include <fmt/format.h>

#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/observe/recommend/advice.h"

namespace stoker::observe {
namespace {

constexpr double kMiB = 1 << 20;

Json expected_json(const Expected& expected) {
  return {{"value", expected.value}, {"low", expected.low}, {"high", expected.high}};
}

std::string cores_text(const CpuCount& cpus) {
  std::string text = fmt::format("{} of {}", counted(cpus.allowed, "core", "cores"), cpus.online);
  if (cpus.by_affinity < cpus.online) text += fmt::format(", {} by affinity", cpus.by_affinity);
  if (cpus.by_quota) text += fmt::format(", quota {:.2f}", *cpus.by_quota);
  return text;
}

std::string memory_text(const MemoryFacts& memory) {
  std::string text = fmt::format("{} free of {}", bytes_text(memory.available_bytes),
                                 bytes_text(memory.total_bytes));
  if (memory.limit_bytes)
    text +=
        fmt::format(", limited to {} by {}", bytes_text(*memory.limit_bytes), memory.limited_by);
  return text;
}

std::string storage_text(const StorageFacts& storage) {
  const auto cold = [](const std::optional<double>& rate) {
    return rate ? fmt::format("{:.0f}", *rate) : std::string("not known");
  };
  return fmt::format(
      "{}: read {:.0f} MB/s warm, {} cold; files of 64 KiB {:.0f}/s warm, {} cold; written {:.0f} "
      "MB/s",
      storage.file_system.empty() ? "storage" : storage.file_system, storage.warm_mb_per_s,
      cold(storage.cold_mb_per_s), storage.warm_files_per_s, cold(storage.cold_files_per_s),
      storage.write_mb_per_s);
}

std::string gpu_text(const Findings& findings) {
  if (!findings.gpu) return findings.why_no_gpu;
  const GpuFindings& gpu = *findings.gpu;
  std::string text = fmt::format("{}, {} MiB", gpu.name, grouped(gpu.memory_mib));
  if (!gpu.is_here) text += ", not in this machine: its public figures";
  if (gpu.is_here && findings.machine.bus_gb_per_s)
    text += fmt::format(", bus {:.1f} GB/s measured", *findings.machine.bus_gb_per_s);
  return text;
}

std::string expected_text(const Advice& advice) {
  const Expected& rate = advice.clips_per_s;
  const Expected& memory = advice.memory_bytes;
  return fmt::format("{} clips/s ({} to {}), {:.0f} MiB of memory ({:.0f} to {:.0f})",
                     grouped(static_cast<std::uint64_t>(rate.value)),
                     grouped(static_cast<std::uint64_t>(rate.low)),
                     grouped(static_cast<std::uint64_t>(rate.high)), memory.value / kMiB,
                     memory.low / kMiB, memory.high / kMiB);
}

// Sections once each, whatever the order of the settings.
std::string settings_lines(const std::vector<AdvisedSetting>& settings) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (const AdvisedSetting& each : settings) {
    const std::size_t dot = each.path.find('.');
    const std::string section = dot == each.path.npos ? "" : each.path.substr(0, dot);
    const std::string key = section.empty() ? each.path : "  " + each.path.substr(dot + 1);
    auto at = sections.begin();
    while (at != sections.end() && at->first != section) ++at;
    if (at == sections.end()) at = sections.insert(sections.end(), {section, ""});
    at->second += fmt::format("{:<34} # {}\n", fmt::format("{}: {}", key, each.value), each.reason);
  }
  std::string text;
  for (const auto& [section, lines] : sections)
    text += fmt::format("{}{}{}", section, section.empty() ? "" : ":\n", lines);
  return text;
}

}  // namespace

std::string advice_yaml(const Findings& findings, const Advice& advice) {
  std::string text = "# Written by `stoker config recommend` from what it measured here.\n";
  text += "# cores: " + cores_text(findings.machine.cpus) + "\n";
  text += "# memory: " + memory_text(findings.machine.memory) + "\n";
  text += "# storage: " + storage_text(findings.machine.storage) + "\n";
  text += "# GPU: " + gpu_text(findings) + "\n";
  text += "# data: " + survey_text(findings.data) + "\n";
  text +=
      fmt::format("# runs: {} in {}\n", counted(findings.search.tried.size(), "choice", "choices"),
                  seconds_text(findings.search.seconds));
  text += "# expected: " + expected_text(advice) + "\n";
  for (const std::string& note : advice.notes) text += "# note: " + note + "\n";
  return text + settings_lines(advice.settings);
}

Json advice_json(const Findings& findings, const Advice& advice) {
  Json settings = Json::array(), tried = Json::array(), refused = Json::object();
  for (const AdvisedSetting& each : advice.settings)
    settings.push_back({{"setting", each.path}, {"value", each.value}, {"reason", each.reason}});
  for (const TriedChoice& each : findings.search.tried)
    tried.push_back({{"tier", name_of(each.choice.tier)},
                     {"num_workers", each.choice.num_workers},
                     {"depth", each.choice.depth},
                     {"clips_per_s", each.median()},
                     {"plus_minus", each.plus_minus()},
                     {"runs", each.rates.size()}});
  for (const auto& [tier, error] : findings.refusals)
    refused[std::string(name_of(tier))] = error_line(error);
  Json gpu = nullptr;
  if (findings.gpu) {
    gpu = Json{{"name", findings.gpu->name},
               {"memory_mib", findings.gpu->memory_mib},
               {"is_here", findings.gpu->is_here}};
  }
  const std::optional<OriginalSizes> original =
      findings.gpu ? original_sizes(findings.gpu->name) : std::nullopt;
  Json out{{"machine", machine_json(findings.machine)},
           {"data", survey_json(findings.data)},
           {"is_made_data", findings.is_made_data},
           {"share_tried", findings.share_tried},
           {"gpu", std::move(gpu)},
           {"tier", findings.search.best ? Json(name_of(findings.search.best->choice.tier))
                                         : Json(nullptr)},
           {"settings", std::move(settings)},
           {"tried", std::move(tried)},
           {"refused", std::move(refused)},
           {"clips_per_s", expected_json(advice.clips_per_s)},
           {"memory_bytes", expected_json(advice.memory_bytes)},
           {"notes", advice.notes},
           {"original", nullptr}};
  if (original) {
    out["original"] = Json{{"batch_size", original->batch_size},
                           {"num_workers", original->num_workers},
                           {"prefetch", original->prefetch},
                           {"accumulation", original->accumulation}};
  }
  return out;
}

}  // namespace stoker::observe
