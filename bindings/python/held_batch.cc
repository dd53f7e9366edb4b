#include "held_batch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "stoker/base/number_text.h"

namespace stoker::python {

CodeLine current_line() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  CodeLine line;
  line.line = PyFrame_GetLineNumber(frame);
  const auto code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto file = nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename"));
  const char* const text = file.is_valid() ? PyUnicode_AsUTF8(file.ptr()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return line;
  }
  line.file = text;
  return line;
}

std::uint32_t HeldList::add(HeldPlace place) {
  const Lock lock(mutex_);
  std::size_t at = 0;
  while (at < entries_.size() && entries_[at].is_held) ++at;
  if (at == entries_.size()) entries_.emplace_back();
  entries_[at] = {.is_held = true, .order = num_added_++, .place = std::move(place)};
  return static_cast<std::uint32_t>(at);
}

void HeldList::remove(std::uint32_t entry) {
  const Lock lock(mutex_);
  entries_[entry].is_held = false;
}

std::vector<HeldPlace> HeldList::now() const {
  const Lock lock(mutex_);
  std::vector<Entry> held;
  for (const Entry& entry : entries_)
    if (entry.is_held) held.push_back(entry);
  std::sort(held.begin(), held.end(),
            [](const Entry& a, const Entry& b) { return a.order < b.order; });
  std::vector<HeldPlace> places;
  for (Entry& entry : held) places.push_back(std::move(entry.place));
  return places;
}

std::string held_text(const std::vector<HeldPlace>& held) {
  constexpr std::size_t kMostNamed = 8;
  if (held.empty()) return {};
  std::string text = counted(held.size(), "batch is", "batches are") + " held: ";
  for (std::size_t i = 0; i < std::min(held.size(), kMostNamed); ++i) {
    const HeldPlace& each = held[i];
    text += (i == 0 ? "epoch " : ", epoch ") + std::to_string(each.epoch) + " batch " +
            std::to_string(each.index);
    if (!each.taken.file.empty())
      text += " (taken at " + each.taken.file + ":" + std::to_string(each.taken.line) + ")";
  }
  return held.size() > kMostNamed ? text + ", …" : text;
}

HeldBatch::HeldBatch(feed::Batch batch, std::shared_ptr<HeldList> list, CodeLine taken)
    : batch_(std::make_unique<feed::Batch>(std::move(batch))),
      list_(std::move(list)),
      entry_(list_->add({batch_->epoch(), batch_->index(), std::move(taken)})),
      process_(::getpid()) {}

HeldBatch::~HeldBatch() {
  if (::getpid() == process_) {
    list_->remove(entry_);
  } else {
    static_cast<void>(batch_.release());
  }
}

}  // namespace stoker::python
