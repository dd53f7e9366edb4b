#include "stoker/text/vocabulary_registry.h"

#include "stoker/config/nearest_name.h"
#include "stoker/text/errors.h"
#include "stoker/text/sentencepiece/vocabulary.h"

namespace stoker::text {
namespace {

std::shared_ptr<const Vocabulary> make_phonemes(const VocabularyRequest& request) {
  if (!request.phones.empty()) return make_phoneme_vocabulary(request.phones);
  raise({.code = &kTextPhones,
         .place = {},
         .promised = "phones for the vocabulary \"phonemes\"",
         .found = "none",
         .action = {},
         .cure = "put phonemes.csv beside the metadata or map a column of phones"});
}

}  // namespace

VocabularyRegistry VocabularyRegistry::with_builtins() {
  VocabularyRegistry registry;
  registry.add("characters", [](const VocabularyRequest& request) {
    return make_character_vocabulary(request.language);
  });
  registry.add("bytes", [](const VocabularyRequest&) { return make_byte_vocabulary(); });
  registry.add("myxtts", [](const VocabularyRequest&) { return myxtts::make_vocabulary(); });
  registry.add("phonemes", make_phonemes);
  registry.add("sentencepiece", [](const VocabularyRequest& request) {
    return sentencepiece::load_vocabulary(request.model_file);
  });
  return registry;
}

void VocabularyRegistry::add(std::string name, Factory factory) {
  factories_.insert_or_assign(std::move(name), std::move(factory));
}

std::vector<std::string> VocabularyRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(factories_.size());
  for (const auto& [name, factory] : factories_) names.push_back(name);
  return names;
}

std::shared_ptr<const Vocabulary> VocabularyRegistry::make(std::string_view name,
                                                           const VocabularyRequest& request) const {
  const auto found = factories_.find(name);
  if (found != factories_.end()) return found->second(request);
  std::string known;
  for (const std::string& known_name : names()) known += (known.empty() ? "" : ", ") + known_name;
  const std::vector<std::string> candidates = names();
  const auto nearest = config::nearest_name(name, candidates);
  raise({.code = &kTextVocabulary,
         .place = {},
         .promised = "a vocabulary (" + known + ")",
         .found = "\"" + std::string(name) + "\"",
         .action = {},
         .cure = nearest ? "did you mean " + *nearest + "?" : std::string()});
}

}  // namespace stoker::text
