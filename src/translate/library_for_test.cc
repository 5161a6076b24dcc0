// A library that tests load and unload. It is built twice, the same but for the answer.
extern "C" {
__attribute__((visibility("default"))) int library_answer() {
  return ANSWER;
}
__attribute__((visibility("default"))) extern const int library_constant = ANSWER;
__attribute__((visibility("default"))) int library_variable = ANSWER;
// Written by the loader, which seals it then.
__attribute__((visibility("default"))) extern int* const library_sealed = &library_variable;
}
