// Three images, one OpenMP task each, on two threads: the last one is alone. The setting is the tasks of a round, bands of the images.
#include "items.h"

static constexpr int rounds = 12, images = 3, steps = 20'000;
static constexpr int size_of[images] = {1000, 1000, 2000};

int main(int argument_count, char** arguments) {
  const int tasks = setting(argument_count, arguments, images, images * 1000);
  if (tasks % images != 0) return 2;
  const int bands = tasks / images;
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int image = 0; image < images; ++image) {
      for (int band = 0; band < bands; ++band) {
#pragma omp task shared(sum) firstprivate(image, band)
        {
          const int base = image << 20;
          const uint64_t part = items(base + first(size_of[image], bands, band), base + first(size_of[image], bands, band + 1), steps);
#pragma omp atomic
          sum += part;
        }
      }
    }
  }
  return print_result(sum);
}
