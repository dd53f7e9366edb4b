// A feed in Python: opened from keyword arguments, iterated an epoch at a time, never blocking the
// interpreter.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include "background.h"
#include "held_batch.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/base/log.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/report/run_page.h"
#include "stoker/pipeline/errors.h"

namespace stoker::python {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{50};
constexpr double kSayHeldAfter_s = 5;

// One thread at a time may be inside, taking a batch or moving the place; others that want to are
// refused, close() waits for it. Members change only while the GIL is held.
class PythonFeed {
 public:
  PythonFeed(const std::string& config, const Keywords& keywords,
             const std::optional<std::string>& state);
  ~PythonFeed();

  // The next batch, or null at the end of the epoch. `timeout_s` 0: any time.
  std::shared_ptr<HeldBatch> next(double timeout_s);
  void close();
  bool is_closed() const { return opened_ == nullptr; }

  // Where the next loop begins: after a broken one at the next epoch, else where the feed is.
  std::uint64_t begin_loop();
  std::uint64_t loop() const { return loop_; }
  void set_epoch(std::uint64_t epoch);
  void restore(const std::string& state);

  // The feed, which lives as long as the result, even while another thread closes it.
  std::shared_ptr<feed::OpenedFeed> opened() const;
  feed::Feed& feed() { return opened()->feed; }
  bool is_forked() const { return ::getpid() != process_; }
  std::vector<HeldPlace> held() const { return held_->now(); }

 private:
  class Inside;
  std::optional<feed::Batch> await(feed::Feed& feed, double timeout_s);
  void say_bad_rows(const feed::Feed& feed);
  void say_held(double waited_s) const;

