// A small data set before a simulated GPU, for tests of feeds opened by settings.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "stoker/feed/open_feed.h"
#include "tests/doubles/simulated_gpu.h"
#include "tests/feed/device/log_mel_kernels.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {

inline std::vector<std::string> digests(Feed& feed) {
  std::vector<std::string> found;
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (const auto batch = feed.next()) found.push_back(batch->content_digest().hex());
  }
  return found;
}

inline std::vector<std::string> host_digests(config::Settings settings) {
  settings.run.device = "cpu";
  OpenedFeed opened = open_feed(settings);
  return digests(opened.feed);
}

class OpenDeviceFeedTest : public testing::Test {
 protected:
  OpenDeviceFeedTest() : set_(40), gpu_({.num_devices = 2}), view_(view_of(gpu_)) {
    set_.settings().run.device = "cuda";
    set_.settings().gpu.buffer_size = 4;
    set_.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  }

  OpenedFeed open(const config::Settings& settings, const std::optional<std::string>& state = {}) {
    return open_feed(settings, {.state = state, .devices = &view_});
  }

  SmallDataSet set_;
  SimulatedGpu gpu_;
  DeviceView view_;
};

}  // namespace stoker::feed
