#include "cli/command.h"

int main(int argc, char** argv) {
  return contrafact::cli::run_tool(argc, argv);
}
