// Fuzz target: bytes as a manifest, as they are and with a last line that fits them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/invariant.h"
#include "stoker/cache/format/manifest.h"

using namespace stoker;
using namespace stoker::cache;

namespace {

void look_at(std::string_view text) {
  const Result<Manifest> manifest = decode_manifest("fuzz.json", view_bytes(text));
  if (!manifest) {
    check_invariant(manifest.error().code != nullptr, "an error without a code");
    return;
  }
  check_invariant(encode_manifest(*manifest) == text, "accepted bytes are the only ones");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  look_at(text);
  if (const std::size_t last = text.rfind("{\"digest\""); last != std::string::npos)
    text.resize(last);
  text += "{\"digest\":\"" + digest_of(std::string_view(text)).hex() + "\"}\n";
  look_at(text);
  return 0;
}
