#include "stoker/train/checkpoint/tensor_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"
#include "stoker/base/json.h"
#include "stoker/base/utf8.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kMaxAxes = 16;

struct TypeRow {
  TensorType type;
  std::string_view name;
  std::size_t size_bytes;
};
constexpr std::array kTypes{
    TypeRow{TensorType::kF32, "F32", 4},   TypeRow{TensorType::kF16, "F16", 2},
    TypeRow{TensorType::kBf16, "BF16", 2}, TypeRow{TensorType::kF64, "F64", 8},
    TypeRow{TensorType::kI32, "I32", 4},   TypeRow{TensorType::kI64, "I64", 8},
    TypeRow{TensorType::kU8, "U8", 1}};

const TypeRow& row_of(TensorType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<std::uint64_t> checked_payload(const StoredTensor& tensor) {
  std::optional<std::uint64_t> size_bytes = bytes_of(tensor.type);
  for (const std::int64_t length : tensor.shape) {
    if (length < 0 || !size_bytes) return std::nullopt;
    size_bytes = checked_multiply(*size_bytes, static_cast<std::uint64_t>(length));
  }
  return size_bytes;
}

std::string quoted(const std::string& text) { return Json(text).dump(); }

// Knows this one shape of JSON, so that depth and memory are bounded by the grammar and every
// refusal has its byte.
class HeaderParser {
 public:
  HeaderParser(std::string_view json, std::uint64_t data_bytes, const std::string& file)
      : json_(json), data_bytes_(data_bytes), file_(file) {}

  Result<TensorSet> parse() {
    if (!header()) return std::move(error_);
    return std::move(set_);
  }

 private:
  bool header();
  bool entry(std::string name);
  bool metadata();
  bool tensor(StoredTensor& tensor);
  bool fits(const StoredTensor& tensor, const std::vector<std::uint64_t>& offsets);
  bool type(TensorType& out);
  bool shape(std::vector<std::int64_t>& out);
  bool numbers(std::vector<std::uint64_t>& out, std::size_t most);
  bool number(std::uint64_t& out);
  bool text(std::string& out);
  bool escape(std::string& out);
  bool code_unit(std::uint32_t& out);
  bool code_point(std::string& out);
  template <class Member>
  bool object(Member member);

  void skip_spaces() {
    while (at_ < json_.size() && std::string_view(" \t\r\n").find(json_[at_]) != std::string::npos)
      ++at_;
  }
  bool skip(char wanted) {
    skip_spaces();
    if (at_ >= json_.size() || json_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool take(char wanted) { return skip(wanted) || fail(fmt::format("'{}'", wanted)); }
  bool fail(std::string promised) {
    constexpr std::size_t kShownBytes = 24;
    const std::string_view rest = json_.substr(std::min(at_, json_.size()));
    return fail(std::move(promised), rest.empty()
                                         ? "the end of the header"
                                         : fmt::format("'{}'", rest.substr(0, kShownBytes)));
  }
  bool fail(std::string promised, std::string found) {
    error_ = {.code = &kCheckpointBad,
              .place = {.file = file_, .byte = kLengthBytes + at_},
              .promised = std::move(promised),
              .found = std::move(found)};
    return false;
  }

  std::string_view json_;
  std::uint64_t data_bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::uint64_t end_bytes_ = 0;  // of the tensors so far
  std::set<std::string, std::less<>> names_;
  TensorSet set_;
  Error error_;
};

template <class Member>
bool HeaderParser::object(Member member) {
  if (!take('{')) return false;
  if (skip('}')) return true;
  do {
    std::string key;
    if (!text(key) || !take(':') || !member(std::move(key))) return false;
  } while (skip(','));
  return take('}');
}

bool HeaderParser::header() {
  at_ = find_invalid_utf8(json_);
  if (at_ < json_.size()) return fail("UTF-8");
  at_ = 0;
  if (!json_.starts_with('{')) return fail("'{'");
  if (!object([this](std::string name) { return entry(std::move(name)); })) return false;
  at_ = std::min(json_.find_first_not_of(' ', at_), json_.size());
  if (at_ < json_.size()) return fail("spaces up to the values");
  if (end_bytes_ == data_bytes_) return true;
  return fail(fmt::format("{} bytes of values", end_bytes_), fmt::format("{} bytes", data_bytes_));
}

bool HeaderParser::entry(std::string name) {
  if (!names_.insert(name).second) return fail("each name once", quoted(name) + " again");
  if (name == kMetadata) return metadata();
  StoredTensor& added = set_.tensors.emplace_back();
  added.name = std::move(name);
  return tensor(added);
}

bool HeaderParser::metadata() {
  return object([this](const std::string& key) {
    skip_spaces();
    const auto [member, is_new] = set_.metadata.emplace(key, std::string());
    if (!is_new) return fail("each name once", quoted(key) + " again");
    return text(member->second);
  });
}

bool HeaderParser::tensor(StoredTensor& tensor) {
  bool has_type = false;
  bool has_shape = false;
  std::vector<std::uint64_t> offsets;
  const bool read = object([&](const std::string& key) {
    if (key == "dtype" && !std::exchange(has_type, true)) return type(tensor.type);
    if (key == "shape" && !std::exchange(has_shape, true)) return shape(tensor.shape);
    if (key == "data_offsets" && offsets.empty()) return numbers(offsets, 2);
    return fail("dtype, shape and data_offsets, each once", quoted(key));
  });
  if (!read) return false;
  if (!has_type || !has_shape || offsets.size() != 2)
    return fail("dtype, shape and two data_offsets", "less, for " + quoted(tensor.name));
  return fits(tensor, offsets);
}

bool HeaderParser::fits(const StoredTensor& tensor, const std::vector<std::uint64_t>& offsets) {
  const std::optional<std::uint64_t> size_bytes = checked_payload(tensor);
  if (!size_bytes)
    return fail("a shape whose bytes can be counted", fmt::format("{}", tensor.shape));
  const std::optional<std::uint64_t> end = checked_add(end_bytes_, *size_bytes);
  if (!end || *end > data_bytes_)
    return fail(fmt::format("at most {} bytes of values", data_bytes_),
                fmt::format("{} and more, with {}", *size_bytes, quoted(tensor.name)));
  if (offsets[0] != end_bytes_ || offsets[1] != *end)
    return fail(fmt::format("data_offsets [{}, {}] of {}", end_bytes_, *end, quoted(tensor.name)),
                fmt::format("{}", offsets));
  end_bytes_ = *end;
  return true;
}

bool HeaderParser::type(TensorType& out) {
  std::string name;
  skip_spaces();
  if (!text(name)) return false;
  const auto* const row = std::ranges::find(kTypes, name, &TypeRow::name);
  if (row == kTypes.end()) return fail("F32, F16, BF16, F64, I32, I64 or U8", quoted(name));
  out = row->type;
  return true;
}

bool HeaderParser::shape(std::vector<std::int64_t>& out) {
  std::vector<std::uint64_t> lengths;
  if (!numbers(lengths, kMaxAxes)) return false;
  for (const std::uint64_t length : lengths) {
    if (length > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return fail("a length below 2^63", fmt::format("{}", length));
    out.push_back(static_cast<std::int64_t>(length));
  }
  return true;
}

bool HeaderParser::numbers(std::vector<std::uint64_t>& out, std::size_t most) {
  if (!take('[')) return false;
  if (skip(']')) return true;
  do {
    if (out.size() == most) return fail(fmt::format("at most {} numbers", most));
    if (!number(out.emplace_back())) return false;
  } while (skip(','));
  return take(']');
}

bool HeaderParser::number(std::uint64_t& out) {
  skip_spaces();
  const char* const begin = json_.data() + at_;
  const auto [end, fault] = std::from_chars(begin, json_.data() + json_.size(), out);
  const bool has_leading_zero = end - begin > 1 && *begin == '0';
  if (fault != std::errc() || has_leading_zero) return fail("a whole number below 2^64");
  at_ += static_cast<std::size_t>(end - begin);
  return true;
}

bool HeaderParser::text(std::string& out) {
  if (!take('"')) return false;
  while (at_ < json_.size()) {
    const char next = json_[at_];
    if (next == '\\') {
      if (!escape(out)) return false;
      continue;
    }
    if (static_cast<unsigned char>(next) < 0x20) return fail("a printable character");
    ++at_;
    if (next == '"') return true;
    out += next;
  }
  return fail("'\"'");
}

// At a backslash.
bool HeaderParser::escape(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ + 1 < json_.size() ? json_[at_ + 1] : '\0';
  if (letter == 'u') return code_point(out);
  const std::size_t which = kLetters.find(letter);
  if (which == std::string_view::npos) return fail("an escape of JSON");
  out += kMeanings[which];
  at_ += 2;
  return true;
}

bool HeaderParser::code_unit(std::uint32_t& out) {
  constexpr std::size_t kNumDigits = 4;
  const std::string_view escaped = json_.substr(at_, 2 + kNumDigits);
  if (!escaped.starts_with("\\u") || escaped.size() < 2 + kNumDigits)
    return fail("\\u and four digits");
  const char* const begin = escaped.data() + 2;
  const auto [end, fault] = std::from_chars(begin, begin + kNumDigits, out, 16);
  if (fault != std::errc() || end != begin + kNumDigits) return fail("\\u and four digits");
  at_ += 2 + kNumDigits;
  return true;
}

// Characters past U+FFFF are written as two halves.
bool HeaderParser::code_point(std::string& out) {
  constexpr std::uint32_t kHighHalf = 0xD800;
  constexpr std::uint32_t kLowHalf = 0xDC00;
  constexpr std::uint32_t kEndOfHalves = 0xE000;
  std::uint32_t code = 0;
  if (!code_unit(code)) return false;
  if (code >= kHighHalf && code < kEndOfHalves) {
    std::uint32_t low = 0;
    if (code >= kLowHalf) return fail("a whole character", "the second half of one");
    if (!code_unit(low)) return false;
    if (low < kLowHalf || low >= kEndOfHalves)
      return fail("a whole character", "the first half of one");
    code = 0x10000 + ((code - kHighHalf) << 10U) + (low - kLowHalf);
  }
  append_utf8(out, code);
  return true;
}

}  // namespace

std::string_view name_of(TensorType type) { return row_of(type).name; }
std::size_t bytes_of(TensorType type) { return row_of(type).size_bytes; }

std::uint64_t payload_bytes(const StoredTensor& tensor) {
  const std::optional<std::uint64_t> size_bytes = checked_payload(tensor);
  check_invariant(size_bytes.has_value(), "a tensor larger than 2^64 bytes");
  return *size_bytes;
}

std::string tensor_header(const TensorSet& set) {
  std::string json = "{";
  if (!set.metadata.empty()) {
    json += fmt::format("\"{}\":{{", kMetadata);
    for (const auto& [key, value] : set.metadata)
      json += fmt::format("{}:{},", quoted(key), quoted(value));
    json.back() = '}';
    json += ',';
  }
  std::uint64_t at_bytes = 0;
  for (const StoredTensor& tensor : set.tensors) {
    const std::uint64_t end = at_bytes + payload_bytes(tensor);
    check_invariant(tensor.values.size() == end - at_bytes, "values that fit the shape");
    json += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}},)",
                        quoted(tensor.name), name_of(tensor.type), fmt::join(tensor.shape, ","),
                        at_bytes, end);
    at_bytes = end;
  }
  if (json.back() == ',') json.pop_back();
  json += '}';
  json.resize(round_up<std::size_t>(json.size(), 8), ' ');
  std::uint64_t length = json.size();
  std::string out;
  for (std::uint64_t i = 0; i < kLengthBytes; ++i, length >>= 8U)
    out += static_cast<char>(length & 0xFFU);
  return out + json;
}

Result<TensorSet> parse_tensor_header(std::string_view json, std::uint64_t data_bytes,
                                      const std::string& file) {
  return HeaderParser(json, data_bytes, file).parse();
}

}  // namespace stoker::train
