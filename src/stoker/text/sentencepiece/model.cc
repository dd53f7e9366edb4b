#include <fmt/format.h>

#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "stoker/base/utf8.h"
#include "stoker/text/errors.h"
#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {
namespace {

// One field of a protocol buffer: a number, or the bytes of a text or an inner message.
struct WireField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // of varint, fixed32 and fixed64
  std::string_view bytes = {};
};

// Goes through the fields of one message; anything that is none ends it as broken.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  std::optional<WireField> next() {
    if (rest_.empty() || is_broken_) return std::nullopt;
    const std::uint64_t tag = varint();
    WireField field;
    field.number = static_cast<std::uint32_t>(tag >> 3U);
    switch (tag & 7U) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:
        is_broken_ = true;
    }
    if (is_broken_ || field.number == 0) is_broken_ = true;
    return is_broken_ ? std::nullopt : std::optional(field);
  }
  bool is_broken() const { return is_broken_; }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) {
      is_broken_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::string_view one = take(1);
      if (one.empty()) return 0;
      const auto byte = static_cast<unsigned char>(one[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    is_broken_ = true;
    return 0;
  }
  std::uint64_t fixed(std::uint64_t num_bytes) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : take(num_bytes)) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  }

  std::string_view rest_;
  bool is_broken_ = false;
};

bool read_piece(std::string_view message, Piece& piece) {
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) piece.text = field->bytes;
    if (field->number == 2)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->number == 3) {
      if (field->value < 1 || field->value > 6) return false;
      piece.kind = static_cast<PieceKind>(field->value);
    }
  }
  return !reader.is_broken();
}

bool read_trainer(std::string_view message, Model& model) {
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 3) {
      if (field->value < 1 || field->value > 4) return false;
      model.kind = static_cast<ModelKind>(field->value);
    }
    if (field->number == 24) model.has_space_as_suffix = field->value != 0;
    if (field->number == 35) model.has_byte_fallback = field->value != 0;
  }
  return !reader.is_broken();
}

bool read_normalizer(std::string_view message, Model& model) {
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 2) model.rewrites = field->bytes;
    if (field->number == 3) model.adds_dummy_prefix = field->value != 0;
    if (field->number == 4) model.removes_extra_spaces = field->value != 0;
    if (field->number == 5) model.escapes_spaces = field->value != 0;
  }
  return !reader.is_broken();
}

bool read_message(std::string_view message, Model& model) {
  WireReader reader(message);
  while (const auto field = reader.next()) {
    bool is_good = true;
    if (field->number == 1) is_good = read_piece(field->bytes, model.pieces.emplace_back());
    if (field->number == 2) is_good = read_trainer(field->bytes, model);
    if (field->number == 3) is_good = read_normalizer(field->bytes, model);
    if (!is_good) return false;
  }
  return !reader.is_broken();
}

// What makes a model unfit for use, or nothing.
std::string fault_of(const Model& model) {
  std::size_t num_unknown = 0;
  std::size_t num_bytes = 0;
  for (const Piece& piece : model.pieces) {
    if (piece.text.empty()) return "a piece without text";
    if (find_invalid_utf8(piece.text) != piece.text.size()) return "a piece that is not UTF-8";
    if (!(piece.score > -std::numeric_limits<float>::max() &&
          piece.score < std::numeric_limits<float>::max()))
      return "a score that is no number";
    num_unknown += piece.kind == PieceKind::kUnknown ? 1 : 0;
    num_bytes += piece.kind == PieceKind::kByte ? 1 : 0;
  }
  if (num_unknown != 1) return fmt::format("{} pieces for what is unknown", num_unknown);
  if (model.has_byte_fallback && num_bytes != 256) return fmt::format("{} byte pieces", num_bytes);
  return {};
}

}  // namespace

Result<Model> parse_model(std::span<const std::byte> bytes, const std::string& file) {
  const auto refuse = [&file](std::string found) {
    return Error{.code = &kTextModel,
                 .place = {.file = file},
                 .promised = "a SentencePiece model with one unknown piece",
                 .found = std::move(found),
                 .action = {},
                 .cure = {}};
  };
  Model model;
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!read_message(message, model)) return refuse("bytes that are no such message");
  if (model.pieces.empty()) return refuse("no pieces");
  if (std::string fault = fault_of(model); !fault.empty()) return refuse(std::move(fault));
  return model;
}

}  // namespace stoker::text::sentencepiece
