// What to change, in words that can be typed, and what the model says it would bring.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/thresholds.h"

namespace stoker::observe {
namespace {

using feed::ConsumerWork;
using feed::RecordStage;

class Cures {
 public:
  Cures(const Evidence& evidence, const SupplyModel& model, const std::vector<NamedCause>& causes)
      : evidence_(evidence), setup_(evidence.setup), model_(model), causes_(causes) {}

  std::vector<Cure> find() {
    if (!causes_.empty()) {
      add_loaders();
      add_workers();
      add_buffer();
      add_transfer();
      add_machine();
      add_consumer();
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Cure& a, const Cure& b) {
      return a.predicted_gain > b.predicted_gain * (1 + kLeastSpread);
    });
    return std::move(found_);
  }

 private:
  bool has(Cause cause) const {
    return std::any_of(causes_.begin(), causes_.end(),
                       [cause](const NamedCause& each) { return each.cause == cause; });
  }
  // Something that a setting does: "data.num_workers" to "4".
  void add_setting(std::string change, std::string_view flags,
                   const std::vector<std::pair<std::string, std::string>>& values,
                   const Scenario& scenario) {
    Cure cure{.change = std::move(change), .flags = std::string(flags)};
    for (const auto& [path, value] : values) {
      cure.set.push_back(fmt::format("{}={}", path, value));
      const std::size_t dot = path.find('.');
      cure.yaml += fmt::format("{}{}: {{{}: {}}}", cure.yaml.empty() ? "" : ", ",
                               path.substr(0, dot), path.substr(dot + 1), value);
    }
    cure.command = fmt::format("stoker train --data {} {}", data(), flags);
    push(std::move(cure), scenario);
  }
  void push(Cure cure, const Scenario& scenario) {
    const Gain gain = model_.gain(scenario);
    if (gain.value < 1 + kLeastSpread) return;
    cure.predicted_gain = gain.value;
    cure.predicted_low = gain.low;
    cure.predicted_high = gain.high;
    found_.push_back(std::move(cure));
  }
  std::string data() const { return setup_.data.empty() ? "DIR" : setup_.data; }

  void add_loaders() {
    if (const SupplyRun* run = find_run(evidence_, RunKind::kNative); run != nullptr) {
      add_setting("the native loader instead of the naive one", "",
                  {{"data.use_native_loading", "true"}}, Scenario::with_native_loader(*run));
      if (!found_.empty()) {
        found_.back().flags = "leave out --disable-native-loading";
        found_.back().command = fmt::format("stoker train --data {}", data());
      }
    }
    if (setup_.is_cached || !setup_.can_precompute) return;
    Scenario cached;
    cached.is_cached = true;
    if (const SupplyRun* run = find_run(evidence_, RunKind::kNative); run != nullptr) {
      cached.num_workers = run->num_workers;
      cached.has_free_consumer = true;
    }
    // A cache can be no faster than a copy from memory, or than nothing read at all.
    const SupplyRun* run = find_run(evidence_, RunKind::kMemory);
    if (run == nullptr) run = find_run(evidence_, RunKind::kInstant);
    if (run != nullptr) {
      Scenario alone = cached;
      alone.is_unpaced = true;
      cached.supply_batches_per_s =
          std::min(run->batches_per_s, 1 / std::max(1e-9, model_.predict(alone).interval_s));
    }
    Cure cure{.change = "features from a cache instead of computing them again",
              .set = {"data.preprocessing_mode=precompute"},
              .needs_precompute = true,
              .flags = "--preprocessing-mode precompute",
              .yaml = "data: {preprocessing_mode: precompute}",
              .command = fmt::format("stoker precompute --data {}", data())};
    if (!setup_.is_native) cure.set.emplace_back("data.use_native_loading=true");
    push(std::move(cure), cached);
  }

  void add_workers() {
    if (!setup_.is_native) return;  // the naive loader has no workers
    const unsigned wanted = better_num_workers(setup_, model_);
    if (wanted == setup_.num_workers) return;
    Scenario other;
    other.num_workers = wanted;
    other.has_free_consumer = setup_.num_workers == 0;
    add_setting(fmt::format("num_workers {} → {}", setup_.num_workers, wanted),
                fmt::format("--num-workers {}", wanted),
                {{"data.num_workers", std::to_string(wanted)}}, other);
  }

