#include "stoker/observe/live/live_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/live/live_text.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kMostHistory = 240;
constexpr std::size_t kLabelColumns = 8;
constexpr std::size_t kWideColumns = 120;  // from here on there is room for curves
constexpr std::size_t kTallRows = 36;      // and from here for a line each stage
constexpr std::size_t kFeedRows = 9;       // that the cards leave to the feed

Tint tint_of_use(double share) {
  constexpr double kNearlyAll = 0.97, kMuch = 0.9;
  if (share >= kNearlyAll) return Tint::kBad;
  return share >= kMuch ? Tint::kWarn : Tint::kNone;
}

Tint tint_of_stall(std::optional<double> stall) {
  if (!stall) return Tint::kDim;
  if (*stall > kStarvedShare) return Tint::kBad;
  return *stall > kStarvedShare / 2 ? Tint::kWarn : Tint::kGood;
}

Tint tint_of(LoopVerdict verdict) {
  if (verdict == LoopVerdict::kStarved) return Tint::kBad;
  if (verdict == LoopVerdict::kConsumer) return Tint::kWarn;
  return verdict == LoopVerdict::kHealthy ? Tint::kGood : Tint::kNone;
}

std::string up_text(double seconds) {
  const auto all = static_cast<std::uint64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

template <class Value>
std::string known(const std::optional<Value>& value, std::string_view unit) {
  return value ? fmt::format("{:.0f}{}", static_cast<double>(*value), unit) : std::string();
}

using Curve = std::function<std::optional<double>(const LiveFigures&)>;

}  // namespace

// The rows of one frame, from the top.
class LiveScreen::Drawing {
 public:
  Drawing(const LiveScreen& screen, const ScreenSize& size)
      : style_(screen.style_),
        note_(screen.note_),
        history_(screen.history_),
        now_(*history_.back()),
        size_(size),
        is_wide_(size.num_columns >= kWideColumns),
        is_tall_(size.num_rows >= kTallRows),
        bar_columns_(is_wide_ ? 40 : std::min<std::size_t>(20, size.num_columns / 8)) {}

  std::vector<std::string> rows() {
    head();
    gpus();
    cpu();
    memory();
    disk();
    gap();
    feed();
    if (rows_.size() > size_.num_rows) rows_.resize(size_.num_rows);
    return std::move(rows_);
  }

 private:
  ScreenLine line() const { return {style_, size_.num_columns}; }
  ScreenLine labelled(std::string_view label) const {
    ScreenLine out = line();
    out.add(label, Tint::kBold).move_to(kLabelColumns);
    return out;
  }
  void put(const ScreenLine& line) { rows_.push_back(line.text()); }
  void gap() {
    if (size_.num_rows >= 20) rows_.emplace_back();
  }
  std::size_t rows_left() const {
    return size_.num_rows > rows_.size() ? size_.num_rows - rows_.size() : 0;
  }

  void head() {
    ScreenLine out = line();
    out.add("stoker monitor", Tint::kBold);
    out.add(fmt::format("  {}  for {}", clock_text(now_.unix_ns), up_text(now_.at_s)));
    if (!note_.empty()) out.add("  " + note_, Tint::kDim);
    const std::string_view keys = "q or Ctrl-C ends";
    if (out.room() > keys.size() + 2)
      out.move_to(size_.num_columns - keys.size()).add(keys, Tint::kDim);
    put(out);
  }

  // A part that does not fit is left out: half a number would be a wrong one.
  static void add_part(ScreenLine& out, const std::string& text, Tint tint = Tint::kNone) {
    if (columns_of(text) + 2 <= out.room()) out.add("  ").add(text, tint);
  }

  void bar_of(ScreenLine& out, std::optional<double> share) const {
    out.bar(share.value_or(0), bar_columns_, tint_of_use(share.value_or(0))).add("  ");
  }

