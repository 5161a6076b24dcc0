// A library whose function lies at the begin of its code, with a variable: symbols_test lays it over far.cc's.
int near_variable = 1;

extern "C" int near_function(int x) {
  return x + near_variable;
}
