// usage: NAME_seeds FOLDER [--every-command]: gives each file of FOLDER to a fuzzer's function, without the fuzzer. So
// what was found once is tried by each test run, with any compiler. The file at hand is on standard error when it ends
// badly. A folder without files is an error.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** arguments);

// Mutators call it; nothing mutates here.
size_t LLVMFuzzerMutate(uint8_t*, size_t, size_t) {
  std::abort();
}
}

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &arguments);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) {
    std::fprintf(stderr, "%s\n", path.c_str());
    std::ifstream file(path, std::ios::binary);
    // In a block of its exact size, so that a sanitizer sees a read beyond it.
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.shrink_to_fit();
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs\n", paths.size());
  return paths.empty() ? 1 : 0;
}
