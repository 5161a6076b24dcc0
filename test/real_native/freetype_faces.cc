// Threads that measure text in six fonts by FreeType under one lock, for a face is not to be used by two threads at a
// time. Twin: a lock for each face.
#include <ft2build.h>
#include FT_FREETYPE_H

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "work.h"

namespace {

constexpr std::array names = {"DejaVuSans",          "DejaVuSans-Bold", "DejaVuSansMono",
                              "DejaVuSansMono-Bold", "DejaVuSerif",     "DejaVuSerif-Bold"};

struct Font {
  FT_Face face = nullptr;
  std::mutex mutex;
};

std::array<Font, names.size()> fonts;
std::mutex all_fonts;

uint64_t width_of(Font& font, uint64_t seed) {
  const std::lock_guard lock(twin ? font.mutex : all_fonts);
  uint64_t width = 0;
  for (int i = 0; i < 6; ++i) {
    if (FT_Load_Char(font.face, 'a' + next_random(seed) % 26, FT_LOAD_RENDER) != 0) return 0;
    width += static_cast<uint64_t>(font.face->glyph->advance.x);
  }
  return width;
}

}  // namespace

int main(int count, char** arguments) {
  FT_Library library;
  if (FT_Init_FreeType(&library) != 0) return 1;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string file = std::string("/usr/share/fonts/truetype/dejavu/") + names[i] + ".ttf";
    if (FT_New_Face(library, file.c_str(), 0, &fonts[i].face) != 0) {
      fprintf(stderr, "there is no font %s\n", file.c_str());
      return kNotMeasured;
    }
    FT_Set_Pixel_Sizes(fonts[i].face, 0, 16);
  }
  return timed_main(count, arguments, [] {
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 4000; ++i) {
        const uint64_t seed = next_random(random);
        sum += width_of(fonts[(seed >> 20) % fonts.size()], seed);
        if (compute(random, 8) == 0) return;
      }
    });
    return sum.load();
  });
}
