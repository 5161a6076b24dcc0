// Three images, one OpenMP task each, on two threads: the largest is begun last, whether the runtime takes the first or the last
// task first. The setting is the tasks of a round: three times as many cut each image into as many bands, fewer put neighbours
// together.
#include "items.h"

static constexpr int rounds = 12, images = 3, steps = 20'000;
static constexpr int size_of[images] = {1000, 2000, 1000};

static uint64_t band_of(int image, int bands, int band) {
  const int base = image << 20;
  return items(base + first(size_of[image], bands, band), base + first(size_of[image], bands, band + 1), steps);
}

int main(int argument_count, char** arguments) {
  const int tasks = setting(argument_count, arguments, images, images * 1000);
  const int bands = tasks > images ? tasks / images : 1;
  const int together = (images + tasks - 1) / tasks;
  if (tasks > images ? tasks % images != 0 : (images + together - 1) / together != tasks) return 2;
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int task = 0; task < tasks; ++task) {
#pragma omp task shared(sum) firstprivate(task)
      {
        uint64_t part = 0;
        if (tasks > images)
          part = band_of(task / bands, bands, task % bands);
        else
          for (int image = task * together; image < images && image < (task + 1) * together; ++image)
            part += band_of(image, 1, 0);
#pragma omp atomic
        sum += part;
      }
    }
  }
  return print_result(sum);
}
