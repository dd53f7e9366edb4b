// The container of Vorbis and Opus: RFC 3533.
#include "stoker/audio/file/coded_sound.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "stoker/audio/file/coded_errors.h"
#include "stoker/base/bytes.h"

namespace stoker::audio {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kHeaderBytes = 27;
constexpr std::uint32_t kEndOfStream = 4;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i << 24U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000'0000U) != 0 ? crc << 1U ^ 0x04C1'1DB7U : crc << 1U;
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

// The page's checksum is taken with its own four bytes (22 to 25) as zero.
std::uint32_t page_crc(Bytes page) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::uint32_t byte = i >= 22 && i < 26 ? 0 : std::to_integer<std::uint32_t>(page[i]);
    crc = crc << 8U ^ kCrcTable[(crc >> 24U ^ byte) & 0xFFU];
  }
  return crc;
}

std::string codec_of(Bytes packet) {
  const std::string_view head = view_text(packet.first(std::min<std::size_t>(packet.size(), 8)));
  if (head.starts_with("\x01vorbis")) return "Vorbis";
  if (head.starts_with("OpusHead")) return "Opus";
  if (head.starts_with("\x7F"
                       "FLAC"))
    return "FLAC";
  return "unknown";
}

struct PageHead {
  std::size_t size_bytes = 0;  // header and body
  std::size_t body_at = 0;
  std::uint32_t flags = 0;
  std::uint64_t granule = 0;
  std::uint32_t serial = 0;
  std::uint32_t number = 0;
  std::uint32_t crc = 0;
};

class Walk {
 public:
  explicit Walk(ByteWindow& window) : window_(&window) {}

  Result<OggStream> run() {
    while (at_ < window_->size_bytes()) {
      Result<void> page = one_page();
      if (!page) return page.error();
    }
    if (!ended_)
      return fault(kOggTrunc, "the end mark on the last page",
                   fmt::format("the end of the file after page {}", stream_.num_pages));
    return stream_;
  }

 private:
  Error fault(const ErrorCode& code, std::string promised, std::string found) const {
    return {&code, {window_->file().path(), {}, {}, at_}, std::move(promised), std::move(found), "",
            ""};
  }

  Result<PageHead> read_head() {
    Result<Bytes> fixed = window_->view(at_, kHeaderBytes + 255);
    if (!fixed) return std::move(fixed).error();
    const Bytes bytes = *fixed;
    if (bytes.size() < kHeaderBytes)
      return fault(kOggTrunc, "a page header of 27 bytes", fmt::format("{} bytes", bytes.size()));
    if (view_text(bytes.first(4)) != "OggS" || bytes[4] != std::byte{0})
      return fault(kOggPage, "OggS at the start of a page", "other bytes");
    const auto segments = std::to_integer<std::size_t>(bytes[26]);
    if (bytes.size() < kHeaderBytes + segments)
      return fault(kOggTrunc, fmt::format("{} segment lengths", segments), "the end of the file");
    PageHead head{.body_at = kHeaderBytes + segments,
                  .flags = std::to_integer<std::uint32_t>(bytes[5]),
                  .granule = load_le<std::uint64_t>(&bytes[6]),
                  .serial = load_le<std::uint32_t>(&bytes[14]),
                  .number = load_le<std::uint32_t>(&bytes[18]),
                  .crc = load_le<std::uint32_t>(&bytes[22])};
    head.size_bytes = head.body_at;
    for (std::size_t i = 0; i < segments; ++i)
      head.size_bytes += std::to_integer<std::size_t>(bytes[kHeaderBytes + i]);
    return head;
  }

  Result<void> check_order(const PageHead& head) {
    if (stream_.num_pages == 0) serial_ = head.serial;
    if (head.serial != serial_ || ended_)
      return fault(kOggChained, "one stream",
                   fmt::format("a second one at page {}", stream_.num_pages));
    if (head.number != stream_.num_pages)
      return fault(kOggPage, fmt::format("page number {}", stream_.num_pages),
                   fmt::format("number {}", head.number));
    return {};
  }

  Result<void> one_page() {
    Result<PageHead> head = read_head();
    if (!head) return std::move(head).error();
    Result<Bytes> page = window_->view(at_, head->size_bytes);
    if (!page) return std::move(page).error();
    if (page->size() < head->size_bytes)
      return fault(kOggTrunc, fmt::format("a page of {} bytes", head->size_bytes),
                   fmt::format("{} bytes", page->size()));
    if (page_crc(*page) != head->crc)
      return fault(kOggPage, fmt::format("CRC {:08x} for page {}", head->crc, stream_.num_pages),
                   fmt::format("{:08x}", page_crc(*page)));
    if (Result<void> order = check_order(*head); !order) return order;
    if (stream_.num_pages == 0) stream_.codec = codec_of(page->subspan(head->body_at));
    if (head->granule != ~std::uint64_t{0}) stream_.last_granule = head->granule;
    ended_ = (head->flags & kEndOfStream) != 0;
    ++stream_.num_pages;
    at_ += head->size_bytes;
    return {};
  }

  ByteWindow* window_;
  std::uint64_t at_ = 0;
  std::uint32_t serial_ = 0;
  bool ended_ = false;
  OggStream stream_;
};

}  // namespace

Result<OggStream> check_ogg_pages(ByteWindow& window) { return Walk(window).run(); }

}  // namespace stoker::audio
