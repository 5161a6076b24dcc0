// What requests ask for: where a container, a codec or a web framework begins to handle one, it says so to
// ContrafactEndpoints. Nothing is called there that the framework does not call itself.
#include <string>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/endpoints.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kGetsString = "()Ljava/lang/String;";

// REQUIRES: an object's
std::string class_of_parameter(const Edit& edit, size_t index) {
  return std::string(edit.code.descriptor.arguments[index].class_name());
}

// com.sun.net.httpserver: the exchange of a request whose context is found.
base::Status http_server(Edit& edit) {
  constexpr std::string_view kConnection = "sun/net/httpserver/HttpConnection";
  constexpr std::string_view kContext = "sun/net/httpserver/HttpContextImpl";
  return edit.at_entry([&](Sequence& s) {
    const uint32_t connection = edit.parameter_slot(4);
    const auto none = s.new_label(), tell = s.new_label();
    s.aload(edit.parameter_slot(0))
        .aload(edit.parameter_slot(1))
        .invokevirtual("java/net/URI", "getRawPath", kGetsString);
    s.aload(connection)
        .invokevirtual(kConnection, "getHttpContext", "()Lsun/net/httpserver/HttpContextImpl;")
        .ifnull(none);
    s.aload(connection).invokevirtual(kConnection, "getHttpContext", "()Lsun/net/httpserver/HttpContextImpl;");
    s.invokevirtual(kContext, "getPath", kGetsString).goto_(tell);
    s.bind(none).aconst_null();
    s.bind(tell).invokestatic(kEndpointsClass, "context", "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V");
  });
}

// javax or jakarta: any container's. `request`: its class, an interface.
void tell_servlet(Sequence& s, uint32_t slot, std::string_view request, bool is_interface) {
  for (const std::string_view getter : {"getMethod", "getRequestURI"}) {
    s.aload(slot).checkcast(request);
    if (is_interface) {
      s.invokeinterface(request, getter, kGetsString);
    } else {
      s.invokevirtual(request, getter, kGetsString);
    }
  }
  s.aload(slot).invokestatic(kEndpointsClass, "servlet", "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/Object;)V");
}

base::Status servlet(Edit& edit) {
  const std::string of = class_of_parameter(edit, 0);
  const std::string request = of.substr(0, of.rfind('/') + 1) + "http/HttpServletRequest";
  return edit.at_entry([&](Sequence& s) {
    const auto other = s.new_label();
    s.aload(edit.parameter_slot(0)).instance_of(request).ifeq(other);
    tell_servlet(s, edit.parameter_slot(0), request, true);
    s.bind(other);
  });
}

// Before any filter.
base::Status tomcat(Edit& edit) {
  return edit.at_entry(
      [&](Sequence& s) { tell_servlet(s, edit.parameter_slot(0), "org/apache/catalina/connector/Request", false); });
}

constexpr std::string_view kTellsPath = "(Ljava/lang/Object;Ljava/lang/String;)V";

constexpr std::string_view kJettyRequest = "org/eclipse/jetty/server/Request";

// Before version 12.
void tell_jetty_channel(Sequence& s, uint32_t channel) {
  for (const std::string_view getter : {"getMethod", "getRequestURI"}) {
    s.aload(channel);
    s.invokevirtual("org/eclipse/jetty/server/HttpChannel", "getRequest", "()Lorg/eclipse/jetty/server/Request;");
    s.invokevirtual(kJettyRequest, getter, kGetsString);
  }
}

void tell_jetty_request(Sequence& s, uint32_t request) {
  s.aload(request).invokeinterface(kJettyRequest, "getMethod", kGetsString);
  s.aload(request).invokeinterface(kJettyRequest, "getHttpURI", "()Lorg/eclipse/jetty/http/HttpURI;");
  s.invokeinterface("org/eclipse/jetty/http/HttpURI", "getPath", kGetsString);
}

base::Status jetty(Edit& edit) {
  const bool by_channel = edit.method.descriptor == "(Lorg/eclipse/jetty/server/HttpChannel;)V";
  const bool by_request = edit.method.descriptor.starts_with("(Lorg/eclipse/jetty/server/Request;");
  if (!by_channel && !by_request) return {};
  return edit.at_entry([&](Sequence& s) {
    by_channel ? tell_jetty_channel(s, edit.parameter_slot(0)) : tell_jetty_request(s, edit.parameter_slot(0));
    s.invokestatic(kEndpointsClass, "path", kTellsPath);
  });
}

// The first line of a request, in three parts.
base::Status netty(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    s.aload(edit.parameter_slot(0)).iconst(0).op(classfile::kAaload);
    s.aload(edit.parameter_slot(0)).iconst(1).op(classfile::kAaload);
    s.invokestatic(kEndpointsClass, "path", kTellsPath);
  });
}

