#include "stoker/observe/diagnose/stand_ins.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "stoker/feed/source/wrapped_source.h"

namespace stoker::observe {
namespace {

using feed::UtteranceReader;
using feed::UtteranceSource;
using pipeline::FillContext;

class PartialReader final : public UtteranceReader {
 public:
  PartialReader(const UtteranceSource& source, RunKind part)
      : hop_samples_(source.hop_samples()),
        num_mels_(source.num_mels()),
        inner_(source.make_reader()),
        part_(part) {}

  void enter_epoch(std::uint64_t epoch) override { inner_->enter_epoch(epoch); }
  void prefetch(std::uint32_t utterance) const override {
    if (part_ == RunKind::kNoText) inner_->prefetch(utterance);
  }
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    if (part_ == RunKind::kNoMel) return inner_->read_tokens(utterance, out);
    return static_cast<std::uint32_t>(out.size());
  }
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const feed::MelTarget& out,
                                 FillContext& context) override {
    if (part_ == RunKind::kNoText) return inner_->read_mel(utterance, out, context);
    if (part_ == RunKind::kMemory) copy_frames(out);
    if (reads_nothing()) return out.num_frames;
    samples_.resize(std::size_t{out.num_frames + 1} * hop_samples_);
    const Result<std::uint32_t> read = inner_->read_pcm(utterance, samples_, context);
    if (!read) return read.error();
    return std::min(out.num_frames, *read / hop_samples_ + 1);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 FillContext& context) override {
    if (!reads_nothing()) return inner_->read_pcm(utterance, out, context);
    return static_cast<std::uint32_t>(out.size());
  }
  std::span<const std::byte> find_mel(std::uint32_t utterance, config::MelDtype dtype) override {
    return part_ == RunKind::kNoText ? inner_->find_mel(utterance, dtype)
                                     : std::span<const std::byte>();
  }
  std::span<const std::byte> find_pcm(std::uint32_t utterance) override {
    return reads_nothing() ? std::span<const std::byte>() : inner_->find_pcm(utterance);
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   FillContext& context) override {
    return inner_->read_audio(utterance, out, context);
  }
  Result<std::uint32_t> read_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out) override {
    return inner_->read_array(utterance, array, out);
  }

 private:
  bool reads_nothing() const { return part_ == RunKind::kInstant || part_ == RunKind::kMemory; }
  // As a mel that is kept in memory arrives.
  void copy_frames(const feed::MelTarget& out) {
    const std::size_t num_bytes =
        std::size_t{out.num_frames} * num_mels_ * config::bytes_per_value(out.dtype);
    if (kept_.size() < num_bytes) kept_.resize(num_bytes);
    std::memcpy(out.values, kept_.data(), num_bytes);
  }

  std::uint32_t hop_samples_;
  std::uint32_t num_mels_;
  std::unique_ptr<UtteranceReader> inner_;
  RunKind part_;
  std::vector<std::int16_t> samples_;
  std::vector<std::byte> kept_;
};

class PartialSource final : public feed::WrappedSource<UtteranceSource> {
 public:
  PartialSource(std::shared_ptr<const UtteranceSource> inner, RunKind part)
      : WrappedSource(std::move(inner)), part_(part) {}
  std::unique_ptr<UtteranceReader> make_reader() const override {
    return std::make_unique<PartialReader>(inner(), part_);
  }
  std::vector<feed::ArrayKind> arrays() const override { return inner().arrays(); }

 private:
  RunKind part_;
};

}  // namespace

std::shared_ptr<const UtteranceSource> without_part(std::shared_ptr<const UtteranceSource> source,
                                                    RunKind part) {
  return std::make_shared<PartialSource>(std::move(source), part);
}

}  // namespace stoker::observe
