// The abbreviations of English, what they stand for and where.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stoker::text::english {

enum class When {
  kAlways,        // with its full stop
  kBeforeName,    // a capitalised word follows
  kBeforeNumber,  // a digit follows
  kAfterName,     // a capitalised word comes before
  kInside,        // the sentence goes on: a small letter, a digit or a comma follows
};

struct Abbreviation {
  std::string_view written;  // lower case, without the full stop
  std::string_view spoken;
  When when = When::kAlways;
  bool stop_optional = false;  // also without its full stop: Dr Smith
};

// Sorted by `written`; capitals are carried over to the spoken form.
inline constexpr std::array kAbbreviations{Abbreviation{"abt", "about"},
                                           Abbreviation{"acct", "account"},
                                           Abbreviation{"adm", "admiral", When::kBeforeName},
                                           Abbreviation{"approx", "approximately"},
                                           Abbreviation{"apr", "April", When::kInside},
                                           Abbreviation{"apt", "apartment", When::kBeforeNumber},
                                           Abbreviation{"art", "article", When::kBeforeNumber},
                                           Abbreviation{"assn", "association"},
                                           Abbreviation{"assoc", "associate"},
                                           Abbreviation{"asst", "assistant"},
                                           Abbreviation{"attn", "attention"},
                                           Abbreviation{"aug", "August", When::kInside},
                                           Abbreviation{"ave", "avenue"},
                                           Abbreviation{"bldg", "building"},
                                           Abbreviation{"blvd", "boulevard"},
                                           Abbreviation{"brig", "brigadier", When::kBeforeName},
                                           Abbreviation{"bros", "brothers"},
                                           Abbreviation{"ca", "circa", When::kBeforeNumber},
                                           Abbreviation{"capt", "captain"},
                                           Abbreviation{"cf", "compare"},
                                           Abbreviation{"ch", "chapter", When::kBeforeNumber},
                                           Abbreviation{"cmdr", "commander"},
                                           Abbreviation{"co", "company"},
                                           Abbreviation{"col", "colonel", When::kBeforeName},
                                           Abbreviation{"corp", "corporation"},
                                           Abbreviation{"cpl", "corporal", When::kBeforeName},
                                           Abbreviation{"ct", "court", When::kAfterName},
                                           Abbreviation{"dec", "December", When::kInside},
                                           Abbreviation{"dept", "department"},
                                           Abbreviation{"dist", "district"},
                                           Abbreviation{"dr", "doctor", When::kBeforeName, true},
                                           Abbreviation{"drs", "doctors", When::kBeforeName},
                                           Abbreviation{"esq", "esquire"},
                                           Abbreviation{"est", "established", When::kInside},
                                           Abbreviation{"etc", "et cetera", When::kAlways, true},
                                           Abbreviation{"ext", "extension", When::kBeforeNumber},
                                           Abbreviation{"feb", "February", When::kInside},
                                           Abbreviation{"fig", "figure", When::kBeforeNumber},
                                           Abbreviation{"figs", "figures", When::kBeforeNumber},
                                           Abbreviation{"fri", "Friday", When::kInside},
                                           Abbreviation{"ft", "fort", When::kBeforeName},
                                           Abbreviation{"gen", "general", When::kBeforeName},
                                           Abbreviation{"gov", "governor", When::kBeforeName},
                                           Abbreviation{"govt", "government"},
                                           Abbreviation{"hon", "honorable", When::kBeforeName},
                                           Abbreviation{"hwy", "highway"},
                                           Abbreviation{"inc", "incorporated"},
                                           Abbreviation{"jan", "January", When::kInside},
                                           Abbreviation{"jr", "junior"},
                                           Abbreviation{"jul", "July", When::kInside},
                                           Abbreviation{"jun", "June", When::kInside},
                                           Abbreviation{"lt", "lieutenant"},
                                           Abbreviation{"ltd", "limited", When::kAlways, true},
                                           Abbreviation{"maj", "major", When::kBeforeName},
                                           Abbreviation{"mar", "March", When::kInside},
                                           Abbreviation{"max", "maximum", When::kInside},
                                           Abbreviation{"messrs", "messieurs"},
                                           Abbreviation{"mfg", "manufacturing"},
                                           Abbreviation{"mgr", "manager"},
                                           Abbreviation{"min", "minimum", When::kInside},
                                           Abbreviation{"misc", "miscellaneous"},
                                           Abbreviation{"mon", "Monday", When::kInside},
                                           Abbreviation{"mr", "mister", When::kAlways, true},
                                           Abbreviation{"mrs", "missus", When::kAlways, true},
                                           Abbreviation{"ms", "miz", When::kBeforeName, true},
                                           Abbreviation{"mt", "mount", When::kBeforeName, true},
                                           Abbreviation{"natl", "national"},
                                           Abbreviation{"no", "number", When::kBeforeNumber},
                                           Abbreviation{"nos", "numbers", When::kBeforeNumber},
                                           Abbreviation{"nov", "November", When::kInside},
                                           Abbreviation{"oct", "October", When::kInside},
                                           Abbreviation{"p", "page", When::kBeforeNumber},
                                           Abbreviation{"par", "paragraph", When::kBeforeNumber},
                                           Abbreviation{"pp", "pages", When::kBeforeNumber},
                                           Abbreviation{"pres", "president", When::kBeforeName},
                                           Abbreviation{"prof", "professor", When::kAlways},
                                           Abbreviation{"pt", "part", When::kBeforeNumber},
                                           Abbreviation{"pvt", "private", When::kBeforeName},
                                           Abbreviation{"rd", "road", When::kAfterName},
                                           Abbreviation{"rep", "representative", When::kBeforeName},
                                           Abbreviation{"rev", "reverend", When::kBeforeName},
                                           Abbreviation{"sat", "Saturday", When::kInside},
                                           Abbreviation{"sec", "section", When::kBeforeNumber},
                                           Abbreviation{"sen", "senator", When::kBeforeName},
                                           Abbreviation{"sep", "September", When::kInside},
                                           Abbreviation{"sept", "September", When::kInside},
                                           Abbreviation{"sgt", "sergeant", When::kAlways},
                                           Abbreviation{"sr", "senior"},
                                           Abbreviation{"sun", "Sunday", When::kInside},
                                           Abbreviation{"tel", "telephone"},
                                           Abbreviation{"thu", "Thursday", When::kInside},
                                           Abbreviation{"thurs", "Thursday", When::kInside},
                                           Abbreviation{"tue", "Tuesday", When::kInside},
                                           Abbreviation{"tues", "Tuesday", When::kInside},
                                           Abbreviation{"univ", "university"},
                                           Abbreviation{"viz", "namely"},
                                           Abbreviation{"vol", "volume", When::kBeforeNumber},
                                           Abbreviation{"vols", "volumes", When::kBeforeNumber},
                                           Abbreviation{"vs", "versus", When::kAlways, true},
                                           Abbreviation{"wed", "Wednesday", When::kInside}};
static_assert(std::is_sorted(kAbbreviations.begin(), kAbbreviations.end(),
                             [](const Abbreviation& a, const Abbreviation& b) {
                               return a.written < b.written;
                             }));

}  // namespace stoker::text::english
