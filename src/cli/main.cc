#include <exception>
#include <new>
#include <stdexcept>

#include "cli/command.h"
#include "cli/exit_code.h"

namespace {

constexpr char kShortOfMemory[] = "not enough memory for this: a recording of a shorter time needs less";

}  // namespace

int main(int argc, char** argv) {
  using namespace contrafact::cli;
  try {
    return run_tool(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(kExitImpossible, kShortOfMemory);
  } catch (const std::length_error&) {  // a container's own limit
    return fail(kExitImpossible, kShortOfMemory);
  } catch (const std::exception& error) {
    return fail(kExitImpossible, error.what());
  }
}
