// The error codes of the text folder.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::text {

inline constexpr ErrorCode kMetaNoText{
    "E-META-NOTEXT", ExitCode::kData, "A row's text is empty or holds nothing that can be spoken.",
    "write the words that are spoken in the recording, or remove the row"};
inline constexpr ErrorCode kTextUnknown{
    "E-TEXT-UNKNOWN", ExitCode::kData, "A text holds a character outside the vocabulary.",
    "correct the text, choose a vocabulary that has the character, or set the policy for unknown "
    "characters to drop or unk"};
inline constexpr ErrorCode kTextControl{
    "E-TEXT-CONTROL", ExitCode::kData,
    "A text holds control, bidirectional or zero-width characters.",
    "remove the invisible characters, or set the policy for unknown characters to drop"};
inline constexpr ErrorCode kTextMisfit{
    "E-TEXT-MISFIT", ExitCode::kData, "Many characters of the texts are outside the vocabulary.",
    "give --language with the language of the texts, or --vocabulary bytes"};
inline constexpr ErrorCode kTextEncoding{"E-TEXT-UTF8", ExitCode::kData,
                                         "A text is not valid UTF-8.",
                                         "convert the text to UTF-8, for example with iconv"};
inline constexpr ErrorCode kTextLanguage{"E-TEXT-LANGUAGE", ExitCode::kUsage,
                                         "A language tag names no known language.",
                                         "use an ISO 639 code such as en, fa or de"};
inline constexpr ErrorCode kTextVocabulary{"E-TEXT-VOCABULARY", ExitCode::kUsage,
                                           "A vocabulary or cleaner of this name does not exist.",
                                           "use one of the names in the message"};
inline constexpr ErrorCode kTextPhones{
    "E-TEXT-PHONES", ExitCode::kData, "A phoneme sidecar is malformed or lacks an utterance.",
    "give phonemes.csv one line id|phones for each utterance, phones separated by spaces"};

inline constexpr ErrorCode kTextModel{
    "E-TEXT-MODEL", ExitCode::kUsage, "The file of a vocabulary is not a SentencePiece model.",
    "name a .model file that spm_train wrote in text.vocabulary_file"};

inline constexpr std::array kErrorCodes{&kMetaNoText,     &kTextUnknown,  &kTextControl,
                                        &kTextMisfit,     &kTextEncoding, &kTextLanguage,
                                        &kTextVocabulary, &kTextPhones,   &kTextModel};

}  // namespace stoker::text
