#include "recorder/texts.h"

#include <algorithm>

#include "recorder/addressed_calls.h"

namespace contrafact::recorder {
namespace {

constexpr size_t kTextCallBytes = kTextWords * sizeof(uint32_t);

bool append_text_words(Client* client, const void* bytes) {
  return Recorder::append_16_bytes(client, kTextCall, bytes);
}

}  // namespace

bool append_text(Client* client, TextKind kind, uint32_t number, std::string_view key, std::string_view value) {
  static_assert(sizeof(TextTable::Head) == kTextCallBytes);
  key = key.substr(0, kTextBytesMax);
  value = value.substr(0, kTextBytesMax - key.size());
  const TextTable::Head head{static_cast<uint32_t>(kind), number, static_cast<uint32_t>(key.size()),
                             static_cast<uint32_t>(value.size())};
  if (!append_text_words(client, &head)) return false;
  char piece[kTextCallBytes];
  size_t used = 0;
  for (const std::string_view text : {key, value}) {
    for (const char c : text) {
      piece[used++] = c;
      if (used < kTextCallBytes) continue;
      if (!append_text_words(client, piece)) return false;
      used = 0;
    }
  }
  return used == 0 || append_text_words(client, piece);
}

void TextTable::add(uint32_t stream, const uint32_t* words) {
  Unfinished& text = unfinished_[stream];
  if (!text.has_head) {
    std::memcpy(&text.head, words, sizeof text.head);
    const Head& head = text.head;
    if (head.kind == 0 || head.kind > kTextKindLast || head.key_bytes > kTextBytesMax ||
        head.value_bytes > kTextBytesMax - head.key_bytes) {
      return forget(stream);
    }
    text.has_head = true;
  } else {
    const size_t missing = size_t{text.head.key_bytes} + text.head.value_bytes - text.bytes.size();
    text.bytes.append(reinterpret_cast<const char*>(words), std::min(missing, kTextCallBytes));
  }
  const Head& head = text.head;
  if (text.bytes.size() < size_t{head.key_bytes} + head.value_bytes) return;
  const std::string_view bytes = text.bytes;
  take_(stream,
        {static_cast<TextKind>(head.kind), head.number, bytes.substr(0, head.key_bytes), bytes.substr(head.key_bytes)});
  forget(stream);
}

}  // namespace contrafact::recorder
