#include "stoker/base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <optional>

#include "stoker/base/number_text.h"
#include "stoker/base/thread/sync.h"
#include "stoker/base/utf8.h"

namespace stoker {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kQuietStart = std::chrono::seconds(2);
constexpr nanoseconds kTerminalEvery = std::chrono::milliseconds(100);
constexpr nanoseconds kPlainEvery = std::chrono::seconds(10);
// The rate follows a change within about this time.
constexpr double kRateMemorySeconds = 5.0;
constexpr std::size_t kMostBarColumns = 24;
constexpr std::size_t kFewestBarColumns = 6;

class NoProgress final : public Progress {
 public:
  void set_total(std::uint64_t) override {}
  void advance(std::uint64_t) override {}
  void reject(std::uint64_t) override {}
};

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string first_columns(std::string_view text, std::size_t num_columns) {
  std::string out;
  while (!text.empty() && num_columns-- > 0) {
    const Utf8Char next = decode_utf8(text);
    out += text.substr(0, next.size_bytes);
    text.remove_prefix(next.size_bytes);
  }
  return out;
}

std::string bar_text(double share, std::size_t num_columns, bool unicode) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(num_columns));
  std::string bar;
  for (std::size_t i = 0; i < num_columns; ++i)
    bar += unicode ? (i < filled ? "█" : "░") : (i < filled ? "#" : ".");
  return bar;
}

// What a line can say behind its bar. A line too narrow for all of it leaves parts out.
struct Figures {
  std::string percent;
  std::string counts;
  std::string unit;
  std::string rate;
  std::string left;
  std::string rejected;
};

enum class Detail { kAll, kNoRate, kNoUnit, kNoCounts, kNoRejects, kPercent };

std::string figures_text(const Figures& figures, Detail detail) {
  std::string text = figures.percent;
  const auto add = [&](const std::string& part, std::string_view before) {
    if (part.empty()) return;
    if (!text.empty()) text += before;
    text += part;
  };
  if (detail < Detail::kNoCounts) add(figures.counts, "  ");
  if (detail < Detail::kNoUnit) add(figures.unit, " ");
  if (detail < Detail::kNoRate) add(figures.rate, "  ");
  if (detail < Detail::kPercent) add(figures.left, "  ");
  if (detail < Detail::kNoRejects) add(figures.rejected, "  ");
  return text;
}

}  // namespace

struct ProgressBar::State {
  Options options;
  ProgressSurface& surface;
  const Clock& clock;
  nanoseconds start;
  nanoseconds every;
  std::atomic<std::uint64_t> num_total;
  std::atomic<std::uint64_t> num_done = 0;
  std::atomic<std::uint64_t> num_rejected = 0;
  std::atomic<std::int64_t> next_draw_ns;
  Mutex mutex;
  bool has_drawn STOKER_GUARDED_BY(mutex) = false;
  nanoseconds rated_at STOKER_GUARDED_BY(mutex);
  std::uint64_t rated_done STOKER_GUARDED_BY(mutex) = 0;
  std::optional<double> rate STOKER_GUARDED_BY(mutex);

  State(Options given, ProgressSurface& where, const Clock& by)
      : options(std::move(given)),
        surface(where),
        clock(by),
        start(by.now()),
        every(where.is_terminal() ? kTerminalEvery : kPlainEvery),
        num_total(options.num_total),
        next_draw_ns((start + (where.is_terminal() ? kQuietStart : kPlainEvery)).count()),
        rated_at(start) {}

  void update_rate(nanoseconds now, std::uint64_t done) STOKER_REQUIRES(mutex) {
    const double passed_s = std::chrono::duration<double>(now - rated_at).count();
    if (passed_s <= 0.0) return;
    const double recent = static_cast<double>(done - rated_done) / passed_s;
    const double weight = 1.0 - std::exp(-passed_s / kRateMemorySeconds);
    rate = rate ? *rate + weight * (recent - *rate) : recent;
    rated_at = now;
    rated_done = done;
  }

