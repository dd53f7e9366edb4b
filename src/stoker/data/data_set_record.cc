#include "stoker/data/data_set_record.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

constexpr std::uint64_t kMaxRecordBytes = 65536;

struct Member {
  const char* key;
  std::string DataSetRecord::*text;
};
constexpr std::array<Member, 2> kMembers{
    {{"language", &DataSetRecord::language},
     {"speaker_id_pattern", &DataSetRecord::speaker_id_pattern}}};

Error wrong_record(const File& file, std::string found) {
  return {.code = &kDataRecord,
          .place = {.file = file.path()},
          .promised = "one JSON object with language and speaker_id_pattern, both texts",
          .found = std::move(found)};
}

}  // namespace

Result<DataSetRecord> load_record(const File& folder) {
  auto file = open_beneath(folder, std::string(kRecordName), OpenFor::kRead);
  if (!file.ok()) {
    if (file.error().code == &kIoMissing) return DataSetRecord();
    return std::move(file).error();
  }
  auto bytes = read_whole(*file, kMaxRecordBytes);
  if (!bytes.ok()) return std::move(bytes).error();
  const nlohmann::json object = nlohmann::json::parse(view_text(*bytes), nullptr, false);
  if (!object.is_object())
    return wrong_record(*file,
                        object.is_discarded() ? "text that is not JSON" : object.type_name());
  DataSetRecord record;
  for (const auto& [key, value] : object.items()) {
    const Member* known = nullptr;
    for (const Member& member : kMembers)
      if (key == member.key) known = &member;
    if (known == nullptr)
      return wrong_record(*file, fmt::format("the key \"{}\"", escape_control(key)));
    if (!value.is_string())
      return wrong_record(*file, fmt::format("{} for \"{}\"", value.type_name(), key));
    record.*known->text = value.get<std::string>();
  }
  return record;
}

std::string record_text(const DataSetRecord& record) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Member& member : kMembers)
    if (!(record.*member.text).empty()) object[member.key] = record.*member.text;
  return object.dump() + "\n";
}

}  // namespace stoker::data
