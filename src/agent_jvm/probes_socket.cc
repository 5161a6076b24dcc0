// Sockets: which thread receives and sends how many bytes over which connection. All of java.net's sockets and of NIO's
// channels, blocking or not, go through SocketDispatcher; files that are sent straight from the disk go past it.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kDispatcher = "sun/nio/ch/SocketDispatcher";
constexpr std::string_view kNet = "sun/nio/ch/Net";
constexpr std::string_view kUnixSockets = "sun/nio/ch/UnixDomainSockets";
constexpr std::string_view kSocket = "sun/nio/ch/NioSocketImpl";
constexpr std::string_view kServerChannel = "sun/nio/ch/ServerSocketChannelImpl";
constexpr std::string_view kAsynchronousServer = "sun/nio/ch/UnixAsynchronousServerSocketChannelImpl";
constexpr std::string_view kDescriptor = "java/io/FileDescriptor";
constexpr int kJdkTransferInDispatcher = 20;  // from then on FileDispatcherImpl sends files

// The number of bytes is the method's result, an int or a long.
void tell(const Edit& edit, Sequence& s, std::string_view function, uint32_t descriptor_slot, bool with_time,
          uint32_t time_slot) {
  const bool is_long = edit.code.descriptor.result.slots() == 2;
  if (is_long) {
    s.dup2();
  } else {
    s.dup();
  }
  s.aload(descriptor_slot);
  if (with_time) s.lload(time_slot);
  const std::string signature =
      std::string(is_long ? "(J" : "(I") + "Ljava/io/FileDescriptor;" + (with_time ? "J)V" : ")V");
  s.invokestatic(kSocketsClass, function, signature);
}

base::Status receive(Edit& edit) {
  return edit.at_exit([&](Sequence& s) { tell(edit, s, "received", edit.parameter_slot(0), false, 0); });
}

template <size_t kParameter>
base::Status send(Edit& edit) {
  const uint32_t time = edit.token();
  return edit.finish([&](Sequence& s) { s.invokestatic(kSocketsClass, "sending", "()J").lstore(time); },
                     [&](Sequence& s) { tell(edit, s, "sent", edit.parameter_slot(kParameter), true, time); });
}

// Both calls that accept have the new descriptor as second argument and return 1 if there is one.
base::Status accept(Edit& edit) {
  const auto selects = [](const CallSite& site) {
    return site.name == "accept" && (site.owner == kNet || site.owner == kUnixSockets);
  };
  return edit.wrap(selects, [](const CallOperands& operands, Sequence&, Sequence& after, Sequence&) {
    after.dup().aload(operands.arguments[1]).invokestatic(kSocketsClass, "accepted", "(ILjava/io/FileDescriptor;)V");
  });
}

template <size_t kParameter>
base::Status connect(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    s.aload(edit.parameter_slot(kParameter)).invokestatic(kSocketsClass, "connecting", "(Ljava/io/FileDescriptor;)V");
  });
}

constexpr Probe kProbes[] = {
    {kDispatcher, "read", "(Ljava/io/FileDescriptor;JI)I", receive},
    {kDispatcher, "readv", "(Ljava/io/FileDescriptor;JI)J", receive},
    {kDispatcher, "write", "(Ljava/io/FileDescriptor;JI)I", send<0>},
    {kDispatcher, "writev", "(Ljava/io/FileDescriptor;JI)J", send<0>},
    {"sun/nio/ch/FileChannelImpl", "transferToDirectlyInternal",
     "(JILjava/nio/channels/WritableByteChannel;Ljava/io/FileDescriptor;)J", send<3>, kAnyJdk,
     kJdkTransferInDispatcher - 1},
    {"sun/nio/ch/FileDispatcherImpl", "transferTo", "(Ljava/io/FileDescriptor;JJLjava/io/FileDescriptor;Z)J", send<3>,
     kJdkTransferInDispatcher},
    {kSocket, "accept", "(Ljava/net/SocketImpl;)V", accept},
    {kSocket, "timedAccept", "", accept},
    {kServerChannel, "implAccept", "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/SocketAddress;)I",
     accept},
    {kAsynchronousServer, "implAccept", "", accept},
    {kAsynchronousServer, "onEvent", "(IZ)V", accept},
    {kNet, "connect", "(Ljava/net/ProtocolFamily;Ljava/io/FileDescriptor;Ljava/net/InetAddress;I)I", connect<1>},
    {kUnixSockets, "connect", "(Ljava/io/FileDescriptor;Ljava/nio/file/Path;)I", connect<0>},
};
constexpr AddedField kFields[] = {{kDescriptor, "contrafactConnection", "I"}};

constexpr UnseenTransport kUnseen[] = {
    {"io/netty/channel/epoll/EpollEventLoop", "Netty's epoll transport"},
    {"io/netty/channel/epoll/EpollIoHandler", "Netty's epoll transport"},
    {"io/netty/incubator/channel/uring/IOUringEventLoop", "Netty's io_uring transport"},
    {"io/netty/channel/uring/IoUringIoHandler", "Netty's io_uring transport"},
    {"org/apache/tomcat/jni/Socket", "Tomcat's native transport"},
};

}  // namespace

Family socket_family() {
  return {"socket", kProbes, kFields};
}

std::span<const UnseenTransport> unseen_transports() {
  return kUnseen;
}

}  // namespace contrafact::agent_jvm
