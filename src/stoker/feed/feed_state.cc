#include "stoker/feed/feed_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;
constexpr std::array kKeys{"v",    "data", "order", "feature", "text",
                           "path", "seed", "epoch", "batch"};

[[noreturn]] void refuse(std::string promised, std::string found) {
  raise({.code = &kFeedState, .promised = std::move(promised), .found = std::move(found)});
}

std::uint64_t number_at(const json& state, const char* key) {
  if (!state.at(key).is_number_unsigned())
    refuse(fmt::format("{} is a whole number", key), "another value");
  return state.at(key).get<std::uint64_t>();
}

std::string digest_at(const json& state, const char* key) {
  const json& value = state.at(key);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (value.is_string()) {
    auto text = value.get<std::string>();
    if (text.size() == 16 && std::all_of(text.begin(), text.end(), is_hex)) return text;
  }
  refuse(fmt::format("{} is 16 hexadecimal digits", key), "another value");
}

json parse_object(std::string_view line) {
  if (line.size() > kMaxStateBytes) {
    refuse(fmt::format("at most {} bytes", kMaxStateBytes), fmt::format("{} bytes", line.size()));
  }
  json state = json::parse(line, nullptr, false);
  if (!state.is_object()) refuse("one JSON object", "something else");
  for (const char* key : kKeys) {
    if (!state.contains(key)) refuse(fmt::format("a key \"{}\"", key), "none");
  }
  if (state.size() != kKeys.size()) refuse("nine keys", fmt::format("{}", state.size()));
  return state;
}

}  // namespace

std::string state_line(const FeedState& state) {
  const FeedIdentity& who = state.identity;
  std::string line = fmt::format(
      R"({{"v":{},"data":"{}","order":"{}","feature":"{}","text":"{}","path":"{}","seed":{},"epoch":{},"batch":{}}})",
      kVersion, who.data, who.order, who.feature, who.text, who.path, who.seed,
      state.position.epoch, state.position.batch);
  check_invariant(line.size() <= kMaxStateBytes, "a state line fits its limit");
  return line;
}

FeedState parse_state(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  const json state = parse_object(line);
  const std::uint64_t version = number_at(state, "v");
  if (version != kVersion) {
    refuse(fmt::format("version {}", kVersion), fmt::format("version {}", version));
  }
  if (!state.at("path").is_string()) refuse("path is a text", "another value");
  return {{.data = digest_at(state, "data"),
           .order = digest_at(state, "order"),
           .feature = digest_at(state, "feature"),
           .text = digest_at(state, "text"),
           .path = state.at("path").get<std::string>(),
           .seed = number_at(state, "seed")},
          {.epoch = number_at(state, "epoch"), .batch = number_at(state, "batch")}};
}

void check_same(const FeedIdentity& saved, const FeedIdentity& now) {
  std::string promised, found;
  const auto compare = [&](const char* what, const std::string& had, const std::string& has) {
    if (had == has) return;
    promised +=
        fmt::format("{}{} {}", promised.empty() ? "the state was saved with " : ", ", what, had);
    found += fmt::format("{}{} {}", found.empty() ? "now " : ", ", what, has);
  };
  compare("data", saved.data, now.data);
  compare("order settings", saved.order, now.order);
  compare("feature settings", saved.feature, now.feature);
  compare("text settings", saved.text, now.text);
  compare("numeric path", saved.path, now.path);
  compare("seed", std::to_string(saved.seed), std::to_string(now.seed));
  if (!found.empty()) raise({.code = &kFeedChanged, .promised = promised, .found = found});
}

}  // namespace stoker::feed
