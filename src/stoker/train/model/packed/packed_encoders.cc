// The layers and encoders on packed rows: the same functions as on padded ones, of true places
// alone.
#include <ATen/ATen.h>

#include "stoker/train/model/encoders.h"

namespace stoker::train {
namespace {

// The same convolution along each row, then GELU.
at::Tensor convolve(const TimeConvolution& convolution, const at::Tensor& values,
                    const PackedRows& from, const PackedRows& to) {
  const TimeConvolution::Size& size = convolution.size();
  return fused::linear_gelu(fused::unfold(values, {size.kernel, size.stride}, from, to),
                            convolution.weight(), convolution.bias());
}

at::Tensor normed(const LayerNorm& norm, const at::Tensor& values, const PackedRows& rows) {
  return fused::layer_norm(values, norm.weight(), norm.bias(), rows);
}

at::Tensor lengths_of(const PackedRows& rows) { return at::diff(rows.begins).to(at::kLong); }

// Where in [0, …) each row of some begins, i64 [B + 1]; read by the number of a row.
at::Tensor begins_by(const PackedRows& rows, const at::Tensor& row) {
  return rows.begins.to(at::kLong).index_select(0, row);
}

at::Tensor none_behind(const at::Tensor& indices, const PackedRows& rows) {
  return indices.masked_fill(is_within(rows).logical_not(), -1);
}

at::Tensor row_numbers(const PackedRows& rows) {
  return rows.row_of.to(at::kLong).clamp_max(rows.num_rows() - 1);
}

at::Tensor edged_ids(const at::Tensor& tokens, const at::Tensor& text_len, const PackedRows& rows,
                     std::int64_t num_tokens) {
  const at::Tensor row = row_numbers(rows);
  const at::Tensor place = place_in_row(rows);
  const at::Tensor length = text_len.index_select(0, row);
  const at::Tensor first = (text_len.cumsum(0) - text_len).index_select(0, row);
  const at::Tensor room = at::constant_pad_nd(tokens, {0, 1});
  const at::Tensor inner = room.index_select(0, (first + place - 1).clamp(0, tokens.size(0)));
  const at::Tensor ids =
      inner.masked_fill(place.eq(0), num_tokens).masked_fill_(place.eq(length + 1), num_tokens + 1);
  return none_behind(ids, rows);
}

Rearrangement way_to_voice(const PackedText& text, std::int64_t num_latents) {
  const PackedRows& both = text.with_voice;
  const std::int64_t all_latents = both.num_rows() * num_latents;
  const at::Tensor row = row_numbers(both);
  const at::Tensor place = place_in_row(both);
  const at::Tensor latent = row * num_latents + place;
  const at::Tensor token = begins_by(text.rows, row) + place + (all_latents - num_latents);
  const at::Tensor latents = at::arange(all_latents, row.options());
  const at::Tensor latent_row = latents.floor_divide(num_latents);
  const at::Tensor text_row = row_numbers(text.rows);
  return {none_behind(at::where(place.lt(num_latents), latent, token), both),
          at::cat({begins_by(both, latent_row) + latents.remainder(num_latents),
                   none_behind(begins_by(both, text_row) + place_in_row(text.rows) + num_latents,
                               text.rows)})};
}

}  // namespace

at::Tensor FeedForward::packed(const at::Tensor& values) const {
  return fused::feed_forward(values, up_, down_);
}

at::Tensor SelfAttention::operator()(const at::Tensor& values, const PackedRows& rows) const {
  return fused::linear(fused::attention(fused::linear(values, query_key_value_), num_heads_, rows),
                       out_);
}

at::Tensor CrossAttention::operator()(const at::Tensor& latents, const at::Tensor& values,
                                      const PackedRows& rows) const {
  const at::Tensor queries = fused::linear(latents, query_).repeat({rows.num_rows(), 1});
  return fused::linear(
      fused::cross_attention(queries, fused::linear(values, key_value_), num_heads_, rows), out_);
}

Voice ReferenceEncoder::operator()(const at::Tensor& mel, const PackedRows& rows) const {
  const std::int64_t num_rows = rows.num_rows();
  const PackedRows half = pack_rows((lengths_of(rows) + 1).floor_divide(2),
                                    (rows.num_places() + num_rows) / 2, (rows.longest + 1) / 2);
  const at::Tensor near = convolve(first_, mel, rows, rows);
  const at::Tensor wide = normed(norm_, convolve(second_, near, rows, half), half);
  const std::int64_t num_latents = latents_.sizes()[0];
  const at::Tensor queries =
      fused::embed(at::arange(num_latents, at::device(mel.device()).dtype(at::kLong)), latents_,
                   fused::Result::kFloat);
  const at::Tensor latents = queries.repeat({num_rows, 1}) + attention_(queries, wide, half);
  const at::Tensor mean = latents.unflatten(0, {num_rows, num_latents}).mean(1);
  return {latents, fused::linear(mean, pooled_, fused::Result::kFloat)};
}

fused::SumAndNorm TextBlock::operator()(const fused::SumAndNorm& values, const LayerNorm& next,
                                        const fused::Dropout& dropout,
                                        const PackedRows& rows) const {
  fused::Dropout second = dropout;
  ++second.site;
  const fused::SumAndNorm middle =
      fused::add_dropped_norm(values.sum, attention_(values.norm, rows), dropout,
                              feed_forward_norm_.weight(), feed_forward_norm_.bias(), rows);
  return fused::add_dropped_norm(middle.sum, feed_forward_.packed(middle.norm), second,
                                 next.weight(), next.bias(), rows);
}

PackedText with_edges(const at::Tensor& tokens, const at::Tensor& text_len, const TextSize& size) {
  const std::int64_t num_rows = text_len.size(0);
  const std::int64_t num_places = tokens.size(0) + 2 * num_rows;
  PackedText text;
  text.rows = pack_rows(text_len + 2, num_places, size.longest + 2);
  text.with_voice =
      pack_rows(text_len + 2 + size.num_latents, num_places + size.num_latents * num_rows,
                size.longest + 2 + size.num_latents);
  text.ids = edged_ids(tokens, text_len, text.rows, size.num_tokens);
  text.to_voice = way_to_voice(text, size.num_latents);
  const std::int64_t all_latents = num_rows * size.num_latents;
  const at::Tensor& from = text.to_voice.from;
  text.to_text = {text.to_voice.to.slice(0, all_latents),
                  at::where(from.ge(all_latents), from - all_latents, -1)};
  return text;
}

at::Tensor TextEncoder::operator()(const PackedText& text, const at::Tensor& latents,
                                   const StepContext& context) const {
  const at::Tensor embedded = fused::embed(text.ids, embedding_, fused::Result::kCompute);
  const at::Tensor tokens = embedded.to(at::kFloat) +
                            convolve(convolution_, embedded, text.rows, text.rows).to(at::kFloat);
  const PackedRows& rows = text.with_voice;
  const at::Tensor first = rearrange(at::cat({latents, tokens}), text.to_voice);
  fused::SumAndNorm values{first, normed(blocks_.front().first_norm(), first, rows)};
  fused::Dropout dropout{context.key, 0, context.dropout};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const LayerNorm& next = i + 1 < blocks_.size() ? blocks_[i + 1].first_norm() : norm_;
    values = blocks_[i](values, next, dropout, rows);
    dropout.site += 2;
  }
  return rearrange(values.norm, text.to_text);
}

at::Tensor DurationPredictor::operator()(const at::Tensor& hidden, const PackedRows& rows,
                                         const StepContext& context) const {
  at::Tensor values = normed(first_norm_, convolve(first_, hidden.detach(), rows, rows), rows);
  values = fused::drop(values, {context.key, first_site_, context.dropout}, rows);
  values = normed(second_norm_, convolve(second_, values, rows, rows), rows);
  values = fused::drop(values, {context.key, first_site_ + 1, context.dropout}, rows);
  return fused::linear(values, weight_, bias_, fused::Result::kFloat).squeeze(1);
}

}  // namespace stoker::train
