// Sockets: which thread receives and sends how many bytes over which connection, and which one waits for that. All of
// java.net's sockets and of NIO's channels, blocking or not, go through SocketDispatcher; files that are sent straight from
// the disk go past it. Selectors wait in EPoll.wait, channels and sockets with a time limit in Net.poll, others in the call
// that receives.
#include <algorithm>
#include <array>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kDispatcher = "sun/nio/ch/SocketDispatcher";
constexpr std::string_view kNet = "sun/nio/ch/Net";
constexpr std::string_view kEPoll = "sun/nio/ch/EPoll";
constexpr std::string_view kSelector = "sun/nio/ch/EPollSelectorImpl";
constexpr std::string_view kUnixSockets = "sun/nio/ch/UnixDomainSockets";
constexpr std::string_view kSocket = "sun/nio/ch/NioSocketImpl";
constexpr std::string_view kServerChannel = "sun/nio/ch/ServerSocketChannelImpl";
constexpr std::string_view kAsynchronousServer = "sun/nio/ch/UnixAsynchronousServerSocketChannelImpl";
constexpr std::string_view kConnectionField = "contrafactConnection";
constexpr std::string_view kDescriptor = "java/io/FileDescriptor";
constexpr int kJdkSelectorInParts = 24;
constexpr int kJdkTransferInDispatcher = 20;  // from then on FileDispatcherImpl sends files

// The number of bytes is the method's result, an int or a long.
void tell(const Edit& edit, Sequence& s, std::string_view function, uint32_t descriptor_slot, uint32_t time_slot) {
  const bool is_long = edit.code.descriptor.result.slots() == 2;
  if (is_long) {
    s.dup2();
  } else {
    s.dup();
  }
  s.aload(descriptor_slot).lload(time_slot);
  s.invokestatic(kSocketsClass, function, is_long ? "(JLjava/io/FileDescriptor;J)V" : "(ILjava/io/FileDescriptor;J)V");
}

base::Status transfer(Edit& edit, std::string_view function, size_t parameter) {
  const uint32_t time = edit.token();
  return edit.finish([&](Sequence& s) { s.invokestatic(kSocketsClass, "calling", "()J").lstore(time); },
                     [&](Sequence& s) { tell(edit, s, function, edit.parameter_slot(parameter), time); });
}

base::Status receive(Edit& edit) {
  return transfer(edit, "received", 0);
}

template <size_t kParameter>
base::Status send(Edit& edit) {
  return transfer(edit, "sent", kParameter);
}

void end_block(uint32_t token, Sequence& after, Sequence& exception) {
  after.aconst_null().lload(token).invokestatic(kProbesClass, "blockEnd", "(Ljava/lang/Throwable;J)V");
  exception.dup().lload(token).invokestatic(kProbesClass, "blockEnd", "(Ljava/lang/Throwable;J)V");
}

// Both calls that accept have the new descriptor as second argument and return 1 if there is one.
base::Status accept(Edit& edit) {
  const auto selects = [](const CallSite& site) {
    return site.name == "accept" && (site.owner == kNet || site.owner == kUnixSockets);
  };
  const uint32_t token = edit.token();
  const base::Status status = edit.wrap(selects, [&](const CallOperands& operands, Sequence& before, Sequence& after,
                                                     Sequence& exception) {
    before.invokestatic(kProbesClass, "ioBegin", "()J").lstore(token);
    end_block(token, after, exception);
    after.dup().aload(operands.arguments[1]).invokestatic(kSocketsClass, "accepted", "(ILjava/io/FileDescriptor;)V");
  });
  return status ? edit.finish() : status;
}

// EPoll.wait's last argument is the time limit.
base::Status select(Edit& edit) {
  const auto selects = [](const CallSite& site) { return site.owner == kEPoll && site.name == "wait"; };
  const uint32_t token = edit.token();
  const base::Status status =
      edit.wrap(selects, [&](const CallOperands& operands, Sequence& before, Sequence& after, Sequence& exception) {
        before.iload(operands.arguments.back()).invokestatic(kProbesClass, "pollBegin", "(I)J").lstore(token);
        end_block(token, after, exception);
      });
  return status ? edit.finish() : status;
}