  std::shared_ptr<feed::OpenedFeed> opened_;
  std::shared_ptr<HeldList> held_ = std::make_shared<HeldList>();
  std::stop_source stop_;
  std::atomic<bool> is_inside_{false};
  std::uint64_t loop_ = 0;
  std::size_t num_bad_said_ = 0;
  bool is_restored_ = false;  // no batch was given since
  const int process_ = ::getpid();
};

class PythonFeed::Inside {
 public:
  explicit Inside(std::atomic<bool>& flag) : flag_(flag) {
    if (flag_.exchange(true))
      raise({.code = &feed::kFeedIteration,
             .promised = "one thread at a time",
             .found = "another one is waiting for a batch"});
  }
  ~Inside() { flag_.store(false); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::atomic<bool>& flag_;
};

PythonFeed::PythonFeed(const std::string& config, const Keywords& keywords,
                       const std::optional<std::string>& state) {
  const config::Settings settings = settings_of("Feed", config, keywords);
  Background opening(Listeners{.on_progress = nb::none()});
  opening.run([&] {
    const feed::OpenOptions options{.state = state, .stop = opening.stop_token()};
    opened_ = std::make_shared<feed::OpenedFeed>(feed::open_feed(settings, options));
    return Json();
  });
  const std::string rejects = feed::rejects_line(*opened_);
  if (!rejects.empty()) log(LogLevel::kWarning, rejects);
  is_restored_ = state.has_value();
}

PythonFeed::~PythonFeed() { close(); }

std::shared_ptr<feed::OpenedFeed> PythonFeed::opened() const {
  if (is_forked())
    raise({.code = &feed::kFeedFork, .found = "the feed runs in the parent of this process"});
  if (opened_ == nullptr) raise({.code = &feed::kFeedClosed, .found = "the feed is closed"});
  return opened_;
}

// In a process forked from the feed's own nothing can be ended: the threads are not there.
void PythonFeed::close() {
  std::shared_ptr<feed::OpenedFeed> ended = std::exchange(opened_, nullptr);
  if (ended == nullptr) return;
  if (is_forked()) {
    static_cast<void>(new std::shared_ptr<feed::OpenedFeed>(std::move(ended)));
    return;
  }
  stop_.request_stop();
  const GilReleased released;
  while (is_inside_.load()) ::usleep(200);
  ended.reset();
}

void PythonFeed::say_held(double waited_s) const {
  const std::string held = held_text(held_->now());
  if (held.empty()) return;
  log(LogLevel::kWarning,
      "no batch for " + seconds_text(waited_s) + "; " + held +
          ". A batch is held until it, and every tensor made from it, is gone.");
}

std::optional<feed::Batch> PythonFeed::await(feed::Feed& feed, double timeout_s) {
  const Stopwatch waited;
  bool is_late = false;
  bool is_interrupted = false;
  bool said = false;
  const WaitPause pause{kLookForSignals, [&] {
                          if (!said && waited.seconds() > kSayHeldAfter_s) {
                            said = true;
                            say_held(waited.seconds());
                          }
                          is_late = timeout_s > 0 && waited.seconds() >= timeout_s;
                          is_interrupted = !may_go_on();
                          return !is_late && !is_interrupted;
                        }};
  std::optional<feed::Batch> batch;
  {
    const GilReleased released(&is_inside_);
    batch = feed.next(stop_.get_token(), &pause);
  }
  if (is_interrupted) throw nb::python_error();
  if (stop_.stop_requested())
    raise({.code = &feed::kFeedClosed, .found = "the feed was closed while this thread waited"});
  if (is_late && !batch)
    raise({.code = &feed::kFeedTimeout,
           .promised = "a batch within " + seconds_text(timeout_s),
           .found = feed.debug_string()});
  return batch;
}

// Each once, in the words of the file's own error.
void PythonFeed::say_bad_rows(const feed::Feed& feed) {
  const std::vector<feed::BadRow> rows = feed.bad_rows();
  for (; num_bad_said_ < rows.size(); ++num_bad_said_)
    log(LogLevel::kWarning, error_line(rows[num_bad_said_].error));
}

std::shared_ptr<HeldBatch> PythonFeed::next(double timeout_s) {
  const std::shared_ptr<feed::OpenedFeed> own = opened();
  const Inside inside(is_inside_);
  CodeLine taken = current_line();
  std::optional<feed::Batch> batch;
  try {
    batch = await(own->feed, timeout_s);
  } catch (const Failure& failure) {
    // By name: the library and this module may each have a constant of their own.
    if (failure.error().code->name != pipeline::kPipeLeases.name) throw;
    Error error = failure.error();
    error.found += "; " + held_text(held_->now());
    raise(std::move(error));
  }
  is_restored_ = false;
  if (!batch) return nullptr;
  if (batch->counts().num_empty_bad > 0) say_bad_rows(own->feed);
  return std::make_shared<HeldBatch>(std::move(*batch), held_, std::move(taken));
}

std::uint64_t PythonFeed::begin_loop() {
  const std::shared_ptr<feed::OpenedFeed> own = opened();
  const Inside inside(is_inside_);
  const feed::FeedPosition at = own->feed.position();
  if (at.batch > 0 && !is_restored_) {
    without_gil([&] { own->feed.seek({at.epoch + 1, 0}); });
  }
  return ++loop_;
}

void PythonFeed::set_epoch(std::uint64_t epoch) {
  const std::shared_ptr<feed::OpenedFeed> own = opened();
  const Inside inside(is_inside_);
  const feed::FeedPosition at = own->feed.position();
  if (at.epoch == epoch && (at.batch == 0 || is_restored_)) return;
  without_gil([&] { own->feed.seek({epoch, 0}); });
  is_restored_ = false;
}

void PythonFeed::restore(const std::string& state) {
  const std::shared_ptr<feed::OpenedFeed> own = opened();
  const Inside inside(is_inside_);
  without_gil([&] { own->feed.restore(state); });
  is_restored_ = true;
  ++loop_;
}

// One loop over an epoch.
struct Epoch {
  std::shared_ptr<PythonFeed> feed;
  std::uint64_t loop = 0;
  double timeout_s = 0;
  bool has_ended = false;
};

PythonBatch next_batch(Epoch& self) {
  pass_on_log();
  if (self.has_ended) throw nb::stop_iteration();
  if (self.loop != self.feed->loop())
    raise({.code = &feed::kFeedIteration, .found = "a newer loop over this feed has begun"});
  std::shared_ptr<HeldBatch> held = self.feed->next(self.timeout_s);
  if (held == nullptr) {
    self.has_ended = true;
    throw nb::stop_iteration();
  }
  return {.held = std::move(held)};
}

Json stats_json(PythonFeed& self) {
  const feed::FeedStats stats = self.feed().stats();
  Json json{{"batches", stats.num_batches},
            {"clips", stats.num_clips},
            {"bad_rows", stats.num_empty_bad},
            {"frames", stats.true_frames},
            {"padding", stats.padding_share()},
            {"wait_s", stats.ring ? stats.ring->consumer_wait_s : stats.pipeline.consumer_wait_s},
            {"ready", stats.ring ? stats.ring->num_ready : stats.pipeline.num_ready},
            {"workers", self.feed().num_workers()},
            {"depth", self.feed().depth()},
            {"buffer_bytes", self.feed().buffer_bytes()}};
  Json stages = Json::object();
  for (const pipeline::StageTime& stage : stats.pipeline.stages)
    stages[std::string(stage.name)] = stage.busy_s;
  json["stages_s"] = std::move(stages);
  json["fallbacks"] = feed::fallbacks_json(stats.fallbacks);
  Json held = Json::array();
  for (const HeldPlace& each : self.held())
    held.push_back({{"epoch", each.epoch},
                    {"batch", each.index},
                    {"taken", each.taken.file + ":" + std::to_string(each.taken.line)}});
  json["held"] = std::move(held);
  return json;
}

feed::ConsumerWork work_from(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < feed::kNumConsumerWorks; ++i) {
    const auto work = static_cast<feed::ConsumerWork>(i);
    if (feed::name_of(work) == name) return work;
    known.append(i == 0 ? "" : ", ").append(feed::name_of(work));
  }
  throw nb::value_error(("expected one of " + known + ", found " + std::string(name)).c_str());
}

void bind_epoch(nb::module_& module) {
  nb::class_<Epoch>(module, "Epoch", "A loop over one epoch of a feed.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Epoch"))
      .def("__next__", &next_batch)
      .def("__length_hint__", [](Epoch& self) {
        feed::Feed& own = self.feed->feed();
        const std::uint64_t all = own.num_batches();
        return self.has_ended ? 0 : all - std::min(all, own.position().batch);
      });
}

