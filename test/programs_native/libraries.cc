// A library is loaded, takes a lock, and goes. Its path is the argument.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (!library) {
    printf("%s\n", dlerror());
    return 1;
  }
  auto* use = reinterpret_cast<int (*)()>(dlsym(library, "use_library_lock"));
  printf("%d\n", use());
  usleep(60'000);
  dlclose(library);
  usleep(60'000);
  printf("%d\n", dlopen(arguments[1], RTLD_NOLOAD) == nullptr);
}
