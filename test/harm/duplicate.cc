// What Descriptors.java calls: a Java program has no other way to choose a descriptor's number.
#include <unistd.h>

extern "C" int Java_Descriptors_duplicate(void*, void*, int number, int at) {
  return dup2(number, at);
}
extern "C" int Java_Descriptors_close(void*, void*, int number) {
  return close(number);
}
