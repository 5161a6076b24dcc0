// The JDK's blocking queues, of which some are pools of what they hold: ContrafactQueues finds out which. Edited are the
// methods to which all others lead that put one element in or take one out. Waiting in them is blocking like any other
// (probes_park.cc).
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kArray = "java/util/concurrent/ArrayBlockingQueue";
constexpr std::string_view kLinked = "java/util/concurrent/LinkedBlockingQueue";
constexpr std::string_view kDeque = "java/util/concurrent/LinkedBlockingDeque";

// ContrafactQueues.java
enum Kind : int { kOfArray, kOfLinked, kOfDeque };
constexpr int kWaits = 4;  // added: the method waits for an element

constexpr std::string_view kTells = "(Ljava/lang/Object;Ljava/lang/Object;I)V";

template <int kKind>
base::Status take(Edit& edit) {
  return edit.at_exit([](Sequence& s) { s.dup().aload(0).iconst(kKind).invokestatic(kQueuesClass, "taken", kTells); });
}

template <Kind kKind>
base::Status put(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    s.aload(edit.parameter_slot(0)).aload(0).iconst(kKind).invokestatic(kQueuesClass, "given", kTells);
  });
}

constexpr std::string_view kGets = "()Ljava/lang/Object;";
constexpr std::string_view kGetsInTime = "(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;";
constexpr std::string_view kPuts = "(Ljava/lang/Object;)V";
constexpr std::string_view kOffers = "(Ljava/lang/Object;)Z";
constexpr std::string_view kOffersInTime = "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z";

constexpr Probe kProbes[] = {
    {kArray, "take", kGets, take<kOfArray + kWaits>},
    {kArray, "poll", kGets, take<kOfArray>},
    {kArray, "poll", kGetsInTime, take<kOfArray + kWaits>},
    {kArray, "put", kPuts, put<kOfArray>},
    {kArray, "offer", kOffers, put<kOfArray>},
    {kArray, "offer", kOffersInTime, put<kOfArray>},
    {kLinked, "take", kGets, take<kOfLinked + kWaits>},
    {kLinked, "poll", kGets, take<kOfLinked>},
    {kLinked, "poll", kGetsInTime, take<kOfLinked + kWaits>},
    {kLinked, "put", kPuts, put<kOfLinked>},
    {kLinked, "offer", kOffers, put<kOfLinked>},
    {kLinked, "offer", kOffersInTime, put<kOfLinked>},
    {kDeque, "takeFirst", kGets, take<kOfDeque + kWaits>},
    {kDeque, "takeLast", kGets, take<kOfDeque + kWaits>},
    {kDeque, "pollFirst", kGets, take<kOfDeque>},
    {kDeque, "pollLast", kGets, take<kOfDeque>},
    {kDeque, "pollFirst", kGetsInTime, take<kOfDeque + kWaits>},
    {kDeque, "pollLast", kGetsInTime, take<kOfDeque + kWaits>},
    {kDeque, "putFirst", kPuts, put<kOfDeque>},
    {kDeque, "putLast", kPuts, put<kOfDeque>},
    {kDeque, "offerFirst", kOffers, put<kOfDeque>},
    {kDeque, "offerLast", kOffers, put<kOfDeque>},
    {kDeque, "offerFirst", kOffersInTime, put<kOfDeque>},
    {kDeque, "offerLast", kOffersInTime, put<kOfDeque>},
};
constexpr AddedField kFields[] = {
    {kArray, "contrafactUse", "Ljava/lang/Object;"},
    {kLinked, "contrafactUse", "Ljava/lang/Object;"},
    {kDeque, "contrafactUse", "Ljava/lang/Object;"},
};

}  // namespace

Family queue_family() {
  return {"queue", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
