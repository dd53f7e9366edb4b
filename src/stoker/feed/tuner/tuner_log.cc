#include "stoker/feed/tuner/tuner_log.h"

#include <nlohmann/json.hpp>

#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

using nlohmann::ordered_json;

ordered_json knobs_json(const TunerKnobs& knobs) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < kTunerKnobNames.size(); ++i)
    out[std::string(kTunerKnobNames[i])] = knobs.values[i];
  return out;
}

TunerKnobs knobs_from(const ordered_json& json) {
  TunerKnobs knobs;
  for (std::size_t i = 0; i < kTunerKnobNames.size(); ++i)
    knobs.values[i] = json.value(std::string(kTunerKnobNames[i]), 0U);
  return knobs;
}

ordered_json entry_json(const TunerEntry& entry) {
  ordered_json out{{"seconds", entry.sample.seconds},
                   {"batches", entry.sample.num_batches},
                   {"stall_share", entry.sample.stall_share},
                   {"cpu_share", entry.sample.cpu_share},
                   {"buffer_stall_share", entry.sample.buffer_stall_share},
                   {"slack_share", entry.sample.slack_share}};
  if (!entry.move) return out;
  out["move"] = {{"knob", kTunerKnobNames[static_cast<std::size_t>(entry.move->knob)]},
                 {"from", entry.move->from},
                 {"to", entry.move->to},
                 {"reason", entry.move->reason}};
  return out;
}

TunerKnob knob_from(const std::string& name) {
  for (std::size_t i = 0; i < kTunerKnobNames.size(); ++i)
    if (kTunerKnobNames[i] == name) return static_cast<TunerKnob>(i);
  raise({.code = &kFeedTunerLog, .promised = "a knob of the tuner", .found = name});
}

TunerEntry entry_from(const ordered_json& json) {
  TunerEntry entry{{.seconds = json.at("seconds").get<double>(),
                    .num_batches = json.at("batches").get<std::uint64_t>(),
                    .stall_share = json.at("stall_share").get<double>(),
                    .cpu_share = json.at("cpu_share").get<double>(),
                    .buffer_stall_share = json.value("buffer_stall_share", 0.0),
                    .slack_share = json.value("slack_share", 0.0)},
                   {}};
  if (const auto move = json.find("move"); move != json.end()) {
    entry.move =
        TunerMove{knob_from(move->at("knob").get<std::string>()), move->at("from").get<unsigned>(),
                  move->at("to").get<unsigned>(), move->at("reason").get<std::string>()};
  }
  return entry;
}

void parse_line(std::string_view line, std::size_t number, TunerLog& log) {
  try {
    const ordered_json json = ordered_json::parse(line);
    if (number > 1) {
      log.entries.push_back(entry_from(json));
      return;
    }
    log.start = knobs_from(json.at("start"));
    log.limits = {knobs_from(json.at("most")),
                  json.at("most_idle_workers").get<unsigned>(),
                  {},
                  json.value("least_buffer", 0U)};
    if (const auto buffer = json.find("buffer"); buffer != json.end())
      log.limits.buffer = knob_from(buffer->get<std::string>());
  } catch (const ordered_json::exception& exception) {
    raise({.code = &kFeedTunerLog,
           .place = {.line = number},
           .promised = "a line that the tuner wrote",
           .found = exception.what()});
  }
}

bool is_same(const std::optional<TunerMove>& a, const std::optional<TunerMove>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->knob == b->knob && a->from == b->from && a->to == b->to);
}

}  // namespace

std::string TunerLog::text() const {
  ordered_json head{{"start", knobs_json(start)},
                    {"most", knobs_json(limits.most)},
                    {"most_idle_workers", limits.most_idle_workers}};
  if (limits.buffer) {
    head["buffer"] = kTunerKnobNames[static_cast<std::size_t>(*limits.buffer)];
    head["least_buffer"] = limits.least_buffer;
  }
  std::string lines = head.dump() + "\n";
  for (const TunerEntry& entry : entries) lines += entry_json(entry).dump() + "\n";
  return lines;
}

TunerLog TunerLog::parse(std::string_view text) {
  TunerLog log;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) parse_line(text.substr(0, end), ++number, log);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (number == 0)
    raise({.code = &kFeedTunerLog, .promised = "lines of a tuner", .found = "nothing"});
  return log;
}

TunerReplay replay_tuner(const TunerLog& log) {
  TunerPolicy policy(log.start, log.limits);
  TunerReplay replay;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    std::optional<TunerMove> move = policy.decide(log.entries[i].sample);
    if (!is_same(move, log.entries[i].move) && !replay.first_difference)
      replay.first_difference = i;
    if (move) replay.moves.push_back(std::move(*move));
  }
  replay.knobs = policy.knobs();
  return replay;
}

}  // namespace stoker::feed
