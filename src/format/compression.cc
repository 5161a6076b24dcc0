#include "format/compression.h"

#include <zstd.h>

#include <cstring>

#include "base/check.h"
#include "format/file_layout.h"

namespace contrafact::format {
namespace {

constexpr uint8_t kCodecNone = 0;
constexpr uint8_t kCodecZstd = 1;
constexpr size_t kPadding = 8;
// A zstd frame is 9 bytes at least; below this there is nothing to win.
constexpr size_t kCompressFrom = 32;

}  // namespace

GroupWriter::GroupWriter(int level) : level_(level), context_(level > 0 ? ZSTD_createCCtx() : nullptr) {}
GroupWriter::~GroupWriter() {
  ZSTD_freeCCtx(context_);
}

void GroupWriter::put(std::vector<uint8_t>& out, std::span<const std::span<const uint8_t>> sections) {
  raw_.clear();
  for (const auto section : sections) raw_.insert(raw_.end(), section.begin(), section.end());
  CHECK(raw_.size() <= kBlockRawBytesMax);
  const size_t codec_at = out.size();
  out.push_back(kCodecNone);
  put_varint(out, raw_.size());
  if (context_ && raw_.size() >= kCompressFrom) {
    packed_.resize(ZSTD_compressBound(raw_.size()));
    const size_t n = ZSTD_compressCCtx(context_, packed_.data(), packed_.size(), raw_.data(), raw_.size(), level_);
    if (!ZSTD_isError(n) && n < raw_.size()) {
      out[codec_at] = kCodecZstd;
      put_varint(out, n);
      out.insert(out.end(), packed_.begin(), packed_.begin() + static_cast<ptrdiff_t>(n));
      return;
    }
  }
  put_varint(out, raw_.size());
  out.insert(out.end(), raw_.begin(), raw_.end());
}

GroupReader::GroupReader() : context_(ZSTD_createDCtx()) {}
GroupReader::~GroupReader() {
  ZSTD_freeDCtx(context_);
}

std::optional<std::span<const uint8_t>> GroupReader::get(ByteReader& in, std::vector<uint8_t>& scratch) {
  const auto codec = in.bytes(1);
  const uint64_t raw_bytes = in.varint();
  const auto stored = in.bytes(in.varint());
  if (!in.ok() || raw_bytes > kBlockRawBytesMax) return std::nullopt;
  if (scratch.size() < raw_bytes + kPadding) scratch.resize(raw_bytes + kPadding);
  if (codec[0] == kCodecNone) {
    if (stored.size() != raw_bytes) return std::nullopt;
    std::memcpy(scratch.data(), stored.data(), stored.size());
  } else if (codec[0] == kCodecZstd) {
    const size_t n = ZSTD_decompressDCtx(context_, scratch.data(), raw_bytes, stored.data(), stored.size());
    if (ZSTD_isError(n) || n != raw_bytes) return std::nullopt;
  } else {
    return std::nullopt;
  }
  return std::span<const uint8_t>(scratch.data(), raw_bytes);
}

}  // namespace contrafact::format
