#include "stoker/observe/trace/trace_writer.h"

#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/gzip.h"
#include "stoker/base/io/output_file.h"

namespace stoker::observe {

TraceWriter::TraceWriter(TraceFormat format, const TraceHead& head)
    : format_(format),
      encoder_(format == TraceFormat::kPerfetto ? make_perfetto_encoder() : make_chrome_encoder()),
      batches_(std::make_unique<BatchTrace>(*encoder_, head)),
      ending_(packed(encoder_->ending())) {}

TraceWriter::TraceWriter(Sink sink, TraceFormat format, const TraceHead& head)
    : TraceWriter(format, head) {
  sink_ = std::move(sink);
}

TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::open(Io& io, const std::string& path, const TraceHead& head) {
  Result<GrowingOutput> file = GrowingOutput::open(io, path);
  if (!file) return std::move(file).error();
  TraceWriter writer(trace_format_of(path), head);
  writer.file_ = std::make_unique<GrowingOutput>(std::move(file).value());
  writer.flush();
  if (writer.failure_) return *writer.failure_;
  return writer;
}

std::string TraceWriter::packed(std::string_view text) const {
  if (format_ != TraceFormat::kChromeGzip || text.empty()) return std::string(text);
  return gzip_member(text);
}

void TraceWriter::write(bool is_last) {
  if (failure_) return;
  const std::string text = packed(encoder_->take());
  const auto bytes = view_bytes(text);
  const auto ending = view_bytes(ending_);
  Result<void> written = file_ != nullptr ? file_->append(bytes, ending) : sink_(bytes);
  if (written && is_last) written = file_ != nullptr ? file_->finish(ending) : sink_(ending);
  if (!written) {
    failure_ = written.error();
    return;
  }
  num_bytes_ += text.size() + (is_last ? ending.size() : 0);
}

void TraceWriter::flush() { write(false); }

Result<void> TraceWriter::finish() {
  batches_->finish();
  write(true);
  return failure_ ? Result<void>(*failure_) : Result<void>();
}

TraceHead trace_head_of(const feed::RecordFileHead& head) {
  return {.pid = head.pid, .begin_ns = head.begin_ns, .begin_unix_ns = head.begin_unix_ns};
}

}  // namespace stoker::observe
