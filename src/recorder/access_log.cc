#include "recorder/access_log.h"

#include <algorithm>
#include <cstring>

namespace contrafact::recorder {
namespace {

constexpr uint32_t kAccessCallBytes = kAccessLogWords * sizeof(uint32_t);
constexpr uint32_t kHeadWords = sizeof(AccessChunkHead) / sizeof(uint32_t);

bool append_access_words(Client* client, const void* bytes) {
  return Recorder::append_16_bytes(client, kAccessLogCall, bytes);
}

bool is_sound(const AccessChunkHead& head) {
  return head.bytes <= format::kAccessChunkBytesMax && head.gap <= static_cast<uint32_t>(format::kSetGapLast) &&
         head.end_ns >= head.begin_ns;
}

}  // namespace

bool append_access_chunk(Client* client, const AccessChunkHead& head, const uint8_t* bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(&head);
  if (!append_access_words(client, first) || !append_access_words(client, first + kAccessCallBytes)) return false;
  for (uint32_t at = 0; at < head.bytes; at += kAccessCallBytes) {
    if (!append_access_words(client, bytes + at)) return false;
  }
  return true;
}

void AccessLogTable::add(uint32_t stream, const uint32_t* words) {
  Unfinished& chunk = unfinished_[stream];
  const auto* bytes = reinterpret_cast<const uint8_t*>(words);
  if (chunk.words < kHeadWords) {
    std::memcpy(reinterpret_cast<uint32_t*>(&chunk.head) + chunk.words, words, kAccessCallBytes);
    chunk.words += kAccessLogWords;
    chunk.bytes.clear();
  } else {
    const size_t missing = chunk.head.bytes - chunk.bytes.size();
    chunk.bytes.insert(chunk.bytes.end(), bytes, bytes + std::min<size_t>(missing, kAccessCallBytes));
  }
  if (chunk.words == kHeadWords && chunk.bytes.size() >= chunk.head.bytes) finish(stream, chunk);
}

void AccessLogTable::finish(uint32_t stream, Unfinished& chunk) {
  if (is_sound(chunk.head)) {
    new_chunks_.push_back({stream, chunk.head, new_bytes_.size()});
    new_bytes_.insert(new_bytes_.end(), chunk.bytes.begin(), chunk.bytes.end());
  }
  chunk.words = 0;
}

void AccessLogTable::forget(uint32_t stream) {
  unfinished_.erase(stream);
}

std::vector<format::AccessChunk> AccessLogTable::take_new() {
  std::vector<format::AccessChunk> out;
  out.reserve(new_chunks_.size());
  taken_bytes_.swap(new_bytes_);
  new_bytes_.clear();
  for (const NewChunk& chunk : new_chunks_) {
    out.push_back({.thread = chunk.stream,
                   .gap = static_cast<format::SetGap>(chunk.head.gap),
                   .begin_ns = chunk.head.begin_ns,
                   .end_ns = chunk.head.end_ns,
                   .lost = chunk.head.lost,
                   .accesses = chunk.head.accesses,
                   .bytes = std::span(taken_bytes_).subspan(chunk.begin, chunk.head.bytes)});
  }
  new_chunks_.clear();
  return out;
}

}  // namespace contrafact::recorder
