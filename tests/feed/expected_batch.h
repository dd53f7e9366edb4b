// A batch of the synthetic store computed once more, slowly and part by part, from docs/format.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/philox.h"
#include "stoker/feed/batch.h"
#include "stoker/feed/feed_setup.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {

// What the whole feed was opened with, and which rows cannot be read.
struct ExpectedWorld {
  const SyntheticSource& store;
  BatchLayout layout;
  ExtraParts extras;
  std::uint64_t seed;
  std::set<std::uint32_t> bad_mels;    // empty, also as a reference
  std::set<std::uint32_t> bad_extras;  // empty where samples or arrays are asked for
};

// Mels are f32 here, so that a frame is 8 equal floats.
class ExpectedBatch {
 public:
  ExpectedBatch(const ExpectedWorld& world, const Batch& batch) : world_(world), batch_(batch) {
    const BatchShape& shape = batch.shape();
    const std::size_t num_frames = std::size_t{shape.num_rows} * shape.num_frames;
    mel_.assign(num_frames * 8, world.store.padding());
    tokens_.assign(std::size_t{shape.num_rows} * shape.num_tokens, 0);
    audio_.assign(num_frames * 4, 0.0F);
    reference_.assign(batch.num_rows() * world.extras.reference_frames * 8, world.store.padding());
    mel_segment_.assign(batch.num_rows() * world.extras.segment_frames * 8, world.store.padding());
    wav_segment_.assign(batch.num_rows() * world.extras.segment_frames * 4, 0.0F);
    for (const ArrayKind& kind : world.store.kinds) {
      arrays_.emplace_back(batch.num_rows() * kind.max_length * kind.bytes_per_step());
    }
    for (std::size_t at = 0; at < batch.num_rows(); ++at) add_row(at);
  }

  void compare() const {
    expect_equal(mel_, batch_.mel().data, "mel");
    expect_equal(tokens_, batch_.tokens().data, "tokens");
    if (world_.extras.with_audio) {
      expect_equal(audio_, batch_.audio().data, "audio");
      ASSERT_EQ(batch_.audio().size(), audio_.size());
    }
    if (world_.extras.reference_frames > 0) {
      expect_equal(reference_, batch_.reference_mel().data, "reference_mel");
    }
    if (world_.extras.segment_frames > 0) {
      expect_equal(mel_segment_, batch_.mel_segment().data, "mel_segment");
      expect_equal(wav_segment_, batch_.wav_segment().data, "wav_segment");
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      expect_equal(arrays_[i], batch_.array(world_.store.kinds[i].name).data, "an array");
    }
    EXPECT_EQ(digest_.finish(), batch_.content_digest());
  }

 private:
  template <class T>
  static void expect_equal(const std::vector<T>& expected, const void* found, const char* what) {
    if (expected.empty()) return;  // no memory to compare with
    ASSERT_NE(found, nullptr) << what;
    EXPECT_EQ(std::memcmp(expected.data(), found, expected.size() * sizeof(T)), 0) << what;
  }

  static std::uint32_t row_of(std::string_view id) {
    return static_cast<std::uint32_t>(std::stoul(std::string(id.substr(3))));
  }

  bool is_empty(std::size_t at) const {
    if (batch_.id(at).empty()) return true;
    const std::uint32_t row = row_of(batch_.id(at));
    const bool needs_extras =
        world_.extras.with_audio || world_.extras.segment_frames > 0 || !world_.store.kinds.empty();
    return world_.bad_mels.contains(row) || (needs_extras && world_.bad_extras.contains(row));
  }

  std::uint32_t draw(std::string_view stage, std::string_view id, std::uint32_t present,
                     std::uint32_t wanted) const {
    if (present <= wanted) return 0;
    KeyedDraws draws({world_.seed, stage, batch_.epoch(), hash64(id)});
    return static_cast<std::uint32_t>(draws.next_below(present - wanted + 1));
  }

  void add_row(std::size_t at) {
    const bool empty = is_empty(at);
    const std::uint32_t row = batch_.id(at).empty() ? 0 : row_of(batch_.id(at));
    const SampledUtterance facts = empty ? SampledUtterance{0, 0, 0} : world_.store.rows()[row];
    EXPECT_EQ(batch_.mel_len()[at], static_cast<std::int32_t>(facts.num_frames));
    EXPECT_EQ(batch_.text_len()[at], static_cast<std::int32_t>(facts.num_tokens));
    const bool is_filler = batch_.id(at).empty();
    EXPECT_EQ(batch_.speaker()[at], is_filler ? 0 : world_.store.speaker(row));
    EXPECT_EQ(batch_.language()[at], is_filler ? 0 : world_.store.language(row));
    digest_.add_text(batch_.id(at));
    digest_.add_number(static_cast<std::int32_t>(facts.num_tokens));
    digest_.add_number(static_cast<std::int32_t>(facts.num_frames));
    add_tokens(at, row, facts.num_tokens);
    add_mel(at, row, facts.num_frames);
    digest_.add_number(batch_.speaker()[at]);
    digest_.add_number(batch_.language()[at]);
    if (world_.extras.reference_frames > 0) add_reference(at, row, facts.num_frames);
    if (world_.extras.segment_frames > 0) add_segment(at, row, facts.num_frames);
    if (world_.extras.with_audio) add_audio(at, row, facts.num_frames);
    for (std::size_t i = 0; i < arrays_.size(); ++i) add_array(at, row, i, empty);
  }

