#include "stoker/train/loop/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/errors.h"
#include "stoker/base/invariant.h"

namespace stoker::train {
namespace {

// The parts of protobuf's wire format that an event uses.
enum class Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
  return out;
}

std::string key(unsigned field, Wire wire) {
  return varint((std::uint64_t{field} << 3U) | static_cast<unsigned>(wire));
}

template <class T>
std::string fixed(T value) {
  std::array<std::byte, sizeof(T)> bytes;
  store_le(bytes.data(), value);
  return std::string(view_text(bytes));
}

std::string number_field(unsigned field, std::uint64_t value) {
  return key(field, Wire::kVarint) + varint(value);
}

std::string float_field(unsigned field, double value) {
  return key(field, Wire::kFixed32) + fixed(static_cast<float>(value));
}

std::string text_field(unsigned field, std::string_view text) {
  std::string out = key(field, Wire::kBytes) + varint(text.size());
  out += text;
  return out;
}

// As TFRecord stores checksums, because a CRC over bytes that hold their own CRC is weak.
std::uint32_t masked_crc(std::string_view text) {
  const std::uint32_t crc = crc32c(view_bytes(text));
  return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

std::string record(std::string_view event) {
  const std::string length = fixed(std::uint64_t{event.size()});
  std::string out = length + fixed(masked_crc(length));
  out += event;
  return out + fixed(masked_crc(event));
}

std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t at) {
  check_invariant(bytes.size() >= at + 4, "a picture too short to have a size");
  std::uint32_t value = 0;
  for (const std::byte byte : bytes.subspan(at, 4))
    value = (value << 8U) | std::to_integer<std::uint32_t>(byte);
  return value;
}

// Fields of the messages Event, SessionLog, Summary.Value, Image and Audio.
constexpr unsigned kEventTime = 1;
constexpr unsigned kEventStep = 2;
constexpr unsigned kEventFileVersion = 3;
constexpr unsigned kEventSummary = 5;
constexpr unsigned kEventSession = 7;
constexpr unsigned kSessionStatus = 1;
constexpr unsigned kSummaryValue = 1;
constexpr unsigned kValueTag = 1;
constexpr unsigned kValueSimple = 2;
constexpr unsigned kValueImage = 4;
constexpr unsigned kValueAudio = 6;

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string name(host.data());
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() ? "host" : name;
}

constexpr int kMostFilesASecond = 1000;

Result<File> create_unused(Io& io, const std::string& folder, const Clock& clock) {
  const std::string stem = fmt::format("{}/events.out.tfevents.{:010}.{}.{}", folder,
                                       clock.unix_time_ns() / 1'000'000'000, host_name(), getpid());
  for (int number = 0;; ++number) {
    Result<File> file = open_file(io, fmt::format("{}.{}", stem, number), OpenFor::kCreateNew);
    if (file || file.error().code != &kIoExists || number == kMostFilesASecond) return file;
  }
}

}  // namespace

EventFile::EventFile(File file, const Clock& clock) : file_(std::move(file)), clock_(&clock) {}

Result<EventFile> EventFile::create(Io& io, const std::string& folder, const Clock& clock) {
  Result<File> file = create_unused(io, folder, clock);
  if (!file) return std::move(file).error();
  EventFile events(std::move(*file), clock);
  events.add_record(0, text_field(kEventFileVersion, "brain.Event:2"));
  if (Result<void> written = events.flush(); !written) return written.error();
  return events;
}

void EventFile::resume_at(std::uint64_t step) {
  constexpr std::uint64_t kStart = 1;
  add_record(step, text_field(kEventSession, number_field(kSessionStatus, kStart)));
}

void EventFile::scalar(std::uint64_t step, std::string_view tag, double value) {
  add_summary(step, tag, float_field(kValueSimple, value));
}

void EventFile::picture(std::uint64_t step, std::string_view tag, std::span<const std::byte> png) {
  constexpr std::uint64_t kRgb = 3;
  constexpr std::size_t kWidthAt = 16;
  constexpr std::size_t kHeightAt = 20;
  const std::string image = number_field(1, big_endian_at(png, kHeightAt)) +
                            number_field(2, big_endian_at(png, kWidthAt)) + number_field(3, kRgb) +
                            text_field(4, view_text(png));
  add_summary(step, tag, text_field(kValueImage, image));
}

void EventFile::sound(std::uint64_t step, std::string_view tag, const EventSound& sound) {
  constexpr std::uint64_t kOneChannel = 1;
  const std::string audio = float_field(1, sound.rate_hz) + number_field(2, kOneChannel) +
                            number_field(3, sound.num_samples) +
                            text_field(4, view_text(sound.wav)) + text_field(5, "audio/wav");
  add_summary(step, tag, text_field(kValueAudio, audio));
}

void EventFile::add_summary(std::uint64_t step, std::string_view tag, std::string_view value) {
  std::string tagged = text_field(kValueTag, tag);
  tagged += value;
  add_record(step, text_field(kEventSummary, text_field(kSummaryValue, tagged)));
}

void EventFile::add_record(std::uint64_t step, std::string_view field) {
  const double time_s = static_cast<double>(clock_->unix_time_ns()) * 1e-9;
  std::string event = key(kEventTime, Wire::kFixed64) + fixed(time_s);
  if (step != 0) event += number_field(kEventStep, step);
  event += field;
  waiting_ += record(event);
  ++num_waiting_;
}

Result<void> EventFile::flush() {
  if (waiting_.empty()) return {};
  Result<void> written = file_.write_at(view_bytes(waiting_), size_bytes_);
  if (written) {
    size_bytes_ += waiting_.size();
  } else {
    // Half a record would end TensorBoard's reading; where this fails, too, the next write covers
    // it.
    file_.io().truncate(file_.handle(), size_bytes_);
    if (waiting_.size() <= kMostWaitingBytes) return written;
    num_dropped_ += num_waiting_;
  }
  waiting_.clear();
  num_waiting_ = 0;
  return written;
}

}  // namespace stoker::train
