#include "recorder/address_table.h"

#include "recorder/addressed_calls.h"

namespace contrafact::recorder {

size_t AddressMap::slot_of(uint64_t key) const {
  size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);  // 2^64 over the golden ratio spreads the bits
  while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
  return at;
}

uint32_t AddressMap::find(uint64_t key) const {
  const Slot& slot = slots_[slot_of(key)];
  return slot.key == key ? slot.number : UINT32_MAX;
}

void AddressMap::insert(uint64_t key, uint32_t number) {
  if (++used_ * 2 > slots_.size()) grow();
  slots_[slot_of(key)] = {key, number};
}

void AddressMap::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key != 0) slots_[slot_of(slot.key)] = slot;
  }
}

namespace {

uint64_t two_words(const uint32_t* words) {
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

}  // namespace

uint32_t AddressTable::resolve(format::EventKind kind, uint32_t stream, const uint32_t* words, uint32_t* operands) {
  const format::EventSchema& schema = format::schema_of(kind);
  uint32_t read = 0;
  for (size_t i = 0; i < schema.operand_count(); ++i) {
    if (schema.operands[i] == format::Operand::lock) {
      operands[i] = lock_at(two_words(words + read));
      read += 2;
    } else if (schema.operands[i] == format::Operand::connection) {
      operands[i] = connection_at(two_words(words + read));
      read += 2;
    } else if (schema.operands[i] == format::Operand::context) {
      const uint64_t address = two_words(words + read);
      const auto stack = frames_.empty() ? frames_.end() : frames_.find(stream);
      if (stack == frames_.end()) {
        operands[i] = context_at(address).value;
      } else {
        stack->second.insert(stack->second.begin(), address);
        operands[i] = context(stack->second).value;
        frames_.erase(stack);
      }
      read += 2;
    } else if (schema.operands[i] == format::Operand::body) {
      operands[i] = take_body(stream).value;
    } else {
      operands[i] = words[read++];
    }
  }
  return read;
}

void AddressTable::add_frames(uint32_t stream, const uint32_t* words) {
  for (const uint64_t address : {two_words(words), two_words(words + 2)}) {
    if (address != 0) frames_[stream].push_back(address);
  }
}

void AddressTable::add_body(uint32_t stream, const uint32_t* words) {
  bodies_[stream] = two_words(words);
}

format::MethodId AddressTable::take_body(uint32_t stream) {
  const auto body = bodies_.find(stream);
  if (body == bodies_.end()) return {};
  const uint64_t address = body->second;
  bodies_.erase(body);
  return method(address, true);
}

void AddressTable::forget(uint32_t stream) {
  frames_.erase(stream);
  bodies_.erase(stream);
}

AddressTable::Pairs& AddressTable::pairs_of(uint32_t stream) {
  const auto [at, is_new] = pairs_.try_emplace(stream);
  if (is_new) at->second.fill({UINT32_MAX, UINT32_MAX});
  return at->second;
}

AddressTable::Pair AddressTable::resolve_pair(const uint32_t* words) {
  return {lock_at(two_words(words)), context_at(two_words(words + 2)).value};
}

void AddressTable::end(uint32_t stream) {
  forget(stream);
  pairs_.erase(stream);
}

format::MethodId AddressTable::method(uint64_t address, bool is_entry) {
  std::lock_guard lock(mutex_);
  return method_locked(address, is_entry);
}

format::ContextId AddressTable::context(std::span<const uint64_t> return_addresses) {
  std::lock_guard lock(mutex_);
  format::ContextId node;
  for (size_t i = return_addresses.size(); i-- > 0;) {
    if (return_addresses[i] == 0) continue;
    node = tables_.context({node, method_locked(return_addresses[i], false), 0});
  }
  return node;
}

format::MethodId AddressTable::method_locked(uint64_t address, bool is_entry) {
  const uint64_t key = address * 2 + is_entry;
  if (key == 0) return {};
  if (const uint32_t known = methods_.find(key); known != UINT32_MAX) return format::MethodId(known);
  const format::MethodId made = tables_.method_at(address, is_entry);
  methods_.insert(key, made.value);
  if (watches_code_) new_code_.push_back(address);
  return made;
}

format::ContextId AddressTable::context_at(uint64_t return_address) {
  if (return_address == 0) return {};
  if (const uint32_t known = contexts_.find(return_address); known != UINT32_MAX) return format::ContextId(known);
  const format::ContextId made = context({&return_address, 1});
  contexts_.insert(return_address, made.value);
  return made;
}

uint32_t AddressTable::connection_at(uint64_t word) {
  if (word == 0) return UINT32_MAX;
  if (const uint32_t known = connections_.find(word); known != UINT32_MAX) return known;
  format::ConnectionRow row = row_of(word);
  if (has_descriptor(word) && port_of_) row.local_port = port_of_(local_port_of(word), row.remote_port);
  const format::ConnectionId made = tables_.connection(row);
  connections_.insert(word, made.value);
  return made.value;
}

uint32_t AddressTable::lock_at(uint64_t lock_word) {
  if (lock_word == 0) return UINT32_MAX;
  if (const uint32_t known = locks_.find(lock_word); known != UINT32_MAX) return known;
  format::LockRow row;
  row.kind = static_cast<format::LockKind>(lock_word >> kLockKindShift);
  row.address = lock_word & kLockAddressMask;
  const format::LockId made = tables_.lock(row);
  locks_.insert(lock_word, made.value);
  return made.value;
}

}  // namespace contrafact::recorder
