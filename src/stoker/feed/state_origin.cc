#include "stoker/feed/state_origin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/config/field_table.h"
#include "stoker/config/settings_text.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {
namespace {

constexpr std::string_view kHead = R"({"v":"1-)";
constexpr std::size_t kSumDigits = 8;
constexpr std::size_t kMarkDigits = 8;
constexpr std::size_t kMostNamedSettings = 4;
constexpr std::size_t kMostNamedIds = 3;
constexpr std::string_view kPreset = "features.preset";
constexpr std::string_view kDataFolder = "data set";  // its real path: spellings do not matter

using Settings = std::vector<OriginSetting>;

// Settings that decide which rows are utterances; the state's digest covers the result alone.
void add_row_settings(const config::Settings& settings, Settings& out) {
  out.push_back({"data", std::string(kDataFolder), real_path(settings.data.path).string()});
  for (const config::FieldInfo& field : config::all_fields()) {
    const bool selects_rows =
        field.title == config::DataSettings::kTitle || field.title == config::RowSettings::kTitle;
    const bool is_bound = field.path == "data.bad_inputs" || field.path.starts_with("data.max_bad");
    if (selects_rows && !is_bound && field.path != "data.path")
      out.push_back({"data", field.path, field.json(settings)});
  }
}

void add_order_settings(const config::Settings& settings, const DataSetSource& source,
                        Settings& out) {
  for (auto& [name, value] : config::group_values(settings, config::Affects::kOrder))
    out.push_back({"order", name, value});
  if (const config::FieldInfo* field = config::find_field("data.max_text_tokens"))
    out.push_back({"order", field->path, field->json(settings)});
  if (source.index().sources().size() > 1)
    for (const data::Source& each : source.index().sources())
      out.push_back({"order", "weight of " + each.name, fmt::format("{}", each.weight)});
  if (source.augmentation() != nullptr)
    out.push_back({"order", "recordings of augment.noise_dir",
                   source.augmentation()->noise_digest().short_hex()});
}

std::string phones_mark(const DataSetSource& source) {
  DigestStream stream;
  for (std::uint32_t utterance = 0; utterance < source.index().size(); ++utterance) {
    const std::string* const phones = source.spec().phonemes()->find(source.id(utterance));
    stream.add_text(phones == nullptr ? std::string_view() : std::string_view(*phones));
  }
  return stream.finish().short_hex();
}

// The preset first: it explains the recipe's values that follow it.
void add_feature_settings(const config::Settings& settings, const DataSetSource& source,
                          Settings& out) {
  const data::FeatureIdentity& identity = source.spec().identity();
  if (const config::FieldInfo* field = config::find_field(kPreset))
    out.push_back({"feature", field->path, field->json(settings)});
  for (const auto& [name, value] : identity.feature_values) out.push_back({"feature", name, value});
  for (const auto& [name, value] : identity.text_values) out.push_back({"text", name, value});
  if (source.spec().phonemes() != nullptr)
    out.push_back({"text", "pronunciations", phones_mark(source)});
}

UtteranceMark mark_of(const data::Index& index, const data::Utterance& row) {
  DigestStream stream;
  stream.add_text(row.text);
  stream.add_text(index.speakers()[row.speaker]);
  stream.add_text(index.languages()[row.language]);
  stream.add_number(row.num_samples);
  stream.add_number(row.rate_hz);
  if (row.is_segment) stream.add_number(row.first_sample);
  return {std::string(row.id), stream.finish().hex().substr(0, kMarkDigits)};
}

std::string sum_text(std::string_view covered) {
  return fmt::format("{:08x}", crc32c(view_bytes(covered)));
}

FeedIdentity identity_from(const Json& head) {
  FeedIdentity identity{.data = head.at("data").text(),
                        .order = head.at("order").text(),
                        .feature = head.at("feature").text(),
                        .text = head.at("text").text(),
                        .path = head.at("path").text()};
  identity.seed = std::stoull(head.at("seed").text());
  return identity;
}

