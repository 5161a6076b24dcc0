#include "recorder/sockets.h"

#include <netinet/in.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace contrafact::recorder {
namespace {

template <typename Ask>
uint32_t port_by(int descriptor, Ask ask) {
  sockaddr_storage address;
  socklen_t bytes = sizeof address;
  auto* const as_any = reinterpret_cast<sockaddr*>(&address);
  return ask(descriptor, as_any, &bytes) == 0 ? port_of(as_any, bytes) : 0;
}

}  // namespace

uint32_t port_of(const sockaddr* address, socklen_t bytes) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  constexpr size_t kPortAt = offsetof(sockaddr_in, sin_port);
  in_port_t port;
  if (bytes < kPortAt + sizeof port) return 0;
  sa_family_t family;
  std::memcpy(&family, address, sizeof family);
  if (family != AF_INET && family != AF_INET6) return 0;
  std::memcpy(&port, reinterpret_cast<const char*>(address) + kPortAt, sizeof port);
  return ntohs(port);
}

std::optional<format::ConnectionRow> connection_of(int descriptor, format::ConnectionKind kind) {
  const int error = errno;
  struct stat status;
  std::optional<format::ConnectionRow> row;
  if (fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) {
    row = {kind, port_by(descriptor, getsockname), port_by(descriptor, getpeername)};
  }
  errno = error;
  return row;
}

}  // namespace contrafact::recorder
