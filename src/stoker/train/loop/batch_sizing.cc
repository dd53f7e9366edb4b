#include "stoker/train/loop/batch_sizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/base/number_text.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr double kAim = 0.93;         // of what is allowed: what the fit does not see
constexpr double kGoodEnough = 0.87;  // of what is allowed: no further probe
constexpr double kShrink = 0.93;      // after a probe that did not fit
constexpr std::size_t kMostProbes = 32;
constexpr std::uint32_t kStep = 64;  // batch_frames are multiples of it
constexpr double kSettle = 0.96;     // of what is allowed: aim after steps that hold more
constexpr double kRetreat = 0.9;     // after steps that did not fit at all
constexpr std::size_t kNumTerms = 3;

using Terms = std::array<double, kNumTerms>;

Terms terms_of(const StepShape& shape) {
  return {1.0, static_cast<double>(shape.num_frames), alignment_cells(shape)};
}

// The normal equations of the chosen terms; the others are 0. Columns are scaled to 1 at most.
std::optional<Terms> solve(std::span<const ProbedStep> probes,
                           std::array<bool, kNumTerms> is_used) {
  Terms scale{};
  for (const ProbedStep& probe : probes) {
    const Terms terms = terms_of(probe.shape);
    for (std::size_t i = 0; i < kNumTerms; ++i) scale[i] = std::max(scale[i], terms[i]);
  }
  std::array<std::array<double, kNumTerms + 1>, kNumTerms> rows{};
  for (const ProbedStep& probe : probes) {
    const Terms terms = terms_of(probe.shape);
    for (std::size_t i = 0; i < kNumTerms; ++i) {
      for (std::size_t k = 0; k < kNumTerms; ++k)
        rows[i][k] += terms[i] / scale[i] * terms[k] / scale[k];
      rows[i][kNumTerms] += terms[i] / scale[i] * static_cast<double>(probe.bytes);
    }
  }
  for (std::size_t i = 0; i < kNumTerms; ++i) {
    if (is_used[i]) continue;
    rows[i] = {};
    for (auto& row : rows) row[i] = 0;
    rows[i][i] = 1;
  }
  for (std::size_t i = 0; i < kNumTerms; ++i) {
    if (rows[i][i] < 1e-9) return std::nullopt;
    for (std::size_t k = 0; k < kNumTerms; ++k) {
      if (k == i) continue;
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t column = i; column <= kNumTerms; ++column)
        rows[k][column] -= factor * rows[i][column];
    }
  }
  Terms found{};
  for (std::size_t i = 0; i < kNumTerms; ++i) {
    found[i] = rows[i][kNumTerms] / rows[i][i] / std::max(scale[i], 1e-300);
    if (found[i] < 0) return std::nullopt;
  }
  return found;
}

[[noreturn]] void refuse(std::uint32_t least_frames, std::uint64_t allowed_bytes) {
  raise({.code = &kTrainMemory,
         .promised = fmt::format("room for batches of {} frames, the longest utterance",
                                 grouped(least_frames)),
         .found = fmt::format("{:.1f} GiB", static_cast<double>(allowed_bytes) / (1ULL << 30U))});
}

class Search {
 public:
  explicit Search(const SizingRequest& request) : request_(request) {}

  BatchSizing run() {
    const std::uint32_t least = rounded_up(request_.least_frames);
    std::uint32_t frames = least;
    for (int i = 0; i < 3; ++i) {
      if (!probe_largest(frames)) break;
      if (frames >= request_.most_frames) break;
      frames = std::min(frames * 2, rounded_down(request_.most_frames));
    }
    if (!best_)
      refuse(request_.least_frames, request_.allowed_bytes(rounded_up(request_.least_frames)));
    while (num_probes_ < kMostProbes && !is_settled()) {
      const std::uint32_t next = next_size();
      if (next <= best_->batch_frames) break;
      probe_largest(next);
    }
    best_->num_probes = num_probes_;
    best_->is_bound_by_data = best_->batch_frames >= rounded_down(request_.most_frames);
    best_->is_bound_by_feed = !is_settled() && request_.allowed_bytes(a_little_more()) == 0;
    return *best_;
  }

 private:
  static std::uint32_t rounded_down(std::uint32_t frames) { return frames / kStep * kStep; }
  static std::uint32_t rounded_up(std::uint32_t frames) {
    return (frames + kStep - 1) / kStep * kStep;
  }

  std::uint32_t a_little_more() const { return best_->batch_frames + best_->batch_frames / 8; }

  bool is_settled() const {
    return static_cast<double>(best_->bytes) >=
               kGoodEnough * static_cast<double>(best_->allowed_bytes) ||
           best_->batch_frames >= rounded_down(request_.most_frames);
  }

  // Of most frames, of most cells, and the one that the fit takes for largest.
  std::vector<StepShape> largest_of(std::uint32_t batch_frames) const {
    const std::vector<StepShape> shapes = request_.shapes_of(batch_frames);
    if (shapes.empty()) return {};
    std::vector<StepShape> largest;
    std::vector<StepBytes> measures{{0, 1, 0}, {0, 0, 1}};
    if (!probes_.empty()) measures.push_back(fit_bytes(probes_));
    for (const StepBytes& by : measures) {
      const auto most = std::max_element(
          shapes.begin(), shapes.end(),
          [&](const StepShape& one, const StepShape& other) { return by.of(one) < by.of(other); });
      if (std::find(largest.begin(), largest.end(), *most) == largest.end())
        largest.push_back(*most);
    }
    return largest;
  }