  Figures figures(std::uint64_t done) STOKER_REQUIRES(mutex) {
    const std::uint64_t total = num_total;
    const double per_second = rate.value_or(0.0);
    Figures out{.percent = {},
                .counts = grouped(done),
                .unit = options.unit,
                .rate = per_second_text(per_second) + "/s",
                .left = {},
                .rejected = {}};
    if (total > 0) {
      out.percent = fmt::format("{:3.0f} %", std::floor(100.0 * share_of(done)));
      out.counts += "/" + grouped(total);
    }
    if (total > done && per_second > 0.0)
      out.left = seconds_text(static_cast<double>(total - done) / per_second) + " left";
    if (const std::uint64_t rejected = num_rejected; rejected > 0)
      out.rejected = grouped(rejected) + " rejected";
    return out;
  }

  double share_of(std::uint64_t done) const {
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(num_total));
  }

  std::string plain_line(Figures figures) {
    if (figures.percent.empty())
      return fmt::format("{}  {}", options.task, figures_text(figures, Detail::kAll));
    const std::string percent = figures.percent.substr(figures.percent.find_first_not_of(' '));
    figures.percent.clear();
    return fmt::format("{}: {}, {}", options.task, percent, figures_text(figures, Detail::kAll));
  }

  // The fullest line that fits. Counts, unit and rate make room for a bar; what a narrow terminal
  // still shows without one is how far the work is and how long it takes.
  std::string terminal_line(std::uint64_t done, const Figures& figures, std::size_t room) {
    const bool has_share = !figures.percent.empty();
    for (Detail detail = Detail::kAll; detail <= Detail::kPercent;
         detail = static_cast<Detail>(static_cast<int>(detail) + 1)) {
      const std::string text = figures_text(figures, detail);
      const std::size_t used = columns_of(options.task) + 2 + columns_of(text);
      const bool wants_bar = has_share && detail < Detail::kNoCounts;
      if (used + (wants_bar ? kFewestBarColumns + 1 : 0) > room) continue;
      const std::size_t free = has_share ? std::min(kMostBarColumns + 1, room - used) : 0;
      const std::string bar =
          free > kFewestBarColumns
              ? bar_text(share_of(done), free - 1, surface.shows_unicode()) + " "
              : "";
      return fmt::format("{}  {}{}", options.task, bar, text);
    }
    return first_columns(fmt::format("{}  {}", options.task, figures.percent), room);
  }

  // A line for which there is no memory is not drawn; the work goes on.
  void draw(nanoseconds now) noexcept STOKER_REQUIRES(mutex) {
    try {
      draw_line(now);
    } catch (const std::exception&) {
      has_drawn = true;
    }
  }

  void draw_line(nanoseconds now) STOKER_REQUIRES(mutex) {
    const std::uint64_t done = num_done;
    update_rate(now, done);
    const Figures shown = figures(done);
    has_drawn = true;
    if (!surface.is_terminal()) return surface.write(plain_line(shown) + "\n");
    // The last column stays free: a terminal may wrap behind it.
    const std::size_t room = std::max<std::size_t>(surface.num_columns(), 2) - 1;
    surface.write("\r\x1b[K" + terminal_line(done, shown, room));
  }

  void finish() {
    const Lock lock(mutex);
    if (!has_drawn) return;
    draw(clock.now());
    if (surface.is_terminal()) surface.write("\n");
  }
};

Progress& no_progress() {
  static NoProgress nothing;
  return nothing;
}

ProgressBar::ProgressBar(Options options, ProgressSurface& surface, const Clock& clock)
    : state_(std::make_unique<State>(std::move(options), surface, clock)) {}

ProgressBar::~ProgressBar() { state_->finish(); }

void ProgressBar::set_total(std::uint64_t num_units) { state_->num_total = num_units; }

void ProgressBar::advance(std::uint64_t num_units) {
  state_->num_done += num_units;
  tick();
}

void ProgressBar::reject(std::uint64_t num_units) { state_->num_rejected += num_units; }

void ProgressBar::tick() {
  State& state = *state_;
  const nanoseconds now = state.clock.now();
  std::int64_t due = state.next_draw_ns;
  if (now.count() < due) return;
  // One thread wins the turn to draw; the others go on working.
  if (!state.next_draw_ns.compare_exchange_strong(due, (now + state.every).count())) return;
  const Lock lock(state.mutex);
  state.draw(now);
}

}  // namespace stoker
