#include "stoker/base/io/gzip.h"

#include <zlib.h>

#include <new>

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for this format
constexpr int kMemoryLevel = 8;
constexpr int kQuick = 3;  // written while something else is to be measured

}  // namespace

std::string gzip_member(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, kQuick, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  check_invariant(ended == Z_STREAM_END, "deflateBound() was too small");
  return packed;
}

}  // namespace stoker
