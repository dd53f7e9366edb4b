// One sound, one text: what the engine makes of them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "crossing.h"
#include "stoker/audio/feature_file.h"
#include "stoker/data/open_tokenizer.h"

namespace stoker::python {
namespace {

template <class Sample>
using Samples = nb::ndarray<const Sample, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Frames = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

Frames frames_of(audio::FileFeatures features) {
  auto values = std::make_unique<std::vector<float>>(std::move(features.values));
  float* const data = values->data();
  const nb::capsule owner(
      values.release(), [](void* held) noexcept { delete static_cast<std::vector<float>*>(held); });
  return Frames(data, {features.num_frames, features.num_mels}, owner);
}

template <class Sample>
Frames sample_features(audio::FeatureMaker& self, const Samples<Sample>& samples,
                       std::uint32_t rate_hz) {
  constexpr bool kIsFloat = std::is_same_v<Sample, float>;
  const audio::InterleavedSamples in{
      .format = kIsFloat ? audio::SampleFormat::kF32 : audio::SampleFormat::kS16,
      .bytes = std::as_bytes(std::span(samples.data(), samples.size()))};
  return frames_of(without_gil([&] { return self.run(in, rate_hz).take_or_raise(); }));
}

void bind_features(nb::module_& module) {
  nb::class_<audio::FeatureMaker>(module, "FeatureMaker")
      .def(
          "__init__",
          [](audio::FeatureMaker* self, const std::string& config, const Keywords& keywords) {
            new (self) audio::FeatureMaker(settings_of("features", config, keywords).features);
          },
          nb::arg("config"), nb::arg("keywords"))
      .def_prop_ro("rate_hz",
                   [](const audio::FeatureMaker& self) { return self.recipe().sample_rate_hz; })
      .def(
          "file",
          [](audio::FeatureMaker& self, const std::string& path) {
            return frames_of(
                without_gil([&] { return self.run(system_io(), path).take_or_raise(); }));
          },
          nb::arg("path"))
      .def("samples", &sample_features<float>, nb::arg("samples").noconvert(), nb::arg("rate_hz"))
      .def("samples", &sample_features<std::int16_t>, nb::arg("samples").noconvert(),
           nb::arg("rate_hz"));
}

}  // namespace

void bind_verbs(nb::module_& module) {
  bind_features(module);
  module.def(
      "normalize",
      [](const std::string& text, const std::string& config, const Keywords& keywords) {
        const config::Settings settings = settings_of("normalize", config, keywords);
        return data::open_tokenizer(settings.text, system_io()).cleaner().normalize(text);
      },
      nb::arg("text"), nb::arg("config"), nb::arg("keywords"));
  module.def(
      "tokenize",
      [](const std::string& text, const std::string& config, const Keywords& keywords) {
        const config::Settings settings = settings_of("tokenize", config, keywords);
        text::TokenizeScratch scratch;
        return data::tokenize_text(data::open_tokenizer(settings.text, system_io()), text, scratch);
      },
      nb::arg("text"), nb::arg("config"), nb::arg("keywords"));
}

}  // namespace stoker::python
