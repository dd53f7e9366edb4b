// What happens to a frame in lanes before a transform of any length.
#if defined(STOKER_AUDIO_MEL_FRAME_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_AUDIO_MEL_FRAME_STEPS_INL_H_
#undef STOKER_AUDIO_MEL_FRAME_STEPS_INL_H_
#else
#define STOKER_AUDIO_MEL_FRAME_STEPS_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/audio/mel/mel_plan.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::audio::HWY_NAMESPACE {
using namespace hwy::HWY_NAMESPACE;

template <class D, class T = TFromD<D> >
HWY_NOINLINE void RemoveDc(D d, size_t count, T* frame) {
  auto sum = Zero(d);
  for (size_t i = 0; i < count; ++i) sum = Add(sum, Load(d, frame + i * MaxLanes(d)));
  const auto mean = Mul(sum, Set(d, T(1) / static_cast<T>(count)));
  for (size_t i = 0; i < count; ++i) {
    T* const at = frame + i * MaxLanes(d);
    Store(Sub(Load(d, at), mean), d, at);
  }
}

// From the end, so that each sample still finds its unchanged predecessor; the first is its own.
template <class D, class T = TFromD<D> >
HWY_NOINLINE void Emphasise(D d, T factor, size_t count, T* frame) {
  for (size_t i = count; i-- > 0;) {
    T* const at = frame + i * MaxLanes(d);
    const auto before = Load(d, i == 0 ? at : at - MaxLanes(d));
    Store(NegMulAdd(before, Set(d, factor), Load(d, at)), d, at);
  }
}

// Windowed samples as complex points: pairs of them for an even n_fft, else with zero imaginary
// parts.
template <class D, class T = TFromD<D> >
HWY_NOINLINE void FillPoints(D d, const MelPlan& plan, const T* window,
                             std::pair<const T*, T*> frame_and_points) {
  const auto [frame, points] = frame_and_points;
  const size_t spread = plan.fft->n_fft % 2 == 0 ? 1 : 2;
  const size_t total = 2 * plan.fft->num_points;
  for (size_t i = 0; i < total; ++i) Store(Zero(d), d, points + i * MaxLanes(d));
  for (size_t i = 0; i < plan.window_samples; ++i) {
    Store(Mul(Load(d, frame + i * MaxLanes(d)), Set(d, window[i])), d,
          points + i * spread * MaxLanes(d));
  }
}

}  // namespace stoker::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
