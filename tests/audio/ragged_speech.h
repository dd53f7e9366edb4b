// A ragged batch of speech with noises to mix in, on the CPU or on a GPU.
#pragma once

#include <gtest/gtest.h>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/base/digest/digest.h"
#include "tests/audio/back_end.h"

namespace stoker::audio {

// A ragged batch on the host; gaps between utterances hold a mark.
struct Speech {
  static constexpr std::int16_t kMark = -12345;
  std::vector<std::int16_t> samples;
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> lengths;
  std::vector<std::uint64_t> ids;

  void add(std::int32_t length, double loudness) {
    begins.push_back(static_cast<std::int64_t>(samples.size()));
    lengths.push_back(length);
    ids.push_back(hash64("utterance " + std::to_string(ids.size())));
    KeyedDraws draws({11, "speech", 0, ids.back()});
    for (std::int32_t i = 0; i < length; ++i)
      samples.push_back(static_cast<std::int16_t>(loudness * draws.next_between(-32768, 32768)));
    samples.resize((samples.size() + 15) / 8 * 8, kMark);
  }
  std::int32_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
};

inline Speech ragged() {
  Speech speech;
  for (const std::int32_t length : {0, 1, 7, 8, 9, 300, 2047, 2048, 2049, 5000, 40001})
    speech.add(length, 0.4);
  return speech;
}

inline Speech noises() {
  Speech bank;
  for (const std::int32_t length : {1000, 37, 9999}) bank.add(length, 0.8);
  return bank;
}

template <class Out>
std::vector<Out> augmented_on_gpu(const Speech& speech, const Speech& bank, const AugmentRule& rule,
                                  AugmentBatch batch, const std::vector<Out>& before) {
  const GuardedArray<std::int16_t> samples{std::span(speech.samples)};
  const GuardedArray<std::int64_t> begins{std::span(speech.begins)};
  const GuardedArray<std::int32_t> lengths{std::span(speech.lengths)};
  const GuardedArray<std::uint64_t> ids{std::span(speech.ids)};
  const GuardedArray<std::int16_t> noise{std::span(bank.samples)};
  const GuardedArray<std::int64_t> noise_begins{std::span(bank.begins)};
  const GuardedArray<std::int32_t> noise_lengths{std::span(bank.lengths)};
  const GuardedArray<Out> out{std::span(before)};
  const GuardedArray<std::byte> scratch(augment_scratch_bytes(speech.ids.size()));
  batch.samples = samples.data();
  batch.begins = begins.data();
  batch.lengths = lengths.data();
  batch.utterances = ids.data();
  batch.noises = {noise.data(), noise_begins.data(), noise_lengths.data(), batch.noises.num_noises};
  batch.out = out.data();
  const cuda::Stream stream(0);
  augment_batch(batch, rule, AugmentPlace{scratch.data(), stream});
  stream.synchronize();
  EXPECT_TRUE(out.has_whole_guards() && scratch.has_whole_guards());
  return out.values();
}

template <class Out>
std::vector<Out> augmented(BackEnd back_end, const Speech& speech, const Speech& bank,
                           const AugmentRule& rule) {
  constexpr SampleType kType = sizeof(Out) == 4 ? SampleType::kF32 : SampleType::kPcm16;
  std::vector<Out> out(speech.samples.size(), Out{77});
  AugmentBatch batch{.samples = speech.samples.data(),
                     .begins = speech.begins.data(),
                     .lengths = speech.lengths.data(),
                     .utterances = speech.ids.data(),
                     .num_utterances = static_cast<int>(speech.ids.size()),
                     .max_samples = speech.longest(),
                     .noises = {bank.samples.data(), bank.begins.data(), bank.lengths.data(),
                                static_cast<int>(bank.ids.size())},
                     .out = out.data(),
                     .out_type = kType};
  if (back_end == BackEnd::kCuda) return augmented_on_gpu(speech, bank, rule, batch, out);
  augment_batch(batch, rule);
  return out;
}

}  // namespace stoker::audio
