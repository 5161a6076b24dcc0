#include "symbols/code_reader.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "model/processes.h"
#include "symbols/address_owners.h"
#include "symbols/code_scopes.h"
#include "symbols/demangle.h"
#include "symbols/unit_index.h"

namespace contrafact::symbols {

struct CodeReader::Session {
  Dwfl_Callbacks callbacks{};
  std::string debug_places;    // in libdw's form
  char* debug_path = nullptr;  // of them; null: the usual ones
  Dwfl* dwfl = nullptr;
  std::map<std::pair<std::string, uint64_t>, Dwfl_Module*> reported;  // by path and bias
  std::vector<Dwfl_Module*> modules;  // as in the map; null where the file cannot be used
  AddressOwners owners;               // of their whole files, not of their code alone
  std::map<Dwfl_Module*, UnitIndex> units;
};

namespace {

std::string hex(const unsigned char* bytes, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// Whether the file's code can lie at one place only: an executable that is not position-independent.
bool has_fixed_place(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  unsigned char header[EI_NIDENT + 2] = {};  // its type comes next, the lower byte first
  file.read(reinterpret_cast<char*>(header), sizeof header);
  return file && header[EI_NIDENT] == ET_EXEC && header[EI_NIDENT + 1] == 0;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const char* name = nullptr;
  for (const unsigned key : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (!name && dwarf_attr_integrate(die, key, &attribute)) name = dwarf_formstring(&attribute);
  }
  if (!name) name = dwarf_diename(die);
  return name ? function_name(name) : "?";
}

bool is_function(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

// Where the inlined function `die` was called from.
CodeFrame call_place(Dwarf_Die* unit, Dwarf_Die* die) {
  CodeFrame place;
  Dwarf_Attribute attribute;
  Dwarf_Word value;
  if (dwarf_attr(die, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &value) == 0) {
    place.line = static_cast<uint32_t>(value);
  }
  Dwarf_Files* files;
  if (dwarf_attr(die, DW_AT_call_file, &attribute) && dwarf_formudata(&attribute, &value) == 0 &&
      dwarf_getsrcfiles(unit, &files, nullptr) == 0) {
    if (const char* file = dwarf_filesrc(files, value, nullptr, nullptr)) place.file = file;
  }
  return place;
}

// The functions around `address`, innermost first; empty without DWARF.
std::vector<CodeFrame> dwarf_frames(const UnitIndex::Unit& unit, uint64_t address) {
  std::vector<CodeFrame> frames;
  if (!unit.die) return frames;
  std::vector<Dwarf_Die> scopes = scopes_at(unit.die, address - unit.bias);
  CodeFrame place;
  if (Dwarf_Line* line = dwarf_getsrc_die(unit.die, address - unit.bias)) {
    int number = 0;
    if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) place.file = file;
    if (dwarf_lineno(line, &number) == 0) place.line = static_cast<uint32_t>(number);
  }
  for (Dwarf_Die& scope : scopes) {
    if (!is_function(&scope)) continue;
    place.function = name_of(&scope);
    frames.push_back(place);
    if (dwarf_tag(&scope) == DW_TAG_subprogram) break;
    place = call_place(unit.die, &scope);
  }
  return frames;
}

// Finds modules by where libdw lays them: a module's variables lie outside of its code. libdw's own search ignores when
// a module was loaded.
AddressOwners owners_of(const std::vector<Dwfl_Module*>& modules) {
  std::vector<AddressRange> ranges(modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    Dwarf_Addr begin = 0, end = 0;
    if (modules[i]) dwfl_module_info(modules[i], nullptr, &begin, &end, nullptr, nullptr, nullptr, nullptr);
    ranges[i] = {begin, end};
  }
  return AddressOwners(ranges);
}

// The user's folders come before the usual places: beside the file, .debug beside it, /usr/lib/debug.
std::string debug_places(std::string_view folders) {
  return fmt::format(":.debug:{}:/usr/lib/debug", folders);
}

}  // namespace

CodeReader::CodeReader(const ModuleMap& modules) : session_(std::make_unique<Session>()), modules_(modules) {
  session_->callbacks.find_elf = dwfl_build_id_find_elf;
  session_->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  session_->callbacks.section_address = dwfl_offline_section_address;
  session_->callbacks.debuginfo_path = &session_->debug_path;
  if (const char* folders = std::getenv(kDebugFoldersVariable); folders && *folders) {
    session_->debug_places = debug_places(folders);
    session_->debug_path = session_->debug_places.data();
  }
  session_->dwfl = dwfl_begin(&session_->callbacks);
  session_->modules.assign(modules.modules().size(), nullptr);
  if (!session_->dwfl) return;
  dwfl_report_begin(session_->dwfl);
  for (size_t i = modules.modules().size(); i-- > 0;) session_->modules[i] = report(modules.modules()[i]);
  dwfl_report_end(session_->dwfl, nullptr, nullptr);
  session_->owners = owners_of(session_->modules);
}

// libdw's module for it; null, with a problem noted, if its file cannot be used.
Dwfl_Module* CodeReader::report(const Module& module) {
  if (module.bias != 0 && has_fixed_place(module.path)) {  // libdw takes it for the same as that at its place
    problems_.push_back(fmt::format("{} was mapped a second time: the code there is shown by address", module.path));
    return nullptr;
  }
  // A library that came back to its place is one module: libdw refuses the second report, and then frees the first.
  const auto [place, is_first] = session_->reported.try_emplace({module.path, module.bias}, nullptr);
  if (is_first) {
    place->second = dwfl_report_elf(session_->dwfl, module.path.c_str(), module.path.c_str(), -1, module.bias, false);
    if (!place->second) problems_.push_back(fmt::format("{}: {}", module.path, dwfl_errmsg(-1)));
  }
  Dwfl_Module* reported = place->second;
  if (!reported || module.build_id.empty()) return reported;
  const unsigned char* bits;
  GElf_Addr address;
  GElf_Addr bias;
  dwfl_module_getelf(reported, &bias);  // else the build id is not known
  const int bytes = dwfl_module_build_id(reported, &bits, &address);
  if (bytes > 0 && hex(bits, bytes) == module.build_id) return reported;
  std::string problem = fmt::format("{} is not the file that was recorded: its code is shown by address", module.path);
  if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
  return nullptr;
}

CodeReader::~CodeReader() {
  if (session_->dwfl) dwfl_end(session_->dwfl);
}

std::vector<CodeFrame> CodeReader::frames(uint64_t address) {
  const uint32_t at = modules_.find(address);
  if (at == UINT32_MAX) return {{fmt::format("{:#x}", model::without_space(address)), "", 0}};
  const Module& module = modules_.modules()[at];
  const std::string file(base_name(module.path));
  Dwfl_Module* known = session_->modules[at];
  if (known) {
    std::vector<CodeFrame> frames = dwarf_frames(session_->units[known].at(known, address), address);
    if (!frames.empty()) return frames;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name = dwfl_module_addrinfo(known, address, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name) return {{fmt::format("{}+{:#x}", function_name(name), offset), file, 0}};
  }
  return {{fmt::format("{:#x}", address - module.bias), file, 0}};
}

CodeFrame CodeReader::function(uint64_t address) {
  CodeFrame frame = frames(address).back();
  const uint32_t at = modules_.find(address);
  Dwfl_Module* known = at == UINT32_MAX ? nullptr : session_->modules[at];
  if (!known) return frame;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(known, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name && offset == 0) frame.function = function_name(name);
  return frame;
}

std::string CodeReader::variable(uint64_t address) {
  const uint32_t at = session_->owners.find(address);
  if (at == AddressOwners::kNone) return {};
  Dwfl_Module* module = session_->modules[at];
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) return {};
  const std::string text = function_name(name);
  return offset == 0 ? text : fmt::format("{}+{}", text, offset);
}

}  // namespace contrafact::symbols