// The verdict in a sentence, and the page; both empty where no records are kept.
std::pair<std::string, std::string> report_of(const feed::Feed& feed, const std::string& language) {
  const std::optional<feed::RecordReader> reader = feed.records();
  if (!reader) return {};
  std::vector<feed::BatchRecord> records;
  static_cast<void>(reader->read_since(0, records).take_or_raise());
  const std::uint64_t num_batches = reader->num_written().take_or_raise();
  observe::RunStory story = observe::story_of(observe::diagnose_records(std::move(records)));
  story.num_batches = num_batches;
  return {observe::story_sentence(story),
          observe::run_page(
              story, observe::language_from(language).value_or(observe::ReportLanguage::kEnglish))};
}

}  // namespace

void bind_feed(nb::module_& module) {
  bind_epoch(module);
  module.def(
      "num_cores", [] { return count_cpus().allowed; },
      "Cores that this process may use, by its affinity and its quota.");
  nb::class_<PythonFeed>(module, "Feed", nb::is_weak_referenceable())
      .def(nb::new_([](const std::string& config, const Keywords& keywords,
                       const std::optional<std::string>& state) {
             return std::make_shared<PythonFeed>(config, keywords, state);
           }),
           nb::arg("config"), nb::arg("keywords"), nb::arg("state") = nb::none())
      .def(
          "begin",
          [](const std::shared_ptr<PythonFeed>& self, double timeout_s) {
            return Epoch{.feed = self, .loop = self->begin_loop(), .timeout_s = timeout_s};
          },
          nb::arg("timeout_s"))
      .def("close", &PythonFeed::close)
      .def_prop_ro("is_closed", &PythonFeed::is_closed)
      .def_prop_ro("is_forked", &PythonFeed::is_forked)
      .def("set_epoch", &PythonFeed::set_epoch, nb::arg("epoch"))
      .def("state", [](PythonFeed& self) { return self.feed().state(); })
      .def("restore", &PythonFeed::restore, nb::arg("state"))
      .def(
          "note",
          [](PythonFeed& self, const std::string& work, double spent_s) {
            self.feed().note(work_from(work),
                             std::chrono::nanoseconds(static_cast<std::int64_t>(spent_s * 1e9)));
          },
          nb::arg("work"), nb::arg("spent_s"))
      .def_prop_ro("records",
                   [](PythonFeed& self) {
                     const std::optional<feed::RecordReader> records = self.feed().records();
                     return records ? records->path() : std::string();
                   })
      .def(
          "report",
          [](PythonFeed& self, const std::string& language) {
            const std::shared_ptr<feed::OpenedFeed> own = self.opened();
            return without_gil([&] { return report_of(own->feed, language); });
          },
          nb::arg("language"))
      .def("num_batches",
           [](PythonFeed& self) {
             const std::shared_ptr<feed::OpenedFeed> own = self.opened();
             return without_gil([&] { return own->feed.num_batches(); });
           })
      .def_prop_ro("position",
                   [](PythonFeed& self) {
                     const feed::FeedPosition at = self.feed().position();
                     return std::pair(at.epoch, at.batch);
                   })
      .def("stats", [](PythonFeed& self) { return stats_json(self).dump(); })
      .def_prop_ro("num_rows", [](PythonFeed& self) { return self.feed().order().rows().size(); })
      .def(
          "set_core_share",
          [](PythonFeed& self, unsigned num_cores) {
            const std::shared_ptr<feed::OpenedFeed> own = self.opened();
            without_gil([&] { own->feed.set_core_share(num_cores); });
          },
          nb::arg("num_cores"))
      .def(
          "shapes",
          [](PythonFeed& self) {
            nb::list all;
            for (const feed::BatchShape& shape : self.feed().shapes())
              all.append(nb::make_tuple(shape.num_rows, shape.num_frames, shape.num_tokens));
            return all;
          },
          nb::sig("def shapes(self) -> list[tuple[int, int, int]]"));
}

}  // namespace stoker::python