  bool probe_largest(std::uint32_t batch_frames) {
    const std::uint64_t allowed_bytes = request_.allowed_bytes(batch_frames);
    const std::vector<StepShape> shapes = largest_of(batch_frames);
    std::uint64_t most = 0;
    bool fits = !shapes.empty() && allowed_bytes > 0;
    for (const StepShape& shape : shapes) {
      if (!fits) break;
      const std::optional<std::uint64_t> bytes = request_.probe(shape);
      ++num_probes_;
      if (bytes) probes_.push_back({shape, *bytes});
      fits = bytes && *bytes <= allowed_bytes;
      most = std::max(most, bytes.value_or(0));
    }
    if (!fits) {
      too_large_ = std::min(too_large_, batch_frames);
    } else if (!best_ || batch_frames > best_->batch_frames) {
      best_ =
          BatchSizing{.batch_frames = batch_frames, .bytes = most, .allowed_bytes = allowed_bytes};
    }
    return fits;
  }

  double predicted(std::uint32_t batch_frames, const StepBytes& fit) const {
    double most = 0;
    for (const StepShape& shape : request_.shapes_of(batch_frames))
      most = std::max(most, fit.of(shape));
    return most;
  }

  // The largest size below what failed whose shapes fit as far as the probes tell.
  std::uint32_t next_size() const {
    const StepBytes fit = fit_bytes(probes_);
    const auto seems_to_fit = [&](std::uint32_t batch_frames) {
      const auto allowed = static_cast<double>(request_.allowed_bytes(batch_frames));
      return allowed > 0 && predicted(batch_frames, fit) <= kAim * allowed;
    };
    std::uint32_t low = best_->batch_frames;
    std::uint32_t high = rounded_down(request_.most_frames);
    if (too_large_ <= high)
      high = rounded_down(static_cast<std::uint32_t>(static_cast<double>(too_large_) * kShrink));
    while (low + kStep < high) {
      const std::uint32_t middle = rounded_up(low + (high - low) / 2);
      if (middle >= high) break;
      (seems_to_fit(middle) ? low : high) = middle;
    }
    return seems_to_fit(high) ? high : low;
  }

  const SizingRequest& request_;
  std::vector<ProbedStep> probes_;
  std::size_t num_probes_ = 0;
  std::uint32_t too_large_ = 0xFFFFFFFFU;
  std::optional<BatchSizing> best_;
};

}  // namespace

double alignment_cells(const StepShape& shape) {
  return static_cast<double>(shape.num_rows) * static_cast<double>(kStatesPerToken) *
         static_cast<double>(shape.longest_tokens + 2) * static_cast<double>(shape.longest_frames);
}

double StepBytes::of(const StepShape& shape) const {
  return fixed + per_frame * static_cast<double>(shape.num_frames) +
         per_cell * alignment_cells(shape);
}

StepBytes fit_bytes(std::span<const ProbedStep> probes) {
  constexpr std::array<std::array<bool, kNumTerms>, 3> kTries{
      {{true, true, true}, {true, true, false}, {false, true, false}}};
  for (const auto& is_used : kTries) {
    const auto needed = static_cast<std::size_t>(std::count(is_used.begin(), is_used.end(), true));
    if (probes.size() < needed) continue;
    if (const std::optional<Terms> found = solve(probes, is_used))
      return {(*found)[0], (*found)[1], (*found)[2]};
  }
  const ProbedStep& last = probes.back();
  return {0, static_cast<double>(last.bytes) / static_cast<double>(last.shape.num_frames), 0};
}

BatchSizing choose_batch_frames(const SizingRequest& request) { return Search(request).run(); }

BatchSizing settle_batch_frames(BatchSizing sizing, std::uint32_t least_frames,
                                const MakeReady& make_ready) {
  for (;;) {
    const std::optional<std::uint64_t> bytes = make_ready(sizing.batch_frames);
    if (bytes) sizing.bytes = *bytes;
    if (bytes && *bytes <= sizing.allowed_bytes) return sizing;
    double share = kRetreat;
    if (bytes) {
      const auto allowed = static_cast<double>(sizing.allowed_bytes);
      share = std::clamp(kSettle * allowed / static_cast<double>(*bytes), 0.5, kSettle);
    }
    const auto fewer = static_cast<std::uint32_t>(share * sizing.batch_frames) / kStep * kStep;
    if (fewer < least_frames) refuse(least_frames, sizing.allowed_bytes);
    sizing.batch_frames = fewer;
    sizing.is_bound_by_data = sizing.is_bound_by_feed = false;
  }
}

std::string sizing_line(const BatchSizing& sizing) {
  constexpr double kGiB = 1ULL << 30U;
  const auto bytes = static_cast<double>(sizing.bytes);
  const auto allowed = static_cast<double>(sizing.allowed_bytes);
  std::string_view bound;
  if (sizing.is_bound_by_data) bound = "; more would leave too few batches an epoch";
  if (sizing.is_bound_by_feed)
    bound = "; more do not fit into data.buffer_memory or gpu.data_gpu_memory";
  return fmt::format("batches of {} frames: {:.1f} of {:.1f} GiB ({:.0f} %), found in {} probes{}",
                     grouped(sizing.batch_frames), bytes / kGiB, allowed / kGiB,
                     100 * bytes / allowed, sizing.num_probes, bound);
}

Json sizing_json(const BatchSizing& sizing) {
  return Json{
      {"batch_frames", sizing.batch_frames},      {"bytes", sizing.bytes},
      {"allowed_bytes", sizing.allowed_bytes},    {"probes", sizing.num_probes},
      {"bound_by_data", sizing.is_bound_by_data}, {"bound_by_feed", sizing.is_bound_by_feed}};
}

}  // namespace stoker::train
