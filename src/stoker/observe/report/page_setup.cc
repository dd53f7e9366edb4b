// With what a run was done: settings, machine, rejects; and the names that all sections share.
#include <fmt/format.h>

#include "stoker/base/number_text.h"
#include "stoker/observe/report/page_parts.h"

namespace stoker::observe {
namespace {

// Rows of what is known.
class FactRows {
 public:
  explicit FactRows(const Words& words)
      : words_(words),
        table_{.header = {words(Word::kWhat), words(Word::kFound)}, .are_facts = true} {}

  void add(Word what, std::string found) {
    table_.rows.push_back({words_(what), std::move(found)});
  }
  void add(Word what, const std::optional<double>& value, const char* form) {
    if (value) add(what, fmt::format(fmt::runtime(form), *value));
  }
  void add_bytes(Word what, const std::optional<double>& value) {
    if (value) add(what, bytes_text(static_cast<std::uint64_t>(*value)));
  }
  void add_share(Word what, const std::optional<double>& share) {
    if (share) add(what, percent_text(*share));
  }
  const ReportTable& table() const { return table_; }

 private:
  const Words& words_;
  ReportTable table_;
};

void put_window(const MachineWindow& window, const Words& words, FactRows& rows) {
  rows.add(Word::kCoresAllowed, fmt::format("{}", window.cpu.num_allowed_cores));
  rows.add(Word::kQuota, window.cpu.quota_cores, "{:.2f}");
  rows.add(Word::kCoresOwn, window.cpu.own_cores, "{:.1f}");
  rows.add(Word::kCoresOthers, window.cpu.other_cores, "{:.1f}");
  if (window.memory.available_bytes && window.memory.total_bytes)
    rows.add(Word::kMemoryLeft, words(Word::kOf, {bytes_text(*window.memory.available_bytes),
                                                  bytes_text(*window.memory.total_bytes)}));
  if (!window.storage.file_system.empty())
    rows.add(Word::kStorage, fmt::format("{} ({}) {}", window.storage.file_system,
                                         name_of(window.storage.kind), window.storage.device));
  rows.add_share(Word::kPageCache, window.storage.page_cache_share);
  rows.add_share(Word::kDiskBusy, window.storage.device_busy_share);
  if (!window.gpu) return;
  rows.add(Word::kGpuUse, window.gpu->utilization_percent, "{:.0f} %");
  rows.add(Word::kGpuPower, window.gpu->power_w, "{:.0f} W");
  rows.add(Word::kGpuClock, window.gpu->clock_mhz, "{:.0f} MHz");
  rows.add_share(Word::kGpuThrottled, window.gpu->throttled_share);
}

void put_samples(const FigureColumns& machine, const Words& words, FactRows& rows) {
  rows.add(Word::kCoresAllowed, machine.highest("cores_allowed"), "{:.0f}");
  rows.add(Word::kCoresOwn, machine.mean("own_cores"), "{:.1f}");
  rows.add(Word::kCoresOthers, machine.mean("other_cores"), "{:.1f}");
  rows.add_bytes(Word::kMemoryLeftMean, machine.mean("memory_available_bytes"));
  if (const auto rate = machine.mean("disk_read_bytes_per_s"))
    rows.add(Word::kDiskRead, fmt::format("{:.1f} MB/s", 1e-6 * *rate));
  rows.add_share(Word::kDiskBusy, machine.mean("disk_busy_share"));
  rows.add(Word::kGpuUse, machine.mean("gpu_percent"), "{:.0f} %");
  const auto used = machine.highest("gpu_memory_bytes");
  const auto total = machine.highest("gpu_memory_total_bytes");
  if (used && total)
    rows.add(Word::kGpuMemory, words(Word::kOf, {bytes_text(static_cast<std::uint64_t>(*used)),
                                                 bytes_text(static_cast<std::uint64_t>(*total))}));
  rows.add(Word::kGpuPower, machine.mean("gpu_power_w"), "{:.0f} W");
  rows.add(Word::kGpuClock, machine.mean("gpu_clock_mhz"), "{:.0f} MHz");
  rows.add(Word::kGpuTemperature, machine.highest("gpu_temperature_c"), "{:.0f} °C");
  if (const auto share = machine.mean("gpu_throttled"))
    rows.add(Word::kGpuThrottled, words(Word::kOfSamples, {percent_text(*share)}));
}

Word word_after(Word first, std::size_t index) {
  return static_cast<Word>(static_cast<std::size_t>(first) + index);
}

}  // namespace

const std::vector<feed::BatchRecord>& PageParts::records() const {
  static const std::vector<feed::BatchRecord> kNone;
  return story.watched ? story.watched->evidence.watch.records : kNone;
}

std::string percent_text(double share, unsigned num_decimals) {
  return fmt::format("{:.{}f} %", 100 * share, num_decimals);
}

std::string stage_name(const Words& words, feed::RecordStage stage) {
  static_assert(static_cast<std::size_t>(Word::kStageAssemble) -
                    static_cast<std::size_t>(Word::kStagePlan) ==
                static_cast<std::size_t>(feed::RecordStage::kAssemble));
  return words(word_after(Word::kStagePlan, static_cast<std::size_t>(stage)));
}

std::string work_name(const Words& words, feed::ConsumerWork work) {
  static_assert(static_cast<std::size_t>(Word::kWorkOther) -
                    static_cast<std::size_t>(Word::kWorkLogging) ==
                static_cast<std::size_t>(feed::ConsumerWork::kOther));
  return words(word_after(Word::kWorkLogging, static_cast<std::size_t>(work)));
}

void add_settings(const PageParts& parts) {
  if (parts.story.settings.empty()) return;
  const Words& words = parts.words;
  parts.page.open_section(words(Word::kSettings));
  ReportTable table{.header = {words(Word::kSetting), words(Word::kValue), words(Word::kDefault)},
                    .are_facts = true};
  for (const StorySetting& setting : parts.story.settings)
    table.rows.push_back({setting.path, setting.value, setting.usual});
  parts.page.add_table(table);
}

void add_machine(const PageParts& parts) {
  FactRows rows(parts.words);
  if (parts.story.watched && parts.story.watched->evidence.watch.machine) {
    put_window(*parts.story.watched->evidence.watch.machine, parts.words, rows);
  } else {
    put_samples(parts.story.machine, parts.words, rows);
  }
  if (rows.table().rows.empty()) return;
  parts.page.open_section(parts.words(Word::kMachine));
  parts.page.add_table(rows.table());
}

void add_rejects(const PageParts& parts) {
  if (parts.story.num_rejects == 0) return;
  const Words& words = parts.words;
  parts.page.open_section(words(Word::kRejects));
  parts.page.add_paragraph(words(
      Word::kRejectsNote, {grouped(parts.story.num_rejects), grouped(parts.story.rejects.size())}));
  ReportTable table{.header = {words(Word::kFile), words(Word::kCode), words(Word::kMessage)}};
  for (const StoryReject& reject : parts.story.rejects)
    table.rows.push_back({reject.file, reject.code, reject.message});
  parts.page.add_table(table);
}

}  // namespace stoker::observe