base::Status wait_for_one(Edit& edit) {
  const auto selects = [](const CallSite& site) { return site.owner == kNet && site.name == "poll"; };
  const uint32_t token = edit.token();
  const base::Status status =
      edit.wrap(selects, [&](const CallOperands&, Sequence& before, Sequence& after, Sequence& exception) {
        before.invokestatic(kProbesClass, "ioBegin", "()J").lstore(token);
        end_block(token, after, exception);
      });
  return status ? edit.finish() : status;
}

template <size_t kParameter>
base::Status connect(Edit& edit) {
  return edit.bracket({kSocketsClass, "connecting", "(Ljava/io/FileDescriptor;)J",
                       [&](Sequence& s) { s.aload(edit.parameter_slot(kParameter)); }, "connected"});
}

// Netty's epoll transport calls the system by native methods of its own, each through one Java method. Its sockets are
// no FileDescriptors of the JDK's. Pushes the number of bytes, which is the method's result, the descriptor, and the
// connection's number.
void push_netty(const Edit& edit, Sequence& s) {
  const std::string_view owner = edit.file.name();
  if (edit.code.descriptor.result.slots() == 2) {
    s.dup2();
  } else {
    s.dup().op(classfile::kI2l);
  }
  s.aload(0).invokevirtual(owner, "intValue", "()I").aload(0).getfield(owner, kConnectionField, "I");
}

// Of what was called: the number that the socket keeps.
void keep_number(const Edit& edit, Sequence& s, uint32_t number) {
  s.istore(number).aload(0).iload(number).putfield(edit.file.name(), kConnectionField, "I");
}

base::Status receive_netty(Edit& edit) {
  const uint32_t number = edit.flag();
  return edit.finish({}, [&](Sequence& s) {
    push_netty(edit, s);
    s.invokestatic(kSocketsClass, "received", "(JII)I");
    keep_number(edit, s, number);
  });
}

base::Status send_netty(Edit& edit) {
  const uint32_t time = edit.token(), number = edit.flag();
  return edit.finish([&](Sequence& s) { s.invokestatic(kSocketsClass, "calling", "()J").lstore(time); },
                     [&](Sequence& s) {
                       push_netty(edit, s);
                       s.lload(time).invokestatic(kSocketsClass, "sent", "(JIIJ)I");
                       keep_number(edit, s, number);
                     });
}

base::Status accept_netty(Edit& edit) {
  return edit.at_exit([](Sequence& s) { s.dup().invokestatic(kSocketsClass, "accepted", "(I)V"); });
}

base::Status connect_netty(Edit& edit) {
  const std::string_view owner = edit.file.name();
  return edit.at_entry([&](Sequence& s) {
    s.aload(0).aload(0).getfield(owner, kConnectionField, "I");
    s.invokestatic(kSocketsClass, "connecting", "(I)I").putfield(owner, kConnectionField, "I");
  });
}

// epollWait0 waits always, epollWait for so many milliseconds.
base::Status select_netty(Edit& edit) {
  const auto selects = [](const CallSite& site) {
    return site.name == "epollWait0" || (site.name == "epollWait" && site.descriptor == "(IJII)I");
  };
  const uint32_t token = edit.token();
  CallWrap wrap;
  wrap.selects = selects;
  wrap.copy_operands = true;
  wrap.build = [&](const CallSite& site, const CallOperands& operands, Sequence& before, Sequence& after,
                   Sequence& exception) {
    if (site.name == "epollWait0") {
      before.iconst(1);
    } else {
      before.iload(operands.arguments.back());
    }
    before.invokestatic(kProbesClass, "pollBegin", "(I)J").lstore(token);
    end_block(token, after, exception);
  };
  auto count = classfile::wrap_calls(edit.code, edit.file, wrap);
  if (!count) return count.error();
  return *count > 0 ? edit.finish() : base::Status();
}

