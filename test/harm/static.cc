// A static program: no agent can be in it, and it ends as a Go program does. With an argument it says what it has been
// given, and starts a program in which an agent can be.
#include <string>

#include "harm.h"

int main(int count, char** arguments) {
  harm::sections(10);
  harm::say("static\n");
  if (count > 1 && strcmp(arguments[1], "shows_environment") == 0) {
    for (char** entry = environ; *entry; ++entry) dprintf(1, "%s\n", *entry);
    const std::string self = arguments[0];
    const std::string other = self.substr(0, self.rfind('/')) + "/harm_ends";
    execl(other.c_str(), other.c_str(), "prints_environment", static_cast<char*>(nullptr));
  }
  harm::bare_call(SYS_exit_group, 21);
}
