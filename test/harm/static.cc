// A static program: no agent can be in it, and it ends as a Go program does.
#include "harm.h"

int main() {
  harm::sections(10);
  harm::say("static\n");
  harm::bare_call(SYS_exit_group, 21);
}
