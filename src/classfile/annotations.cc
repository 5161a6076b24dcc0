#include "classfile/annotations.h"

namespace contrafact::classfile {
namespace {

constexpr int kDepthMax = 32;  // of annotations within annotations; compilers make no deep ones

void skip_value(ByteReader& reader, int depth);

void skip_pairs(ByteReader& reader, int depth) {
  for (uint32_t pairs = reader.u2(); pairs > 0 && reader.ok(); --pairs) {
    reader.u2();
    skip_value(reader, depth + 1);
  }
}

// An element_value of JVMS 4.7.16.1. Beyond the depth the rest is skipped whole, so that the reader is not ok any more.
void skip_value(ByteReader& reader, int depth) {
  if (depth > kDepthMax) {
    reader.take(reader.remaining() + 1);
    return;
  }
  switch (reader.u1()) {
    case 'e':
      reader.u4();
      break;
    case '@':
      reader.u2();
      skip_pairs(reader, depth);
      break;
    case '[':
      for (uint32_t values = reader.u2(); values > 0 && reader.ok(); --values) skip_value(reader, depth + 1);
      break;
    default:
      reader.u2();
  }
}

}  // namespace

bool has_annotation(const ClassFile& file, const Member& member, std::string_view type) {
  const auto attributes = file.attributes_of(member);
  if (!attributes) return false;
  for (const Attribute& attribute : *attributes) {
    if (attribute.name != "RuntimeVisibleAnnotations") continue;
    ByteReader reader(attribute.content);
    for (uint32_t left = reader.u2(); left > 0 && reader.ok(); --left) {
      if (file.pool().utf8(reader.u2()) == type) return reader.ok();
      skip_pairs(reader, 0);
    }
  }
  return false;
}

}  // namespace contrafact::classfile
