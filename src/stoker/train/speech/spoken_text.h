// From what a user types to the tokens that a checkpoint was trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/tokenizer.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

// What the user says about a text; only compared with what the checkpoint was trained on.
struct ReadingRules {
  std::optional<std::string> language{};
  std::optional<std::string> vocabulary{};
};

struct SpokenTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> symbols;  // of the ids, an edge before and after them
};

// Immutable.
class TextReader {
 public:
  // E-SPEAK-VOCABULARY where the rules, or the symbols that the record leads to, are not those of
  // the model.
  TextReader(const VoiceRecord& voice, const ReadingRules& rules);

  // With vocabulary phonemes the text is phones of the inventory, or words of English or Persian,
  // which are pronounced as by the built-in voice; a vowel whose stress the inventory lacks gets
  // another one. E-SPEAK-TEXT where nothing of it can be spoken.
  SpokenTokens read(const std::string& text) const;

 private:
  std::string as_phones(const std::string& text) const;
  std::string in_inventory(const std::string& label, const std::string& text) const;

  std::string language_;
  std::vector<std::string> phones_;
  text::Tokenizer tokenizer_;
};

}  // namespace stoker::train
