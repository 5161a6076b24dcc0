// What is undefined, for a build with the sanitizer: it must end this program.
#include <climits>
#include <cstdio>

int main(int count, char**) {
  int sum = INT_MAX;
  sum += count;
  std::printf("went on with %d\n", sum);
  return 0;
}
