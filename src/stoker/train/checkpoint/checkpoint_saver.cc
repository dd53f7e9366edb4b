#include "stoker/train/checkpoint/checkpoint_saver.h"

#include <exception>
#include <new>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/errors.h"
#include "stoker/base/log.h"
#include "stoker/base/thread/sync.h"

namespace stoker::train {
namespace {

Error unexpected(const ErrorCode& code, const std::string& folder, std::string found) {
  return {.code = &code, .place = {.file = folder}, .found = std::move(found)};
}

Result<void> save_guarded(RunFolder& folder, const Checkpoint& checkpoint, const KeepRule& keep) {
  try {
    return folder.save(checkpoint, keep);
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::bad_alloc&) {
    return unexpected(kIoMemory, folder.path(), "not enough memory to save");
  } catch (const std::exception& fault) {
    return unexpected(kIoFailed, folder.path(), fault.what());
  }
}

}  // namespace

struct CheckpointSaver::State {
  State(RunFolder run, const KeepRule& rule)
      : folder(std::move(run)),
        keep(rule),
        thread("checkpoints", [this](const std::stop_token& stop) { work(stop); }) {}

  void work(const std::stop_token& stop) {
    while (std::optional<Checkpoint> checkpoint = take(stop)) {
      const std::uint64_t step = checkpoint->step;
      const Stopwatch watch;
      const Result<void> saved = save_guarded(folder, *checkpoint, keep);
      const double save_s = watch.seconds();
      // Its memory is free again before the next one is taken.
      checkpoint.reset();
      if (!saved)
        log(LogLevel::kWarning, "a checkpoint was not saved; the next one will be tried",
            {{"step", step}, {"error", error_line(saved.error())}});
      note(step, saved, save_s);
    }
  }

  // Nothing once stopped.
  std::optional<Checkpoint> take(const std::stop_token& stop) {
    Lock lock(mutex);
    while (!pending)
      if (changed.wait(lock, stop) == WaitEnd::kStopped) return std::nullopt;
    return std::exchange(pending, std::nullopt);
  }

  void note(std::uint64_t step, const Result<void>& saved, double save_s) {
    const Lock lock(mutex);
    stats.last_save_s = save_s;
    stats.last_error.reset();
    if (saved) {
      ++stats.num_saved;
      stats.last_step = step;
    } else {
      ++stats.num_failed;
      stats.last_error = saved.error();
    }
    is_busy = false;
    changed.notify_all();
  }

  void wait_until_idle(Lock& lock) STOKER_REQUIRES(mutex) {
    while (is_busy) changed.wait(lock, std::stop_token());
  }

  RunFolder folder;
  const KeepRule keep;
  mutable Mutex mutex;
  ConditionVariable changed;
  std::optional<Checkpoint> pending STOKER_GUARDED_BY(mutex);
  bool is_busy STOKER_GUARDED_BY(mutex) = false;  // from submit() to the end of its save
  SaverStats stats STOKER_GUARDED_BY(mutex);
  Thread thread;  // last: it uses the others
};

CheckpointSaver::CheckpointSaver(RunFolder folder, const KeepRule& keep)
    : state_(std::make_unique<State>(std::move(folder), keep)) {}

CheckpointSaver::~CheckpointSaver() { wait(); }

void CheckpointSaver::submit(Checkpoint checkpoint) {
  Lock lock(state_->mutex);
  state_->wait_until_idle(lock);
  state_->pending = std::move(checkpoint);
  state_->is_busy = true;
  state_->changed.notify_all();
}

void CheckpointSaver::wait() {
  Lock lock(state_->mutex);
  state_->wait_until_idle(lock);
}

SaverStats CheckpointSaver::stats() const {
  const Lock lock(state_->mutex);
  return state_->stats;
}

}  // namespace stoker::train
