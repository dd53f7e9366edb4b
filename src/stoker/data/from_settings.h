// The settings of a run in the words of the folders that do the work: index, sound, text.
#pragma once

#include "stoker/audio/prepared_speech.h"
#include "stoker/config/settings.h"
#include "stoker/data/index_options.h"
#include "stoker/text/tokenizer.h"

namespace stoker::data {

// Throws ConfigError where the mel recipe cannot be made.
IndexOptions index_options_of(const config::Settings& settings);
audio::SpeechRule speech_rule_of(const config::Settings& settings);

// Without the phone inventory, which is beside the data set, and without the language that a data
// set records. A vocabulary that has no id for unknown symbols drops them.
text::TokenizerOptions tokenizer_options_of(const config::TextSettings& settings);

}  // namespace stoker::data