base::Status undertow(Edit& edit) {
  constexpr std::string_view kExchange = "io/undertow/server/HttpServerExchange";
  return edit.at_entry([&](Sequence& s) {
    s.aload(edit.parameter_slot(1)).invokevirtual(kExchange, "getRequestMethod", "()Lio/undertow/util/HttpString;");
    s.aload(edit.parameter_slot(1)).invokevirtual(kExchange, "getRequestPath", kGetsString);
    s.invokestatic(kEndpointsClass, "path", kTellsPath);
  });
}

// "jakarta/servlet/" of "jakarta/servlet/http/HttpServletRequest".
std::string package_of(std::string_view request) {
  return std::string(request.substr(0, request.rfind("http/")));
}

constexpr std::string_view kMappingInfo =
    "(Lorg/springframework/web/servlet/mvc/method/RequestMappingInfo;Ljava/lang/String;L";

// Where the handler of a request is found, its pattern is the request's attribute.
base::Status spring(Edit& edit) {
  constexpr size_t kRequest = 2;
  if (edit.code.descriptor.arguments.size() <= kRequest || !edit.method.descriptor.starts_with(kMappingInfo)) return {};
  const std::string request = class_of_parameter(edit, kRequest);  // javax's or jakarta's
  return edit.at_exit([&](Sequence& s) {
    s.aload(edit.parameter_slot(kRequest)).invokeinterface(request, "getMethod", kGetsString);
    s.aload(edit.parameter_slot(kRequest))
        .ldc_string("org.springframework.web.servlet.HandlerMapping.bestMatchingPattern");
    s.invokeinterface(request, "getAttribute", "(Ljava/lang/String;)Ljava/lang/Object;");
    s.aload(edit.parameter_slot(kRequest));
    s.invokeinterface(request, "getDispatcherType", "()L" + package_of(request) + "DispatcherType;");
    s.invokestatic(kEndpointsClass, "pattern", "(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/Object;)V");
  });
}

constexpr std::string_view kFirstLine = "([Ljava/lang/String;)Lio/netty/handler/codec/http/HttpMessage;";

constexpr Probe kProbes[] = {
    {"sun/net/httpserver/ExchangeImpl", "<init>",
     "(Ljava/lang/String;Ljava/net/URI;Lsun/net/httpserver/Request;JLsun/net/httpserver/HttpConnection;)V",
     http_server},
    {"javax/servlet/http/HttpServlet", "service", "(Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;)V",
     servlet},
    {"jakarta/servlet/http/HttpServlet", "service",
     "(Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;)V", servlet},
    {"org/apache/catalina/core/StandardWrapperValve", "invoke",
     "(Lorg/apache/catalina/connector/Request;Lorg/apache/catalina/connector/Response;)V", tomcat},
    {"org/eclipse/jetty/server/Server", "handle", "", jetty},
    {"io/netty/handler/codec/http/HttpRequestDecoder", "createMessage", kFirstLine, netty},
    {"io/vertx/core/http/impl/VertxHttpRequestDecoder", "createMessage", kFirstLine, netty},
    {"io/undertow/server/Connectors", "executeRootHandler",
     "(Lio/undertow/server/HttpHandler;Lio/undertow/server/HttpServerExchange;)V", undertow},
    {"org/springframework/web/servlet/mvc/method/RequestMappingInfoHandlerMapping", "handleMatch", "", spring},
};

// Pushes the argument and its getter's name, or null.
void push_part(const Edit& edit, Sequence& s, const EndpointPart& part) {
  if (part.argument == 0) {
    s.aconst_null().aconst_null();
    return;
  }
  s.aload(edit.parameter_slot(part.argument - 1));
  part.getter.empty() ? s.aconst_null() : s.ldc_string(part.getter);
}

bool has_part(const Edit& edit, const EndpointPart& part) {
  const auto& arguments = edit.code.descriptor.arguments;
  return part.argument == 0 || (part.argument <= arguments.size() && arguments[part.argument - 1].is_reference());
}

}  // namespace

base::Status tell_endpoint(Edit& edit, const EndpointRule& rule, std::string_view class_name, Endpoints& endpoints) {
  if (rule.path.argument == 0) {
    const std::string_view short_class = class_name.substr(class_name.rfind('.') + 1);
    const int32_t number =
        endpoints.number(std::string(short_class).append(".").append(edit.method.name), /*given=*/true);
    return edit.at_entry([&](Sequence& s) { s.iconst(number).invokestatic(kEndpointsClass, "configured", "(I)V"); });
  }
  if (!has_part(edit, rule.method) || !has_part(edit, rule.path)) return {};
  return edit.at_entry([&](Sequence& s) {
    push_part(edit, s, rule.method);
    push_part(edit, s, rule.path);
    s.invokestatic(kEndpointsClass, "configured",
                   "(Ljava/lang/Object;Ljava/lang/String;Ljava/lang/Object;Ljava/lang/String;)V");
  });
}

Family endpoint_family() {
  return {"endpoint", kProbes, {}};
}

}  // namespace contrafact::agent_jvm