constexpr auto kJdkProbes = std::to_array<Probe>({
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
    {kSelector, "doSelect", "", select},
    {kSelector, "untimedPoll", "", select, kJdkSelectorInParts},
    {kSelector, "timedPoll", "", select, kJdkSelectorInParts},
    {"sun/nio/ch/EPollPort$EventHandlerTask", "poll", "", select},
    {kSocket, "park", "(Ljava/io/FileDescriptor;IJ)V", wait_for_one},
    {"sun/nio/ch/SelChImpl", "park", "(IJ)V", wait_for_one},
    {kNet, "connect", "(Ljava/net/ProtocolFamily;Ljava/io/FileDescriptor;Ljava/net/InetAddress;I)I", connect<1>},
    {kUnixSockets, "connect", "(Ljava/io/FileDescriptor;Ljava/nio/file/Path;)I", connect<0>},
});

// Netty's classes; gRPC has a copy of them under names of its own.
struct Netty {
  std::string_view descriptor, socket, linux_socket, native;
  std::string_view send_file;  // descriptor of that method of linux_socket's
};
constexpr Netty kNetty = {"io/netty/channel/unix/FileDescriptor", "io/netty/channel/unix/Socket",
                          "io/netty/channel/epoll/LinuxSocket", "io/netty/channel/epoll/Native",
                          "(Lio/netty/channel/DefaultFileRegion;JJJ)J"};
constexpr Netty kShadedNetty = {
    "io/grpc/netty/shaded/io/netty/channel/unix/FileDescriptor", "io/grpc/netty/shaded/io/netty/channel/unix/Socket",
    "io/grpc/netty/shaded/io/netty/channel/epoll/LinuxSocket", "io/grpc/netty/shaded/io/netty/channel/epoll/Native",
    "(Lio/grpc/netty/shaded/io/netty/channel/DefaultFileRegion;JJJ)J"};

constexpr auto probes_of(const Netty& netty) {
  return std::to_array<Probe>({
      {netty.descriptor, "read", "(Ljava/nio/ByteBuffer;II)I", receive_netty},
      {netty.descriptor, "readAddress", "(JII)I", receive_netty},
      {netty.descriptor, "write", "(Ljava/nio/ByteBuffer;II)I", send_netty},
      {netty.descriptor, "writeAddress", "(JII)I", send_netty},
      {netty.descriptor, "writev", "([Ljava/nio/ByteBuffer;IIJ)J", send_netty},
      {netty.descriptor, "writevAddresses", "(JI)J", send_netty},
      {netty.socket, "recv", "(Ljava/nio/ByteBuffer;II)I", receive_netty},
      {netty.socket, "recvAddress", "(JII)I", receive_netty},
      {netty.socket, "send", "(Ljava/nio/ByteBuffer;II)I", send_netty},
      {netty.socket, "sendAddress", "(JII)I", send_netty},
      {netty.socket, "accept", "([B)I", accept_netty},
      {netty.socket, "connect", "(Ljava/net/SocketAddress;)Z", connect_netty},
      {netty.linux_socket, "sendFile", netty.send_file, send_netty},
      {netty.native, "epollWait", "", select_netty},
  });
}

template <size_t... kCounts>
constexpr auto joined(const std::array<Probe, kCounts>&... parts) {
  std::array<Probe, (kCounts + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(parts, end).out), ...);
  return all;
}

constexpr auto kProbes = joined(kJdkProbes, probes_of(kNetty), probes_of(kShadedNetty));
constexpr AddedField kFields[] = {
    {kDescriptor, kConnectionField, "I"},
    {kNetty.descriptor, kConnectionField, "I", kAnyJdk, true},
    {kShadedNetty.descriptor, kConnectionField, "I", kAnyJdk, true},
};

constexpr UnseenTransport kUnseen[] = {
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
