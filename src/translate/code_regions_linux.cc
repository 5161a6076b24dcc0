#include "translate/code_regions.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>

namespace contrafact::translate {
namespace {

constexpr uint64_t kPageBytes = 4096;

uint64_t page_of(uint64_t address) {
  return address & ~(kPageBytes - 1);
}

uint64_t page_behind(uint64_t address) {
  return page_of(address + kPageBytes - 1);
}

// The C library loads and unloads converters of character sets, through no function that we interpose.
CodeKind kind_of_code(std::string_view name) {
  if (name.find("/gconv/") != name.npos) return CodeKind::generated;
  if (name.find("/ld-linux-") != name.npos) return CodeKind::unlogged;
  return name.find("/libcontrafact_accesses.") != name.npos ? CodeKind::runtime : CodeKind::program;
}

CodeKind kind_of(const Elf64_Phdr& segment, std::string_view name) {
  if ((segment.p_flags & PF_R) == 0 || (segment.p_flags & PF_W) != 0) return CodeKind::none;
  return (segment.p_flags & PF_X) != 0 ? kind_of_code(name) : CodeKind::constant;
}

int protection_of(CodeKind kind) {
  return kind == CodeKind::constant ? PROT_READ : PROT_READ | PROT_EXEC;
}

// The kind is unknown where an object has not been met yet.
CodeState state_after(const Region& region, int protection) {
  if (region.state == CodeState::replaced) return CodeState::replaced;
  const bool is_own = region.kind == CodeKind::none ? (protection & PROT_READ) != 0 && (protection & PROT_WRITE) == 0
                                                    : protection == protection_of(region.kind);
  return is_own ? CodeState::as_mapped : CodeState::reprotected;
}

}  // namespace

CodeRegions::Table& CodeRegions::Table::operator=(const Table& other) {
  if (this == &other) return *this;
  regions = other.regions;
  std::copy_n(other.objects, other.object_count, objects);
  object_count = other.object_count;
  is_closed = other.is_closed;
  return *this;
}

CodeRegions::Table& CodeRegions::begin_change() {
  Table& next = tables_[1 - current_.load(std::memory_order_relaxed)];
  next = now();
  return next;
}

void CodeRegions::add_native(uint64_t begin, uint64_t end) {
  if (native_count_ < kNativeMax) native_[native_count_++] = {begin, end, CodeKind::native};
}

void CodeRegions::take_over(const CodeRegions& parent) {
  tables_[0] = parent.now();
  current_.store(0, std::memory_order_relaxed);
  std::copy_n(parent.native_, parent.native_count_, native_);
  native_count_ = parent.native_count_;
  finder_ = parent.finder_;
  take_as_made(parent);
}

// Another thread of the parent was making the changes, and is not here to report whether it did.
void CodeRegions::take_as_made(const CodeRegions& parent) {
  const auto nothing = [](uint64_t, uint64_t) {};
  parent.pending_.each([&](uint64_t begin, uint64_t end) { change({begin, end, true, PROT_NONE}, nothing); });
  for (size_t i = 0; parent.unloads_ > 0 && i < now().object_count;) {
    if (!now().objects[i].may_go) {
      ++i;
    } else if (!forget(now().objects[i])) {
      return;
    }
  }
}

void CodeRegions::read_loaded() {
  finder_.prepare();
  const auto add_one = [](dl_phdr_info* info, size_t, void* argument) {
    auto* self = static_cast<CodeRegions*>(argument);
    LoadedObject object{UINT64_MAX, 0, nullptr, nullptr, 0, false};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const Elf64_Phdr& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      object.begin = std::min(object.begin, page_of(info->dlpi_addr + segment.p_vaddr));
      object.end = std::max(object.end, page_behind(info->dlpi_addr + segment.p_vaddr + segment.p_memsz));
    }
    if (object.begin >= object.end) return 0;
    if (self->finder_.is_able() && !self->finder_.find(object.begin, object)) return 0;  // learnt when it is met
    if (self->page_.read(object.begin) == FirstPage::Read::whole) object.content = self->page_.hash();
    self->add(object, {info->dlpi_addr, info->dlpi_name, {info->dlpi_phdr, info->dlpi_phnum}});
    return 0;
  };
  dl_iterate_phdr(add_one, this);
}

bool CodeRegions::knows(const LoadedObject& object) const {
  const LoadedObject* known = object_meeting(object.begin, object.end);
  return known && known->is_at_place_of(object);
}

const LoadedObject* CodeRegions::object_meeting(uint64_t begin, uint64_t end) const {
  const LoadedObject* behind = now().objects + now().object_count;
  const LoadedObject* found = std::find_if(
      now().objects, behind, [&](const LoadedObject& object) { return object.begin < end && object.end > begin; });
  return found == behind ? nullptr : found;
}

bool CodeRegions::end_change(bool fits) {
  const uint32_t next = 1 - current_.load(std::memory_order_relaxed);
  if (!fits) {
    tables_[next].regions.clear();
    tables_[next].object_count = 0;
    tables_[next].is_closed = true;
  }
  current_.store(next, std::memory_order_release);
  return fits;
}

bool CodeRegions::forget(const LoadedObject& object) {
  const auto index = static_cast<size_t>(&object - now().objects);
  Table& next = begin_change();
  const LoadedObject& gone = next.objects[index];
  const bool fits = next.regions.edit(gone.begin, gone.end, false, [](Region& region) {
    region.kind = CodeKind::none;
    region.state = CodeState::as_mapped;
  });
  std::copy(next.objects + index + 1, next.objects + next.object_count, next.objects + index);
  --next.object_count;
  return end_change(fits);
}

