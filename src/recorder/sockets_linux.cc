#include "recorder/sockets.h"

#include <netinet/in.h>
#include <sys/stat.h>

#include <cerrno>
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
  if (bytes < sizeof(sa_family_t)) return 0;
  if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in inet;
    std::memcpy(&inet, address, sizeof inet);
    return ntohs(inet.sin_port);
  }
  if (address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 inet;
    std::memcpy(&inet, address, sizeof inet);
    return ntohs(inet.sin6_port);
  }
  return 0;
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
