#include "stoker/text/sentencepiece/vocabulary.h"

#include <utility>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/text/errors.h"
#include "stoker/text/sentencepiece/piece_table.h"
#include "stoker/text/sentencepiece/rewriter.h"

namespace stoker::text::sentencepiece {
namespace {

constexpr std::uint64_t kMostModelBytes = std::uint64_t{256} << 20U;

std::vector<std::byte> load_bytes(const std::string& file) {
  const File opened = open_file(system_io(), file, OpenFor::kRead).take_or_raise();
  return read_whole(opened, kMostModelBytes).take_or_raise();
}

std::vector<Segment> segments_of(const PieceTable& table, std::string_view text) {
  switch (table.model().kind) {
    case ModelKind::kUnigram:
      return segment_unigram(table, text);
    case ModelKind::kBpe:
      return segment_bpe(table, text);
    default:
      return segment_plain(table, text);
  }
}

class ModelVocabulary final : public Vocabulary {
 public:
  ModelVocabulary(PieceTable table, const std::string& file, std::string digest)
      : table_(std::move(table)),
        rewriter_(Rewriter::make(table_, file).take_or_raise()),
        digest_(std::move(digest)) {}

  std::string_view name() const noexcept override { return "sentencepiece"; }
  std::size_t size() const noexcept override {
    return table_.model().pieces.size() + kFirstNativeSymbol;
  }
  SpecialIds specials() const noexcept override { return kNativeIds; }
  std::string identity() const override { return digest_; }

  std::string symbol(std::int32_t id) const override {
    if (id < kFirstNativeSymbol) return native_special_name(id);
    const auto place = static_cast<std::size_t>(id - kFirstNativeSymbol);
    return place < table_.model().pieces.size() ? table_.model().pieces[place].text : std::string();
  }

  void encode(std::string_view text, std::vector<std::int32_t>& ids,
              std::vector<UnknownSymbol>& unknown) const override {
    const std::string rewritten = rewriter_.rewritten(text);
    std::string run;  // neighbouring unknown characters are one token
    const auto end_run = [&] {
      if (run.empty()) return;
      ids.push_back(kNoId);
      count_unknown(unknown, run);
      run.clear();
    };
    for (const Segment& segment : segments_of(table_, rewritten)) {
      const bool is_unknown = segment.id == table_.unknown_id();
      if (is_unknown && table_.model().has_byte_fallback) {
        for (const char c : segment.text)
          ids.push_back(table_.byte_id(static_cast<unsigned char>(c)) + kFirstNativeSymbol);
      } else if (is_unknown) {
        run += segment.text;
      } else {
        end_run();
        ids.push_back(segment.id + kFirstNativeSymbol);
      }
    }
    end_run();
  }

 private:
  PieceTable table_;
  Rewriter rewriter_;
  std::string digest_;
};

}  // namespace

std::shared_ptr<const Vocabulary> load_vocabulary(const std::string& file) {
  const std::vector<std::byte> bytes = load_bytes(file);
  Model model = parse_model(bytes, file).take_or_raise();
  PieceTable table = PieceTable::make(std::move(model), file).take_or_raise();
  return std::make_shared<const ModelVocabulary>(std::move(table), file, digest_of(bytes).hex());
}

std::string model_digest(const std::string& file) { return digest_of(load_bytes(file)).hex(); }

}  // namespace stoker::text::sentencepiece
