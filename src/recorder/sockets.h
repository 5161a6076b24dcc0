// What the kernel says about a socket, for the row of its connection.
//
// Thread-safe, and safe in a signal handler: system calls alone, which leave errno as it was.
#pragma once

#include <sys/socket.h>

#include <optional>

#include "format/event.h"

namespace contrafact::recorder {

// Of IPv4 and IPv6; 0 for other addresses. Reads the first four bytes at most: `bytes` may be more than there is room
// for, as the kernel says it of an address that it has cut.
uint32_t port_of(const sockaddr* address, socklen_t bytes);

// The row of an open descriptor's connection; nothing if it is none of a socket. Ports that the kernel does not say, or
// may not (a filter of the process's), are 0.
std::optional<format::ConnectionRow> connection_of(int descriptor, format::ConnectionKind kind);

}  // namespace contrafact::recorder
