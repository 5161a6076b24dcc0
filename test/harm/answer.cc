// A library whose builds differ in their answer alone, which lies in the code.
extern "C" int harm_answer() {
  return ANSWER;
}
