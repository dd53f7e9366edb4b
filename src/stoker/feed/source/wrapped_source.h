// A source over another one: what its utterances are comes from there, how they are read is its
// own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

// Arrays, fallbacks and will_need() belong to the reading: they are not passed on by themselves.
template <class Inner>
class WrappedSource : public UtteranceSource {
 public:
  explicit WrappedSource(std::shared_ptr<const Inner> inner) : inner_(std::move(inner)) {}

  std::uint32_t num_utterances() const override { return inner_->num_utterances(); }
  std::string_view id(std::uint32_t utterance) const override { return inner_->id(utterance); }
  std::int32_t speaker(std::uint32_t utterance) const override {
    return inner_->speaker(utterance);
  }
  std::int32_t language(std::uint32_t utterance) const override {
    return inner_->language(utterance);
  }
  std::string_view file(std::uint32_t utterance) const override { return inner_->file(utterance); }
  std::uint64_t line(std::uint32_t utterance) const override { return inner_->line(utterance); }
  std::uint32_t num_mels() const override { return inner_->num_mels(); }
  std::uint32_t hop_samples() const override { return inner_->hop_samples(); }
  float padding() const override { return inner_->padding(); }

 protected:
  const Inner& inner() const { return *inner_; }

 private:
  std::shared_ptr<const Inner> inner_;
};

}  // namespace stoker::feed
