// Blocks that are built and not run: of whatever bytes, random ones and a library's at any place. Nothing is written
// beyond the room that a block may take, and the published block is consistent. Runs under the sanitizers, too.
#include "translate/block_builder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "translate/decoder.h"

namespace contrafact::translate {
namespace {

class BlockBuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(load_decoder().ok());
    auto cache = CodeCache::create(4 << 20);
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    cache_ = std::move(*cache);
    stub_ = cache_->begin_code(CodeCache::kNoGuest);
    cache_->writable()[cache_->used()] = 0xc3;
    cache_->add_code(1);
    cache_->set_default_lookup(stub_);
    stub_end_ = cache_->used();
  }

  // Bytes of the program at `guest`.
  void build(uint64_t guest, const Region& region) {
    if (!cache_->has_room(BlockBuilder::kCodeBytesMax, BlockBuilder::kMarksMax, BlockBuilder::kLinksMax)) {
      cache_->clear(stub_end_, stub_);
    }
    const size_t used = cache_->used();
    const uint32_t links = cache_->link_count();
    BlockBuilder builder(*cache_, regions_, LocalOffsets(-0x1000), stub_);
    const uint64_t code = builder.translate(guest, region);
    const Block* block = cache_->find_block(code);
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(block->guest, guest);
    ASSERT_EQ(cache_->find(guest), code);
    EXPECT_GE(block->guest_end, guest);
    EXPECT_LE(block->guest_end, region.end);
    EXPECT_LE(block->code_bytes, BlockBuilder::kCodeBytesMax);
    EXPECT_LE(cache_->used() - used, BlockBuilder::kCodeBytesMax + 64);  // the address in front, aligned
    EXPECT_LE(cache_->link_count() - links, BlockBuilder::kLinksMax);
    EXPECT_LE(block->marks, BlockBuilder::kMarksMax);
    expect_marks(*block);
    expect_instructions(*block, code);
  }

  // At each instruction a signal's handler finds a place in the program that belongs to the block.
  void expect_marks(const Block& block) {
    for (uint32_t at = 0; at < block.code_bytes; ++at) {
      const Mark* mark = cache_->mark_at(block, cache_->executable() + block.code + at);
      ASSERT_NE(mark, nullptr) << at;
      ASSERT_LE(mark->code_offset, at);
      if (mark->kind != Mark::at_offset) continue;
      ASSERT_GE(mark->value, 0);
      ASSERT_LE(block.guest + static_cast<uint64_t>(mark->value), block.guest_end);
    }
  }

  // Nothing in it but instructions.
  void expect_instructions(const Block& block, uint64_t code) {
    for (uint64_t at = code, end = code + block.code_bytes; at < end;) {
      Instruction instruction;
      ASSERT_TRUE(decode(at, end - at, instruction)) << "at " << at - code << " of " << block.code_bytes;
      at = instruction.next();
    }
  }

  std::unique_ptr<CodeCache> cache_;
  const std::unique_ptr<CodeRegions> regions_owner_ = std::make_unique<CodeRegions>();
  const CodeRegions& regions_ = *regions_owner_;
  uint64_t stub_ = 0;
  size_t stub_end_ = 0;
};

TEST_F(BlockBuilderTest, OfRandomBytes) {
  constexpr size_t kBytes = 512;
  const auto guest = std::make_unique<uint8_t[]>(kBytes);  // so that the sanitizer sees reads beyond it
  const auto begin = reinterpret_cast<uint64_t>(guest.get());
  std::mt19937_64 random(7);
  const char* wanted = std::getenv("CONTRAFACT_CASES");
  const long cases = wanted ? std::strtol(wanted, nullptr, 10) : 5'000;
  for (long i = 0; i < cases && !HasFailure(); ++i) {
    for (size_t at = 0; at < kBytes; ++at) guest[at] = static_cast<uint8_t>(random());
    const size_t bytes = 1 + random() % kBytes;
    const CodeKind kind = random() % 4 == 0 ? CodeKind::unlogged : CodeKind::program;
    SCOPED_TRACE("case " + std::to_string(i));
    build(begin, {begin, begin + bytes, kind});
    cache_->remove(begin, begin + bytes);
  }
}

// One prefix, opcode or form again and again: the most that a block may take.
TEST_F(BlockBuilderTest, OfTheSameInstructionAllOver) {
  const std::vector<std::vector<uint8_t>> instructions = {
      {0x48, 0x01, 0x03},                                      // add [rbx], rax
      {0xf0, 0x48, 0x0f, 0xb1, 0x0b},                          // lock cmpxchg [rbx], rcx
      {0xf3, 0xa4},                                            // rep movsb
      {0x0f, 0xab, 0x03},                                      // bts [rbx], eax
      {0x67, 0x01, 0x84, 0x8b, 0x10, 0x00, 0x00, 0x00},        // add [ebx+ecx*4+16], eax
      {0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00},              // mov rax, [rip+16]
      {0x74, 0x00},                                            // je, to the next one
      {0xe3, 0x00},                                            // jrcxz
      {0xc4, 0xe2, 0x75, 0x90, 0x04, 0x83},                    // vpgatherdd ymm0, [rbx+ymm0*4], ymm1
      {0x62, 0xf1, 0x7c, 0x48, 0x11, 0x03},                    // vmovups [rbx], zmm0
      {0x0f, 0x05},                                            // syscall
      {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90},              // nop
      {0x64, 0x48, 0x89, 0x04, 0x25, 0x10, 0xff, 0xff, 0xff},  // mov fs:[-240], rax
      {0x50},                                                  // push rax
      {0x41, 0xff, 0x14, 0xdc},                                // call [r12+rbx*8]
  };
  std::vector<uint8_t> guest;
  for (size_t i = 0; i < instructions.size(); ++i) {
    SCOPED_TRACE("instruction " + std::to_string(i));
    guest.clear();
    while (guest.size() < 4096) guest.insert(guest.end(), instructions[i].begin(), instructions[i].end());
    const auto begin = reinterpret_cast<uint64_t>(guest.data());
    build(begin, {begin, begin + guest.size(), CodeKind::program});
    cache_->remove(begin, begin + guest.size());
  }
}

// From every so many bytes on, whether an instruction begins there or not.
TEST_F(BlockBuilderTest, OfALibrary) {
  struct Text {
    uint64_t inside, begin, end;
  } text{reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort_r")), 0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* wanted = static_cast<Text*>(argument);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const uint64_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_filesz;
          if (segment.p_type != PT_LOAD || wanted->inside < begin || wanted->inside >= end) continue;
          wanted->begin = begin;
          wanted->end = end;
        }
        return 0;
      },
      &text);
  ASSERT_LT(text.begin, text.end);
  constexpr uint64_t kEveryBytes = 401;
  for (uint64_t at = text.begin; at < text.end && !HasFailure(); at += kEveryBytes) {
    SCOPED_TRACE("at " + std::to_string(at - text.begin));
    build(at, {text.begin, text.end, CodeKind::program});
  }
  EXPECT_GT(cache_->block_count(), 0u);
}

}  // namespace
}  // namespace contrafact::translate