  void add_tokens(std::size_t at, std::uint32_t row, std::uint32_t count) {
    std::int32_t* const out = tokens_.data() + batch_.token_begins()[at];
    for (std::uint32_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>(row + i + 1);
    digest_.add(std::as_bytes(std::span(out, count)));
  }

  void put_frames(float* out, std::uint32_t row, std::uint32_t begin, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::fill_n(out + i * std::size_t{8}, 8, SyntheticSource::mel_value(row, begin + i));
    }
    digest_.add(std::as_bytes(std::span(out, count * std::size_t{8})));
  }

  void put_samples(float* out, std::uint32_t row, std::uint32_t begin, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = SyntheticSource::mel_value(row, (begin + i) / 4);
    }
    digest_.add(std::as_bytes(std::span(out, count)));
  }

  void add_mel(std::size_t at, std::uint32_t row, std::uint32_t count) {
    put_frames(mel_.data() + batch_.frame_begins()[at] * std::size_t{8}, row, 0, count);
  }

  // Any other row of the speaker, drawn among them in index order; itself where there is none.
  std::uint32_t reference_row(std::uint32_t row) const {
    if (world_.extras.reference == ReferenceFrom::kSameUtterance) return row;
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = 0; i < world_.store.num_utterances(); ++i) {
      if (i != row && world_.store.speaker(i) == world_.store.speaker(row)) others.push_back(i);
    }
    if (others.empty()) return row;
    KeyedDraws draws(
        {world_.seed, "reference/utterance", batch_.epoch(), hash64(world_.store.id(row))});
    return others[draws.next_below(others.size())];
  }

  void add_reference(std::size_t at, std::uint32_t row, std::uint32_t num_frames) {
    const std::uint32_t wanted = world_.extras.reference_frames;
    std::uint32_t count = 0, begin = 0, from = row;
    if (num_frames > 0) {
      from = reference_row(row);
      const std::uint32_t present =
          world_.bad_mels.contains(from) ? 0 : world_.store.rows()[from].num_frames;
      count = std::min(present, wanted);
      begin = draw("reference/crop", batch_.id(at), present, wanted);
    }
    EXPECT_EQ(batch_.reference_len()[at], static_cast<std::int32_t>(count));
    digest_.add_number(static_cast<std::int32_t>(count));
    put_frames(reference_.data() + at * wanted * std::size_t{8}, from, begin, count);
  }

  void add_segment(std::size_t at, std::uint32_t row, std::uint32_t num_frames) {
    const std::uint32_t wanted = world_.extras.segment_frames;
    const std::uint32_t count = std::min(num_frames, wanted);
    const std::uint32_t begin = draw("segment", batch_.id(at), num_frames, wanted);
    digest_.add_number(static_cast<std::int32_t>(count));
    put_frames(mel_segment_.data() + at * wanted * std::size_t{8}, row, begin, count);
    put_samples(wav_segment_.data() + at * wanted * std::size_t{4}, row, begin * 4, count * 4);
  }

  // Padded: up to the row's end. Packed: up to the utterance's own last frame.
  void add_audio(std::size_t at, std::uint32_t row, std::uint32_t num_frames) {
    const std::uint32_t room =
        world_.layout == BatchLayout::kPadded ? batch_.shape().num_frames : num_frames;
    const std::uint32_t all = num_frames == 0 ? 0 : num_frames * 4 + world_.store.extra_samples;
    const std::uint32_t count = std::min(all, room * 4);
    EXPECT_EQ(batch_.audio_len()[at], static_cast<std::int32_t>(count));
    digest_.add_number(static_cast<std::int32_t>(count));
    put_samples(audio_.data() + batch_.frame_begins()[at] * std::size_t{4}, row, 0, count);
  }

  void add_array(std::size_t at, std::uint32_t row, std::size_t array, bool empty) {
    const ArrayKind& kind = world_.store.kinds[array];
    const std::uint32_t length = empty ? 0 : SyntheticSource::array_length(row, kind);
    EXPECT_EQ(batch_.array(kind.name).lengths[at], static_cast<std::int32_t>(length));
    std::byte* const out = arrays_[array].data() + at * kind.max_length * kind.bytes_per_step();
    const std::size_t size_bytes = length * kind.bytes_per_step();
    for (std::size_t i = 0; i < size_bytes; ++i) {
      out[i] = SyntheticSource::array_byte(row, array, i);
    }
    digest_.add_number(static_cast<std::int32_t>(length));
    digest_.add({out, size_bytes});
  }

  const ExpectedWorld& world_;
  const Batch& batch_;
  std::vector<float> mel_, audio_, reference_, mel_segment_, wav_segment_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::vector<std::byte>> arrays_;
  DigestStream digest_;
};

}  // namespace stoker::feed
