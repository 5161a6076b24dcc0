// What a program loads and unloads while its threads call it.
extern "C" int harm_count(int to) {
  static volatile int counted = 0;
  for (int i = 0; i < to; ++i) counted = counted + 1;
  return counted;
}