  void add_buffer() {
    Scenario deeper;
    deeper.depth = better_depth(setup_);
    if (setup_.is_native && *deeper.depth > setup_.depth)
      add_setting(fmt::format("prefetch_buffer_size {} → {}", setup_.depth, *deeper.depth),
                  fmt::format("--prefetch-buffer-size {}", *deeper.depth),
                  {{"data.prefetch_buffer_size", std::to_string(*deeper.depth)}}, deeper);
    if (!has(Cause::kHoldsBatches)) return;
    Scenario one;
    one.num_held = 1;
    push({.change = "give each batch back before the next one is asked for"}, one);
  }

  void add_transfer() {
    if (has(Cause::kPageableCopies)) {
      constexpr double kPinned = 0.4;  // pinned copies take two fifths of pageable ones
      Scenario pinned;
      pinned.cpu_factor[static_cast<std::size_t>(RecordStage::kCopy)] = kPinned;
      add_setting("pinned host memory", "--set gpu.pin_memory=true", {{"gpu.pin_memory", "true"}},
                  pinned);
    }
    if (has(Cause::kMelContention)) {
      Scenario without;
      without.drop(RecordStage::kKernel);
      add_setting("mels not on the GPU that trains", "--set gpu.mel_place=cpu",
                  {{"gpu.mel_place", "cpu"}}, without);
    }
    if (has(Cause::kPadding) && !setup_.is_packed) {
      const double padded = padding_share(evidence_);
      Scenario packed;
      packed.step_factor = 1 - padded;
      add_setting("packed batches without padding (gain in frames per second)",
                  "--batch-layout packed", {{"data.batch_layout", "packed"}}, packed);
    }
  }

  // What no setting does.
  void add_machine() {
    Scenario changed;
    if (has(Cause::kBusyNeighbour)) {
      changed.cores = model_.cores().limit;
      push({.change = "end the other programs, or keep them off these cores (taskset)"}, changed);
    }
    if (has(Cause::kCpuQuota)) {
      changed.cores = model_.cores().affinity;
      push({.change = fmt::format("raise the CPU quota to {:.0f} cores", model_.cores().affinity)},
           changed);
    }
    if (has(Cause::kSlowFile)) {
      Scenario without;
      without.has_outliers = false;
      push({.change = "split, convert or leave out the slow file"}, without);
    }
    if (has(Cause::kRemoteStorage) || has(Cause::kStorageSlow) || has(Cause::kTinyFiles)) {
      Scenario local;
      local.blocked_factor[static_cast<std::size_t>(RecordStage::kFetch)] = 0;
      push({.change = "data or cache on storage that answers at once (local solid-state, memory)"},
           local);
    }
    if (has(Cause::kSerialStage)) {
      Scenario without;
      without.has_serial_part = false;
      push({.change = "take the lock out of the stage"}, without);
    }
  }

  void add_consumer() {
    struct Work {
      ConsumerWork work;
      Cause cause;
      const char* change;
    };
    for (const Work& each :
         {Work{ConsumerWork::kLogging, Cause::kLogging, "log ten times less often"},
          Work{ConsumerWork::kCheckpoint, Cause::kCheckpoint, "save ten times less often"},
          Work{ConsumerWork::kValidation, Cause::kValidation, "validate ten times less often"},
          Work{ConsumerWork::kSync, Cause::kHostSync, "read figures back ten times less often"},
          Work{ConsumerWork::kOther, Cause::kHostWork, "do this work ten times less often"}}) {
      if (!has(each.cause)) continue;
      Scenario rarer;
      rarer.work_factor[static_cast<std::size_t>(each.work)] = 0.1;
      push({.change = each.change}, rarer);
    }
  }

  const Evidence& evidence_;
  const SetupFacts& setup_;
  const SupplyModel& model_;
  const std::vector<NamedCause>& causes_;
  std::vector<Cure> found_;
};

}  // namespace

std::vector<Cure> find_cures(const Evidence& evidence, const SupplyModel& model,
                             const std::vector<NamedCause>& causes) {
  if (model.is_empty()) return {};
  return Cures(evidence, model, causes).find();
}

}  // namespace stoker::observe
