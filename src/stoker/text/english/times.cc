#include "stoker/text/english/rules.h"
#include "stoker/text/number_words.h"

namespace stoker::text::english {
namespace {

struct HalfDay {
  std::string_view words;  // "a m", "p m" or empty
  std::size_t end = 0;
};

// am, pm, a.m., P.M. after optional spaces.
HalfDay half_day_at(std::string_view text, std::size_t at) noexcept {
  const std::size_t start = spaces_end(text, at);
  const char half = to_lower(peek(text, start));
  if (half != 'a' && half != 'p') return {};
  const bool dotted = peek(text, start + 1) == '.';
  const std::size_t m = start + (dotted ? 2 : 1);
  if (to_lower(peek(text, m)) != 'm' || is_word_or_digit(text, m + 1)) return {};
  const std::string_view words = half == 'a' ? "a m" : "p m";
  return {words, m + 1};
}

void append_minutes(std::string& out, std::uint64_t minutes) {
  if (minutes < 10) out += "oh ";
  append_cardinal(out, minutes);
}

// The half of the day and, where its full stop also ends the sentence, that full stop.
std::size_t finish(std::string_view text, const HalfDay& half, std::size_t end, std::string& out) {
  if (half.words.empty()) {
    close_gap(text, end, out);
    return end;
  }
  out += ' ';
  out += half.words;
  return peek(text, half.end) == '.' ? take_stop(text, half.end, out) : half.end;
}

std::size_t append_duration(std::string_view text, std::size_t seconds_at, std::string& out) {
  const std::size_t end = digits_end(text, seconds_at);
  const std::uint64_t seconds = digits_value(text.substr(seconds_at, end - seconds_at));
  out += " and ";
  append_cardinal(out, seconds);
  out += seconds == 1 ? " second" : " seconds";
  return end;
}

void append_clock(std::string& out, std::uint64_t hours, std::uint64_t minutes, bool has_half) {
  append_cardinal(out, hours);
  if (minutes != 0) {
    out += ' ';
    append_minutes(out, minutes);
  } else if (!has_half) {
    out += hours == 0 || hours > 12 ? " hundred" : " o'clock";
  }
}

// "3:1", "16:9": a proportion, since minutes have two digits.
std::size_t read_ratio(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t colon = digits_end(text, at);
  const std::size_t end = digits_end(text, colon + 1);
  if (end == colon + 1 || end - at > 12 || is_word_or_digit(text, end) || peek(text, end) == ':')
    return 0;
  open_gap(out);
  append_cardinal(out, digits_value(text.substr(at, colon - at)));
  out += " to ";
  append_cardinal(out, digits_value(text.substr(colon + 1, end - colon - 1)));
  return end - at;
}

// "3 pm", "11a.m.", "3.30 pm"
std::size_t read_bare_hour(std::string_view text, std::size_t at, std::string& out) {
  std::size_t end = digits_end(text, at);
  if (end - at > 2) return 0;
  const std::uint64_t hours = digits_value(text.substr(at, end - at));
  std::uint64_t minutes = 0;
  if (peek(text, end) == '.' && digits_end(text, end + 1) == end + 3) {
    minutes = digits_value(text.substr(end + 1, 2));
    end += 3;
  }
  const HalfDay half = half_day_at(text, end);
  if (half.words.empty() || hours > 12 || minutes > 59) return 0;
  open_gap(out);
  append_clock(out, hours, minutes, true);
  return finish(text, half, end, out) - at;
}

}  // namespace

std::size_t read_time(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t colon = digits_end(text, at);
  if (peek(text, colon) != ':' || !is_digit(peek(text, colon + 1)))
    return read_bare_hour(text, at, out);
  const std::size_t end = digits_end(text, colon + 1);
  const std::uint64_t hours = colon - at <= 2 ? digits_value(text.substr(at, colon - at)) : 99;
  const std::uint64_t minutes = end - colon == 3 ? digits_value(text.substr(colon + 1, 2)) : 99;
  if (hours > 24 || minutes > 59) return read_ratio(text, at, out);
  open_gap(out);
  if (peek(text, end) == ':' && digits_end(text, end + 1) == end + 3) {
    append_cardinal(out, hours);
    out += hours == 1 ? " hour " : " hours ";
    append_cardinal(out, minutes);
    out += minutes == 1 ? " minute" : " minutes";
    return append_duration(text, end + 1, out) - at;
  }
  const HalfDay half = half_day_at(text, end);
  const std::string_view next = word_after(text, end);
  const bool says_oclock =
      same_word(next, "o") || same_word(next, "noon") || same_word(next, "midnight");
  append_clock(out, hours, minutes, !half.words.empty() || says_oclock);
  return finish(text, half, end, out) - at;
}

}  // namespace stoker::text::english
