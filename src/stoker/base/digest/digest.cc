#define XXH_STATIC_LINKING_ONLY
#include "stoker/base/digest/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace stoker {

struct DigestStream::State {
  XXH3_state_t hash;
};

std::string Digest128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::string Digest128::short_hex() const { return fmt::format("{:016x}", high); }

Digest128 digest_of(std::span<const std::byte> bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Digest128 digest_of(std::string_view text) noexcept {
  return digest_of(std::as_bytes(std::span(text.data(), text.size())));
}

std::uint64_t hash64(std::string_view text) noexcept {
  return XXH3_64bits(text.data(), text.size());
}

DigestStream::DigestStream() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}
DigestStream::~DigestStream() = default;
DigestStream::DigestStream(DigestStream&&) noexcept = default;
DigestStream& DigestStream::operator=(DigestStream&&) noexcept = default;

void DigestStream::add(std::span<const std::byte> bytes) noexcept {
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

void DigestStream::add_text(std::string_view text) noexcept {
  add_number(static_cast<std::uint64_t>(text.size()));
  add(std::as_bytes(std::span(text.data(), text.size())));
}

Digest128 DigestStream::finish() const noexcept {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  return {hash.high64, hash.low64};
}

}  // namespace stoker
