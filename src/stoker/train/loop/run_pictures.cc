#include "stoker/train/loop/run_pictures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "stoker/base/invariant.h"
#include "stoker/base/report/heat_map.h"

namespace stoker::train {
namespace {

// Values as a heat map wants them: [rows, frames], row 0 at the bottom.
struct Cells {
  std::size_t num_frames = 0;
  std::size_t num_rows = 0;
  std::vector<float> values;
};

Cells mel_cells(std::span<const float> mel, std::size_t num_frames) {
  check_invariant(num_frames > 0 && mel.size() % num_frames == 0, "frames of different lengths");
  Cells cells{num_frames, mel.size() / num_frames, std::vector<float>(mel.size())};
  for (std::size_t frame = 0; frame < num_frames; ++frame)
    for (std::size_t band = 0; band < cells.num_rows; ++band)
      cells.values[band * num_frames + frame] = mel[frame * cells.num_rows + band];
  return cells;
}

// 1 where a frame belongs to a token. A frame outside the text has no cell.
Cells alignment_cells(std::span<const std::int32_t> token_of_frame, std::int64_t num_tokens) {
  const std::int64_t num_rows = std::max<std::int64_t>(num_tokens, 1);
  const std::size_t num_frames = token_of_frame.size();
  Cells cells{num_frames, static_cast<std::size_t>(num_rows), {}};
  cells.values.resize(cells.num_rows * num_frames);
  for (std::size_t frame = 0; frame < num_frames; ++frame) {
    const std::int32_t token = token_of_frame[frame];
    if (token >= 0 && token < num_rows)
      cells.values[static_cast<std::size_t>(token) * num_frames + frame] = 1.0F;
  }
  return cells;
}

HeatPanel mel_panel(const Cells& cells, std::string title) {
  return {.frame = {.title = std::move(title), .x = {.label = "frame"}, .y = {.label = "mel band"}},
          .map = {.num_columns = cells.num_frames,
                  .num_rows = cells.num_rows,
                  .values = cells.values,
                  .value_label = "log-mel"}};
}

HeatPanel alignment_panel(const Cells& cells, std::string title) {
  return {.frame = {.title = std::move(title), .x = {.label = "frame"}, .y = {.label = "token"}},
          .map = {.num_columns = cells.num_frames,
                  .num_rows = cells.num_rows,
                  .values = cells.values,
                  .low = 0.0F,
                  .high = 1.0F,
                  .value_label = "aligned"}};
}

}  // namespace

std::vector<std::byte> mel_picture(const PictureRow& row) {
  if (row.num_frames <= 0) return {};
  const auto num_frames = static_cast<std::size_t>(row.num_frames);
  const Cells heard = mel_cells(row.mel, num_frames);
  const Cells predicted = mel_cells(row.predicted, num_frames);
  std::array panels{mel_panel(heard, row.id + ": as recorded"),
                    mel_panel(predicted, row.id + ": as the text predicts it")};
  const AxisRange range = heat_range(panels[0].map);
  for (HeatPanel& panel : panels) {
    panel.map.low = static_cast<float>(range.low);
    panel.map.high = static_cast<float>(range.high);
  }
  return heat_maps_png(panels);
}

std::vector<std::byte> alignment_picture(const PictureRow& row) {
  if (row.token_of_frame.empty()) return {};
  const Cells cells = alignment_cells(row.token_of_frame, row.num_tokens);
  const HeatPanel panel = alignment_panel(cells, row.id + ": token of each frame");
  return heat_map_png(panel.frame, panel.map);
}

}  // namespace stoker::train