  // The course of the last minutes in the columns that are left.
  void curve(ScreenLine& out, const Curve& value, double most) const {
    constexpr std::array<std::string_view, 8> kSteps{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::size_t kBegin = 110;
    if (!is_wide_ || !style_.shows_unicode || out.column() + 2 > kBegin) return;
    out.move_to(kBegin);
    const std::size_t count = std::min(out.room(), history_.size());
    std::string text;
    for (std::size_t i = history_.size() - count; i < history_.size(); ++i) {
      const std::optional<double> each = value(*history_[i]);
      const double share = each && most > 0 ? std::clamp(*each / most, 0.0, 1.0) : 0.0;
      text += each ? kSteps[static_cast<std::size_t>(std::lround(share * 7))] : " ";
    }
    out.add(text, Tint::kDim);
  }

  void gpus() {
    if (now_.gpus.empty()) {
      put(labelled("GPU").add(no_gpu_text(now_), Tint::kDim));
      return;
    }
    const std::size_t reserved = kFeedRows + 4;
    const std::size_t room =
        std::max<std::size_t>(1, size_.num_rows > reserved + 1 ? size_.num_rows - reserved - 1 : 1);
    const std::size_t shown = now_.gpus.size() <= room ? now_.gpus.size() : room - (room > 1);
    for (std::size_t i = 0; i < shown; ++i) gpu(i);
    if (shown < now_.gpus.size())
      put(labelled("").add(fmt::format("and {} more", now_.gpus.size() - shown), Tint::kDim));
  }

  void gpu(std::size_t which) {
    const LiveGpu& gpu = now_.gpus[which];
    const cuda::GpuSample& sample = gpu.now;
    ScreenLine out = labelled(fmt::format("GPU {}", gpu.index));
    const auto use = sample.utilization_percent;
    out.bar(use.value_or(0) / 100.0, bar_columns_, Tint::kGood).add("  ");
    out.add(fmt::format("{:>5}", use ? fmt::format("{} %", *use) : "-"), Tint::kBold);
    if (sample.memory_used_bytes && sample.memory_total_bytes)
      add_part(out, fmt::format("{}/{} GiB", gib_text(*sample.memory_used_bytes),
                                gib_text(*sample.memory_total_bytes)));
    if (sample.power_w) {
      const std::string limit = known(gpu.link.power_limit_w, "");
      add_part(out, fmt::format("{:.0f}{}{} W", *sample.power_w, limit.empty() ? "" : "/", limit));
    }
    const std::uint64_t held = sample.throttle_reasons.value_or(0) & cuda::kHardThrottles;
    if (held != 0) add_part(out, cuda::throttle_text(held), Tint::kBad);
    if (sample.temperature_c) add_part(out, fmt::format("{} C", *sample.temperature_c));
    if (sample.clock_mhz) add_part(out, fmt::format("{} MHz", *sample.clock_mhz));
    if (is_wide_) {
      out.add("  " + card_name(gpu.name), Tint::kDim);
      if (gpu.link.pcie_rx_mb_per_s)
        out.add(fmt::format("  bus {:.0f} MB/s", *gpu.link.pcie_rx_mb_per_s));
    }
    curve(
        out,
        [which](const LiveFigures& figures) -> std::optional<double> {
          if (which >= figures.gpus.size()) return std::nullopt;
          return figures.gpus[which].now.utilization_percent;
        },
        100);
    put(out);
  }

  void cpu() {
    const CpuWindow& cpu = now_.machine.cpu;
    ScreenLine out = labelled("CPU");
    const double cores = now_.num_cores;
    bar_of(out, cpu.busy_cores ? std::optional(*cpu.busy_cores / cores) : std::nullopt);
    out.add(cpu.busy_cores ? fmt::format("{:.1f} of {} cores", *cpu.busy_cores, now_.num_cores)
                           : fmt::format("{} cores", now_.num_cores));
    if (now_.process && now_.process->cpu_cores)
      add_part(out, fmt::format("feed's process {:.1f}", *now_.process->cpu_cores));
    if (cpu.quota_cores) add_part(out, fmt::format("quota {:.1f}", *cpu.quota_cores));
    if (cpu.throttled_share.value_or(0) > kThrottledShare)
      add_part(out, "quota stops " + percent_text(cpu.throttled_share), Tint::kBad);
    if (cpu.pressure) add_part(out, "wait " + percent_text(cpu.pressure));
    curve(
        out, [](const LiveFigures& each) { return each.machine.cpu.busy_cores; }, cores);
    put(out);
  }

  void memory() {
    const MemoryWindow& memory = now_.machine.memory;
    ScreenLine out = labelled("Memory");
    bar_of(out, memory_share(memory));
    out.add(memory_text(memory));
    if (now_.process && now_.process->memory_bytes)
      add_part(out, fmt::format("feed's process {} GiB", gib_text(*now_.process->memory_bytes)));
    if (memory.swap_in_pages_per_s.value_or(0) > kSwapPagesPerS)
      add_part(out, "swapping", Tint::kBad);
    curve(
        out, [](const LiveFigures& each) { return memory_share(each.machine.memory); }, 1);
    put(out);
  }

  void disk() {
    const StorageWindow& disk = now_.machine.storage;
    ScreenLine out = labelled("Disk");
    bar_of(out, disk.device_busy_share);
    out.add(disk_name(disk));
    if (disk.device_read_bytes_per_s)
      add_part(out, "reads " + rate_text(disk.device_read_bytes_per_s));
    if (disk.device_read_ms) add_part(out, fmt::format("{:.1f} ms each", *disk.device_read_ms));
    if (now_.process && now_.process->read_bytes_per_s)
      add_part(out, "feed's process " + rate_text(now_.process->read_bytes_per_s));
    if (disk.pressure) add_part(out, "wait " + percent_text(disk.pressure));
    put(out);
  }

  void feed() {
    const LiveFeed& feed = now_.feed;
    ScreenLine out = labelled("Feed");
    const bool is_gone = feed.state == FeedState::kEnded || feed.state == FeedState::kKilled;
    out.add(feed.sentence, is_gone ? Tint::kWarn : Tint::kNone);
    if (feed.interval_ms > 0)
      out.add(fmt::format("  epoch {}, batch {}", feed.epoch, grouped(feed.batch)));
    put(out);
    if (feed.totals.batches == 0) return;
    rates();
    waiting();
    ready();
    is_tall_ ? stage_table() : stage_line();
    verdict();
    gaps();
  }

  void rates() {
    const LiveFeed& feed = now_.feed;
    ScreenLine out = labelled("Rate");
    out.add(count_text(feed.batches_per_s), Tint::kBold).add(" batches/s  ");
    out.add(fmt::format("{} clips/s  {} frames/s", count_text(feed.clips_per_s),
                        count_text(feed.frames_per_s)));
    constexpr double kLongS = 5;
    if (feed.since_batch_s.value_or(0) > std::max(kLongS, 5e-3 * feed.interval_ms))
      out.add("  last batch " + seconds_text(*feed.since_batch_s) + " ago", Tint::kWarn);
    double most = 0;
    for (const FiguresPtr& each : history_) most = std::max(most, each->feed.batches_per_s);
    curve(
        out, [](const LiveFigures& each) { return std::optional(each.feed.batches_per_s); }, most);
    put(out);
  }

  void waiting() {
    const LiveFeed& feed = now_.feed;
    ScreenLine out = labelled("Stall");
    out.add(percent_text(feed.stall_share) + " now", tint_of_stall(feed.stall_share));
    add_part(out, percent_text(feed.stall_share_total) + " since it began");
    add_part(out, fmt::format("step {} ms", count_text(feed.step_ms)));
    add_part(out, fmt::format("interval {} ms", count_text(feed.interval_ms)));
    add_part(out, fmt::format("CV {:.2f}", feed.interval_cv));
    curve(
        out, [](const LiveFigures& each) { return each.feed.stall_share; }, 1);
    put(out);
  }

  void ready() {
    const LiveFeed& feed = now_.feed;
    ScreenLine out = labelled("Ready");
    const double most = std::max(1U, feed.most_ready);
    out.bar(feed.num_ready / most, bar_columns_, feed.num_ready == 0 ? Tint::kBad : Tint::kGood);
    out.add(
        fmt::format("  {} of {}", counted(feed.num_ready, "batch", "batches"), feed.most_ready));
    out.add(feed.num_workers == 0
                ? std::string("  filled by the consumer")
                : fmt::format("  {} busy {}", counted(feed.num_workers, "worker", "workers"),
                              percent_text(feed.worker_busy_share)));
    add_part(out, "padding " + percent_text(feed.padding_share));
    put(out);
  }

  std::vector<std::size_t> stages_by_share() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < feed::kNumRecordStages; ++i)
      if (now_.feed.stage_shares[i] > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return now_.feed.stage_shares[a] > now_.feed.stage_shares[b];
    });
    return order;
  }

  void stage_line() {
    ScreenLine out = labelled("Stages");
    for (const std::size_t stage : stages_by_share()) {
      const std::string text =
          fmt::format("{} {}  ", feed::name_of(static_cast<feed::RecordStage>(stage)),
                      percent_text(now_.feed.stage_shares[stage]));
      if (columns_of(text) > out.room() + 2) break;
      out.add(text);
    }
    put(out);
  }

  void stage_table() {
    std::string_view label = "Stages";
    for (const std::size_t stage : stages_by_share()) {
      ScreenLine out = labelled(std::exchange(label, ""));
      const double share = now_.feed.stage_shares[stage];
      out.bar(share, bar_columns_).add(fmt::format("  {:>6}  ", percent_text(share)));
      out.add(feed::name_of(static_cast<feed::RecordStage>(stage)));
      put(out);
    }
  }

  // In as many rows as it takes.
  void verdict() {
    const std::string safe = safe_text(now_.feed.verdict_sentence, style_.shows_unicode);
    std::string_view label = "Verdict", rest = safe;
    while (!rest.empty()) {
      ScreenLine out = labelled(std::exchange(label, ""));
      std::size_t end = rest.size();
      while (end > 0 && end != rest.npos && columns_of(rest.substr(0, end)) > out.room())
        end = end > 1 ? rest.rfind(' ', end - 1) : 0;
      const bool is_whole = end > 0 && end != rest.npos;
      put(out.add(is_whole ? rest.substr(0, end) : rest, tint_of(now_.feed.verdict)));
      rest = is_whole ? rest.substr(end) : std::string_view();
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    }
  }

  void gaps() {
    std::string_view label = "Gaps";
    for (const LiveGap& gap : now_.feed.gaps) {
      if (rows_left() == 0) return;
      ScreenLine out = labelled(std::exchange(label, ""));
      out.add(fmt::format("{} ago  {}  {}{}", ago_text(gap.ago_s), seconds_text(gap.length_s),
                          gap.is_consumer ? "consumer: " : "", gap.stage));
      if (!gap.file.empty() && out.room() > 4)
        out.add("  ").add(last_columns(gap.file, out.room(), style_.shows_unicode));
      put(out);
    }
  }

  const ScreenStyle& style_;
  const std::string& note_;
  const std::deque<FiguresPtr>& history_;
  const LiveFigures& now_;
  const ScreenSize size_;
  const bool is_wide_, is_tall_;
  const std::size_t bar_columns_;
  std::vector<std::string> rows_;
};

