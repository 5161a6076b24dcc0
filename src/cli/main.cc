#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

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
  } catch (const std::system_error& error) {
    // Of a thread: there is no memory for its stack.
    const bool is_short = error.code() == std::errc::resource_unavailable_try_again;
    return fail(kExitImpossible, is_short ? kShortOfMemory : error.what());
  } catch (const std::exception& error) {
    return fail(kExitImpossible, error.what());
  }
}
