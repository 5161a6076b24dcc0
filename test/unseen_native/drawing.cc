// Threads draw the rows of a picture that are theirs, under the picture's lock. Twin: without it.
#include <mutex>
#include <optional>

#include "work.h"

namespace {

class Picture {
 public:
  Picture(size_t width, size_t height) : width_(width), pixels_(width * height) {}
  void draw_row(size_t row, const std::vector<float>& light) {
    std::optional<std::lock_guard<std::mutex>> lock;
    if (!twin) lock.emplace(mutex_);
    uint32_t* const pixels = &pixels_[row * width_];
    for (int pass = 0; pass < 12; ++pass) {
      for (size_t x = 0; x < width_; ++x) pixels[x] = pixels[x] * 3 + static_cast<uint32_t>(light[x] * 255);
    }
  }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (const uint32_t pixel : pixels_) sum = sum * 31 + pixel;
    return sum;
  }

 private:
  std::mutex mutex_;
  size_t width_;
  std::vector<uint32_t> pixels_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Picture picture(4096, 512);
    run_threads(4, [&](int number) {
      std::vector<float> light(4096);
      for (size_t frame = 0; frame < 25; ++frame) {
        for (size_t row = static_cast<size_t>(number); row < 512; row += 4) {
          for (size_t x = 0; x < light.size(); ++x) light[x] = static_cast<float>((x * row + frame) % 97) / 97;
          picture.draw_row(row, light);
        }
      }
    });
    return picture.sum();
  });
}
