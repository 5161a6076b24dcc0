// XPath expressions of libxml2 are evaluated on one document under a mutex, each in a context of its own. Twin: as
// readers, which libxml2 allows (a document that nobody changes may be read by several threads).
#include <libxml/parser.h>
#include <libxml/xpath.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "work.h"

namespace {

struct Catalogue {
  std::shared_mutex mutex;
  xmlDocPtr document = nullptr;
};

xmlDocPtr made() {
  std::string text = "<catalogue>";
  for (int i = 0; i < 60; ++i)
    text += "<item id='" + std::to_string(i) + "'><name>thing " + std::to_string(i) + "</name><price>" +
            std::to_string(i * 7 % 90) + "</price></item>";
  text += "</catalogue>";
  return xmlReadMemory(text.data(), static_cast<int>(text.size()), "catalogue.xml", nullptr, 0);
}

uint64_t price_of(xmlDocPtr document, uint64_t number) {
  const std::string path = "string(/catalogue/item[@id='" + std::to_string(number % 60) + "']/price)";
  xmlXPathContextPtr context = xmlXPathNewContext(document);
  xmlXPathObjectPtr found = xmlXPathEvalExpression(reinterpret_cast<const xmlChar*>(path.c_str()), context);
  const uint64_t price = std::stoull(reinterpret_cast<const char*>(found->stringval));
  xmlXPathFreeObject(found);
  xmlXPathFreeContext(context);
  return price;
}

uint64_t ask(Catalogue& catalogue, uint64_t number) {
  if (twin) {
    const std::shared_lock lock(catalogue.mutex);
    return price_of(catalogue.document, number);
  }
  const std::unique_lock lock(catalogue.mutex);
  return price_of(catalogue.document, number);
}

}  // namespace

int main(int count, char** arguments) {
  xmlInitParser();
  Catalogue catalogue;
  catalogue.document = made();
  return timed_main(count, arguments, [&] {
    std::atomic<uint64_t> sum = 0;
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 8000; ++i) {
        sum += ask(catalogue, next_random(random));
        if (compute(random, 10) == 0) return;
      }
    });
    return sum.load();
  });
}