// Changes that the program made to an object that was never met have gone with the object.
void CodeRegions::forget_unknown() {
  const auto is_forgotten = [this](const Region& region) {
    LoadedObject object;
    return region.kind == CodeKind::none && !finder_.find(region.begin, object);
  };
  bool any = false;
  for (size_t i = 0; i < now().regions.size() && !any; ++i) any = is_forgotten(now().regions[i]);
  if (!any) return;
  Table& next = begin_change();
  end_change(next.regions.edit(0, UINT64_MAX, false, [&](Region& region) {
    if (is_forgotten(region)) region.state = CodeState::as_mapped;
  }));
}

// The thread is about to run code of the object, which is there for as long as that takes.
void CodeRegions::add_at_its_place(LoadedObject object) {
  switch (page_.read(object.begin)) {
    case FirstPage::Read::whole:
      object.content = page_.hash();
      break;
    case FirstPage::Read::not_possible:
      page_.read_mapped(object.begin);
      break;
    case FirstPage::Read::no_memory:
      return;
  }
  const auto* record = static_cast<const link_map*>(object.link_map);
  add(object, {record->l_addr, record->l_name ? record->l_name : "", page_.program_headers()});
}

// Changes that the program made before the object was known stay in force. An object for which there is no room stays
// unknown.
void CodeRegions::add(const LoadedObject& object, const Headers& headers) {
  if (now().is_closed || now().object_count == kObjectsMax) return;
  Table& next = begin_change();
  bool fits = true;
  const auto put = [&](uint64_t begin, uint64_t end, CodeKind kind) {
    fits =
        fits && next.regions.edit(std::max(begin, object.begin), std::min(end, object.end), true, [&](Region& region) {
          if (region.kind == CodeKind::none) region.kind = kind;
        });
  };
  for (const Elf64_Phdr& segment : headers.list) {
    const uint64_t begin = headers.bias + segment.p_vaddr, end = begin + segment.p_memsz;
    // The loader seals whole pages, and not the last one if other variables lie on it.
    if (segment.p_type == PT_GNU_RELRO) put(page_of(begin), page_of(end), CodeKind::constant);
    if (segment.p_type == PT_LOAD) put(page_of(begin), page_behind(end), kind_of(segment, headers.name));
  }
  if (!fits) return;
  next.objects[next.object_count++] = object;
  end_change(true);
}

bool CodeRegions::meets_code(const MappingChange& change) const {
  if (now().is_closed || change.begin >= change.end) return false;
  const auto is_of_unknown = [this](uint64_t address) {
    LoadedObject object;
    return finder_.find(address, object) && !knows(object);
  };
  return now().regions.knows_any(change.begin, change.end) || is_of_unknown(change.begin) ||
         is_of_unknown(change.end - 1);
}

// Of an object that is not known yet: its headers may be what has gone.
bool CodeRegions::note_unknown_object(Table& next, const MappingChange& change, uint64_t address) {
  LoadedObject object;
  if (!finder_.find(address, object) || knows(object)) return true;
  return next.regions.edit(
      std::max(change.begin, object.begin), std::min(change.end, object.end), true, [&](Region& region) {
        region.state = change.is_gone ? CodeState::replaced : state_after(region, change.protection);
      });
}

bool CodeRegions::note(Table& next, const MappingChange& change) {
  const bool fits = next.regions.edit(change.begin, change.end, false, [&](Region& region) {
    if (!change.is_gone) {
      region.state = state_after(region, change.protection);
      return;
    }
    const LoadedObject* object = object_meeting(region.begin, region.end);
    LoadedObject there;
    if (object && (!finder_.is_able() || finder_.find(object->begin, there))) {
      region.state = CodeState::replaced;  // a hole in an object that lives on
    } else {
      region.kind = CodeKind::none;
      region.state = CodeState::as_mapped;
    }
  });
  return fits && note_unknown_object(next, change, change.begin) && note_unknown_object(next, change, change.end - 1);
}

bool CodeRegions::apply(const MappingChange& change) {
  Table& next = begin_change();
  return end_change(note(next, change));
}

void CodeRegions::add_file_code(uint64_t begin, uint64_t end) {
  if (now().is_closed) return;
  Table& next = begin_change();
  const bool fits = next.regions.edit(begin, page_behind(end), true, [](Region& region) {
    region.kind = CodeKind::program;
    region.state = CodeState::as_mapped;
  });
  if (fits) end_change(true);
}

Region CodeRegions::at(uint64_t address) const {
  for (size_t i = 0; i < native_count_; ++i) {
    if (address >= native_[i].begin && address < native_[i].end) return native_[i];
  }
  const Region* found = now().regions.find(address);
  if (!found) return {address, address + 1, CodeKind::none};
  Region region = *found;
  if (region.state != CodeState::as_mapped) region.kind = CodeKind::generated;
  return pending_.is_empty() && unloads_ == 0 ? region : as_pending(region, address);
}

bool CodeRegions::is_pending(uint64_t address) const {
  return unloads_ > 0 || pending_.holds(address);
}

// No block of code reaches into what may go.
Region CodeRegions::as_pending(Region region, uint64_t address) const {
  if (pending_.holds(address)) region.kind = CodeKind::generated;
  region.end = pending_.next_behind(address, region.end);
  for (size_t i = 0; unloads_ > 0 && i < now().object_count; ++i) {
    const LoadedObject& object = now().objects[i];
    if (!object.may_go) continue;
    if (object.holds(address)) region.kind = CodeKind::generated;
    if (object.begin > address) region.end = std::min(region.end, object.begin);
  }
  return region;
}

}  // namespace contrafact::translate