void LiveScreen::add(FiguresPtr figures) {
  history_.push_back(std::move(figures));
  if (history_.size() > kMostHistory) history_.pop_front();
}

std::vector<std::string> LiveScreen::rows(const ScreenSize& size) const {
  if (history_.empty()) return {};
  return Drawing(*this, size).rows();
}

std::string live_line(const LiveFigures& figures) {
  const CpuWindow& cpu = figures.machine.cpu;
  std::string out = fmt::format("{}  cpu {}/{}  mem {}", clock_text(figures.unix_ns),
                                cpu.busy_cores ? fmt::format("{:.1f}", *cpu.busy_cores) : "-",
                                figures.num_cores, memory_text(figures.machine.memory));
  const StorageWindow& disk = figures.machine.storage;
  if (disk.device_read_bytes_per_s) out += "  disk " + rate_text(disk.device_read_bytes_per_s);
  for (const LiveGpu& gpu : figures.gpus) {
    out += fmt::format("  gpu{} {}", gpu.index, known(gpu.now.utilization_percent, " %"));
    if (gpu.now.memory_used_bytes) out += " " + gib_text(*gpu.now.memory_used_bytes) + " GiB";
    out += gpu.now.power_w ? fmt::format(" {:.0f} W", *gpu.now.power_w) : "";
  }
  const LiveFeed& feed = figures.feed;
  if (feed.totals.batches > 0)
    out += fmt::format("  feed {} batches/s {} clips/s stall {} ready {}/{}",
                       count_text(feed.batches_per_s), count_text(feed.clips_per_s),
                       percent_text(feed.stall_share), feed.num_ready, feed.most_ready);
  if (feed.state != FeedState::kRunning) out += fmt::format("  feed {}", name_of(feed.state));
  return out;
}

}  // namespace stoker::observe