StateOrigin origin_from(std::string_view lines) {
  StateOrigin origin;
  std::size_t end = lines.find('\n');
  const auto parse = [](std::string_view line) {
    const std::optional<Json> json = Json::parse(line);
    if (!json) throw std::out_of_range("a line of JSON");
    return *json;
  };
  const Json head = parse(lines.substr(0, end));
  origin.identity = identity_from(head);
  origin.num_utterances = static_cast<std::uint64_t>(head.at("utterances").number());
  for (const Json& each : head.at("settings").elements())
    origin.settings.push_back(
        {each.elements().at(0).text(), each.elements().at(1).text(), each.elements().at(2).text()});
  while (end + 1 < lines.size()) {
    lines.remove_prefix(end + 1);
    end = std::min(lines.find('\n'), lines.size());
    const Json line = parse(lines.substr(0, end));
    origin.utterances.push_back({line.elements().at(0).text(), line.elements().at(1).text()});
  }
  return origin;
}

// Text without its quotation marks; none as the settings pages write it.
std::string shown(const std::string& value) {
  if (value == "null") return "none";
  const bool is_text = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return is_text && value.size() > 2 ? value.substr(1, value.size() - 2) : value;
}

// What changed, gathered as the words of the refusal.
class Changes {
 public:
  Changes(const FeedIdentity& saved, const FeedIdentity& now, const StateOrigin& kept)
      : saved_(saved), now_(now), kept_(kept) {}

  void compare_with(const StateOrigin& present) {
    compare_group("order", &FeedIdentity::order, present);
    compare_group("feature", &FeedIdentity::feature, present);
    compare_group("text", &FeedIdentity::text, present);
    compare_data(present);
    if (saved_.path != now_.path) add_plain("numeric path", saved_.path, now_.path);
    if (saved_.seed != now_.seed)
      add_setting({"", "seed", std::to_string(saved_.seed)}, std::to_string(now_.seed));
  }

  std::string found() const {
    std::vector<std::string> parts(named_.begin(), named_.end());
    if (num_unnamed_ > 0) parts.push_back(fmt::format("{} more settings", num_unnamed_));
    parts.insert(parts.end(), others_.begin(), others_.end());
    return fmt::format("since the state was saved: {}", fmt::join(parts, ", "));
  }

  // Settings alone can be given back by options; a changed data set cannot.
  std::string cure() const {
    if (!is_settable_ || set_back_.empty()) return {};
    return fmt::format("{} goes on from the state; or start without it", fmt::join(set_back_, " "));
  }

 private:
  void add_plain(std::string_view what, std::string_view had, std::string_view has) {
    others_.push_back(fmt::format("{} {} → {}", what, had, has));
    is_settable_ = false;
  }

  void add_setting(const OriginSetting& had, const std::string& has) {
    if (named_.size() < kMostNamedSettings)
      named_.push_back(fmt::format("{} {} → {}", had.name, shown(had.value), shown(has)));
    else
      ++num_unnamed_;
    // Values of a recipe follow from the preset, where that differs.
    if (had.name.starts_with("mel.") && !set_back_.empty()) return;
    const bool is_field = config::find_field(had.name) != nullptr;
    is_settable_ = is_settable_ && is_field;
    const bool is_plain = shown(had.value).find_first_of("\"[]{} ") == std::string::npos;
    if (is_field)
      set_back_.push_back(is_plain ? fmt::format("--set {}={}", had.name, shown(had.value))
                                   : fmt::format("--set '{}={}'", had.name, shown(had.value)));
  }

  // How many settings of the group differ; each is named.
  std::size_t compare_settings(std::string_view group, const StateOrigin& present) {
    std::map<std::string, std::string> values;
    for (const OriginSetting& each : present.settings)
      if (each.group == group) values[each.name] = each.value;
    std::size_t num_changed = 0;
    for (const OriginSetting& each : kept_.settings) {
      if (each.group != group) continue;
      const auto at = values.find(each.name);
      const std::string has = at == values.end() ? "absent" : at->second;
      if (has == each.value) continue;
      add_setting(each, has);
      ++num_changed;
    }
    return num_changed;
  }

  void compare_group(const char* group, std::string FeedIdentity::*digest,
                     const StateOrigin& present) {
    if (saved_.*digest == now_.*digest) return;
    const bool is_known = kept_.identity.*digest == saved_.*digest;
    if (is_known && compare_settings(group, present) > 0) return;
    add_plain(fmt::format("{} settings", group), saved_.*digest, now_.*digest);
  }

  void compare_data(const StateOrigin& present) {
    if (saved_.data == now_.data) return;
    if (kept_.identity.data != saved_.data) return add_plain("data", saved_.data, now_.data);
    const std::size_t num_changed = compare_settings("data", present);
    const std::string utterances = utterances_text(present);
    others_.push_back(utterances);
    is_settable_ = is_settable_ && num_changed > 0;
  }

