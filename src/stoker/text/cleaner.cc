#include "stoker/text/cleaner.h"

#include "stoker/config/nearest_name.h"
#include "stoker/text/errors.h"

namespace stoker::text {
namespace {

// For text that is ready: phonemes, or transcripts normalised elsewhere.
class KeepAsIs final : public Normalizer {
 public:
  std::string_view name() const noexcept override { return "none"; }
  std::uint32_t version() const noexcept override { return 1; }

 private:
  void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
           std::vector<NormalizeStep>*) const override {
    scratch.num_removed = 0;
    out += text;
  }
};

}  // namespace

std::vector<std::string> cleaner_names() {
  return {"auto",    "none",           "english",          "persian",
          "unicode", "basic_cleaners", "english_cleaners", "multilingual_cleaners"};
}

std::shared_ptr<const Normalizer> cleaner_for(std::string_view name, std::string_view language) {
  if (name == "auto") return normalizer_for(language);
  if (name == "english") return normalizer_for("en");
  if (name == "persian") return normalizer_for("fa");
  if (name == "unicode") return make_unicode_normalizer(std::string(language));
  if (name == "none") return std::make_shared<const KeepAsIs>();
  if (name == "basic_cleaners") return myxtts::make_cleaner(myxtts::CleanerKind::kBasic);
  if (name == "english_cleaners") return myxtts::make_cleaner(myxtts::CleanerKind::kEnglish);
  if (name == "multilingual_cleaners") {
    return myxtts::make_cleaner(myxtts::CleanerKind::kMultilingual);
  }
  const std::vector<std::string> names = cleaner_names();
  std::string known;
  for (const std::string& known_name : names) known += (known.empty() ? "" : ", ") + known_name;
  const auto nearest = config::nearest_name(name, names);
  raise({.code = &kTextVocabulary,
         .place = {},
         .promised = "a cleaner (" + known + ")",
         .found = "\"" + std::string(name) + "\"",
         .action = {},
         .cure = nearest ? "did you mean " + *nearest + "?" : std::string()});
}

}  // namespace stoker::text
