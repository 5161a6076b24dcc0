// A library whose function lies pages behind the begin of its code, where near.cc's has none.
__asm__(".text\n.skip 16384, 0x90\n");

extern "C" int far_function(int x) {
  return x + 2;
}