  static void add_ids(const char* what, const std::vector<std::string_view>& ids,
                      std::vector<std::string>& parts) {
    if (ids.empty()) return;
    const auto first = ids.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(std::min(ids.size(), kMostNamedIds));
    parts.push_back(fmt::format("{} {} ({}{})", grouped(ids.size()), what,
                                fmt::join(first, end, ", "),
                                ids.size() > kMostNamedIds ? ", …" : ""));
  }

  std::string utterances_text(const StateOrigin& present) const {
    const bool has_marks = kept_.utterances.size() == kept_.num_utterances &&
                           present.utterances.size() == present.num_utterances;
    if (!has_marks)
      return fmt::format("utterances {} → {}, not compared one by one",
                         grouped(kept_.num_utterances), grouped(present.num_utterances));
    std::map<std::string_view, std::string_view> had;
    for (const UtteranceMark& each : kept_.utterances) had[each.id] = each.digits;
    std::vector<std::string_view> added, changed, removed;
    for (const UtteranceMark& each : present.utterances) {
      const auto at = had.find(each.id);
      if (at == had.end()) {
        added.push_back(each.id);
        continue;
      }
      if (at->second != each.digits) changed.push_back(each.id);
      had.erase(at);
    }
    for (const auto& [id, unused] : had) removed.push_back(id);
    std::vector<std::string> parts;
    add_ids("added", added, parts);
    add_ids("removed", removed, parts);
    add_ids("changed", changed, parts);
    if (parts.empty()) return "the utterances are in another order";
    return fmt::format("utterances: {}", fmt::join(parts, ", "));
  }

  const FeedIdentity& saved_;
  const FeedIdentity& now_;
  const StateOrigin& kept_;
  std::vector<std::string> named_;  // settings with both values
  std::size_t num_unnamed_ = 0;
  std::vector<std::string> others_;
  std::vector<std::string> set_back_;  // options
  bool is_settable_ = true;
};

}  // namespace

StateOrigin describe_origin(const config::Settings& settings, const DataSetSource& source) {
  StateOrigin origin;
  add_row_settings(settings, origin.settings);
  add_order_settings(settings, source, origin.settings);
  add_feature_settings(settings, source, origin.settings);
  const data::Index& index = source.index();
  origin.num_utterances = index.size();
  if (index.size() > kMostMarks) return origin;
  origin.utterances.reserve(index.size());
  for (std::size_t i = 0; i < index.size(); ++i)
    origin.utterances.push_back(mark_of(index, index[i]));
  return origin;
}

std::string encode_origin(const StateOrigin& origin) {
  const FeedIdentity& who = origin.identity;
  Json settings = Json::array();
  for (const OriginSetting& each : origin.settings)
    settings.push_back(Json::array({each.group, each.name, each.value}));
  std::string rest = fmt::format(
      R"(","data":"{}","order":"{}","feature":"{}","text":"{}","path":"{}","seed":"{}",)"
      R"("utterances":{},"settings":{}}})"
      "\n",
      who.data, who.order, who.feature, who.text, who.path, who.seed, origin.num_utterances,
      settings.dump());
  for (const UtteranceMark& each : origin.utterances)
    rest += Json::array({each.id, each.digits}).dump() + "\n";
  return fmt::format("{}{}{}", kHead, sum_text(rest), rest);
}

std::optional<StateOrigin> decode_origin(std::string_view text) {
  const std::size_t head_bytes = kHead.size() + kSumDigits;
  if (!text.starts_with(kHead) || text.size() <= head_bytes) return std::nullopt;
  if (text.substr(kHead.size(), kSumDigits) != sum_text(text.substr(head_bytes)))
    return std::nullopt;
  try {
    return origin_from(text);
  } catch (const std::logic_error&) {
    return std::nullopt;  // whole by its checksum, but of another form
  }
}

void check_same(const FeedIdentity& saved, const FeedIdentity& now, const OriginPair& origins) {
  if (saved == now) return;
  const std::optional<StateOrigin> kept = decode_origin(origins.kept);
  if (!kept || !origins.describe_now) return check_same(saved, now);
  Changes changes(saved, now, *kept);
  changes.compare_with(origins.describe_now());
  raise({.code = &kFeedChanged, .found = changes.found(), .cure = changes.cure()});
}

}  // namespace stoker::feed
