#include "stoker/data/voice/lengths.h"

#include <array>
#include <charconv>

#include "stoker/data/errors.h"

namespace stoker::data::voice {
namespace {

struct Quantile {
  double share, length_s;
};
// LJSpeech's 13,100 recordings: 1.1 to 10.1 s, mean 6.57 s, most of them long.
constexpr std::array kLjSpeech{Quantile{0.00, 1.11}, Quantile{0.05, 2.55}, Quantile{0.10, 3.35},
                               Quantile{0.20, 4.60}, Quantile{0.30, 5.45}, Quantile{0.40, 6.20},
                               Quantile{0.50, 6.90}, Quantile{0.60, 7.50}, Quantile{0.70, 8.10},
                               Quantile{0.80, 8.65}, Quantile{0.90, 9.25}, Quantile{0.95, 9.60},
                               Quantile{1.00, 10.10}};

double ljspeech_length_s(double share) {
  for (std::size_t i = 1; i < kLjSpeech.size(); ++i) {
    const Quantile& low = kLjSpeech[i - 1];
    const Quantile& high = kLjSpeech[i];
    if (share >= high.share) continue;
    const double within = (share - low.share) / (high.share - low.share);
    return low.length_s + (high.length_s - low.length_s) * within;
  }
  return kLjSpeech.back().length_s;
}

std::optional<double> parse_seconds(std::string_view text) {
  double value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

Error bad_lengths(std::string_view text) {
  return {.code = &kMakeOption,
          .promised = "--lengths natural, ljspeech or uniform:A-B with 0.5 <= A <= B <= 60",
          .found = std::string(text)};
}

}  // namespace

Result<Lengths> parse_lengths(std::string_view text) {
  constexpr std::string_view kUniformPrefix = "uniform:";
  if (text == "natural") return Lengths{};
  if (text == "ljspeech") return Lengths{.kind = LengthKind::kLjSpeech};
  if (!text.starts_with(kUniformPrefix)) return bad_lengths(text);
  const std::string_view range = text.substr(kUniformPrefix.size());
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return bad_lengths(text);
  const auto low_s = parse_seconds(range.substr(0, dash));
  const auto high_s = parse_seconds(range.substr(dash + 1));
  const bool fits = low_s && high_s && *low_s >= kShortestUniformS && *low_s <= *high_s &&
                    *high_s <= kLongestUniformS;
  if (!fits) return bad_lengths(text);
  return Lengths{.kind = LengthKind::kUniform, .low_s = *low_s, .high_s = *high_s};
}

std::optional<double> draw_length_s(const Lengths& lengths, KeyedDraws& draws) {
  switch (lengths.kind) {
    case LengthKind::kLjSpeech:
      return ljspeech_length_s(draws.next_unit());
    case LengthKind::kUniform:
      return draws.next_between(lengths.low_s, lengths.high_s);
    case LengthKind::kNatural:
      break;
  }
  return std::nullopt;
}

}  // namespace stoker::data::voice
