// Calls: the methods of a plain class, numbered, and their arguments assigned to columns, all at compile time.
//
//   struct Profile { void call(uint32_t caller, uint32_t callee); void allocate(uint32_t method, uint64_t bytes); };
//   using ProfileCalls = Calls<&Profile::call, &Profile::allocate>;
//
//   ProfileCalls::defer<&Profile::call>(client, 1, 2);    // appends the method's number and its arguments
//   ProfileCalls::run(profile, batch);                    // whoever has the batch: makes the calls
//
// There is one column for each distinct argument type, in the order in which they first appear, shared by all methods
// (Deferred Methods, section 3.3). Here: column 0 uint32_t, column 1 uint64_t. environment.h adds threads and
// processing.
//
// Thread safety: defer() by the client's producer, run() by whoever has the batch.
#pragma once

#include <atomic>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "deferred/batch.h"
#include "deferred/client.h"
#include "deferred/failures.h"

namespace contrafact::deferred {

namespace detail {

template <typename T>
struct CheckedArgument {
  static_assert(!std::is_reference_v<T>,
                "an argument of a deferred method must not be a reference: what it refers to may be gone when it runs");
  static_assert(
      std::is_trivially_copyable_v<std::remove_cvref_t<T>>,
      "an argument of a deferred method must be trivially copyable: it is stored as bytes and outlives the call");
  static_assert(sizeof(T) <= UINT8_MAX && alignof(T) <= 8,
                "an argument of a deferred method must be of at most 255 bytes, aligned to 8");
  using Type = std::remove_cvref_t<T>;
};

template <typename Method>
struct MethodTraits {
  static_assert(std::is_member_function_pointer_v<Method>,
                "a deferred method is a member function of the analysis's class");
};
template <typename Class, typename Return, typename... Arguments>
struct MethodTraits<Return (Class::*)(Arguments...)> {
  static_assert(std::is_void_v<Return>, "a deferred method returns nothing: nobody waits for its result");
  using Target = Class;
  using Tuple = std::tuple<typename CheckedArgument<Arguments>::Type...>;
};
template <typename Class, typename Return, typename... Arguments>
struct MethodTraits<Return (Class::*)(Arguments...) noexcept> : MethodTraits<Return (Class::*)(Arguments...)> {};
template <typename Class, typename Return, typename... Arguments>
struct MethodTraits<Return (Class::*)(Arguments...) const> : MethodTraits<Return (Class::*)(Arguments...)> {};
template <typename Class, typename Return, typename... Arguments>
struct MethodTraits<Return (Class::*)(Arguments...) const noexcept> : MethodTraits<Return (Class::*)(Arguments...)> {};

template <typename T, typename Tuple>
struct IndexOf;
template <typename T, typename... Rest>
struct IndexOf<T, std::tuple<T, Rest...>> : std::integral_constant<size_t, 0> {};
template <typename T, typename First, typename... Rest>
struct IndexOf<T, std::tuple<First, Rest...>>
    : std::integral_constant<size_t, 1 + IndexOf<T, std::tuple<Rest...>>::value> {};

template <typename Distinct, typename Arguments>
struct AddDistinct {
  using Type = Distinct;
};
template <typename... Distinct, typename First, typename... Rest>
struct AddDistinct<std::tuple<Distinct...>, std::tuple<First, Rest...>> {
  using WithFirst = std::conditional_t<(std::is_same_v<First, Distinct> || ...), std::tuple<Distinct...>,
                                       std::tuple<Distinct..., First>>;
  using Type = typename AddDistinct<WithFirst, std::tuple<Rest...>>::Type;
};

template <typename T, typename... Arguments>
constexpr size_t count_of(std::type_identity<std::tuple<Arguments...>>) {
  return (size_t{std::is_same_v<T, Arguments>} + ... + 0);
}

template <typename A, auto... B>
inline constexpr bool kAllSameType = (std::is_same_v<A, typename MethodTraits<decltype(B)>::Target> && ...);

}  // namespace detail

template <auto First, auto... Rest>
class Calls {
 public:
  using Target = typename detail::MethodTraits<decltype(First)>::Target;
  static_assert(detail::kAllSameType<Target, First, Rest...>, "the methods of an environment are of one class");

 private:
  template <auto Method>
  using Arguments = typename detail::MethodTraits<decltype(Method)>::Tuple;
  using All = decltype(std::tuple_cat(std::declval<Arguments<First>>(), std::declval<Arguments<Rest>>()...));

 public:
  using Columns = typename detail::AddDistinct<std::tuple<>, All>::Type;
  static constexpr size_t kColumns = std::tuple_size_v<Columns>;
  static_assert(kColumns <= kColumnsMax, "the methods of an environment have at most 6 different argument types");

  static constexpr Layout layout() {
    Layout layout;
    fill_layout(layout, std::make_index_sequence<kColumns>());
    return layout;
  }

  // False if the call was dropped: no memory.
  template <auto Method, typename... Values>
  static bool defer(Client& client, Values... values) {
    static_assert(sizeof...(Values) == std::tuple_size_v<Arguments<Method>>,
                  "a deferred call has as many values as the method has arguments");
    contrafact_buffer* buffer = client.buffer();
    if (buffer->committed >= buffer->capacity) {
      buffer = client.swap();
      if (!buffer) return false;
    }
    append<Method>(*buffer, static_cast<Values>(values)...);
    return true;
  }
  // The stores alone. REQUIRES: the buffer has room.
  template <auto Method, typename... Values>
  static void append(contrafact_buffer& buffer, Values... values) {
    const uint32_t n = buffer.committed;
    reinterpret_cast<uint16_t*>(buffer.ids)[n] = number_of<Method>();
    put_all(buffer, Arguments<Method>{static_cast<Values>(values)...});
    std::atomic_ref(buffer.committed).store(n + 1, std::memory_order_release);
  }

  // What a call throws ends the run.
  static void run(Target& target, Batch& batch) {
    for (uint32_t i = 0; i < batch.count; ++i) make_call(batch.ids[i], target, batch);
  }
  // What a call throws is counted, and the next call made.
  static void run(Target& target, Batch& batch, Failures& failures) {
    for (uint32_t i = 0; i < batch.count; ++i) {
      try {
        for (; i < batch.count; ++i) make_call(batch.ids[i], target, batch);
      } catch (...) {
        failures.add_current_exception();
      }
    }
  }

  // For foreign producers: what to write for a call of Method, and where an argument of type T goes.
  template <auto Method>
  static constexpr uint16_t number_of() {
    constexpr bool matches[] = {same<Method, First>(), same<Method, Rest>()...};
    static_assert(same<Method, First>() || (same<Method, Rest>() || ...), "not a method of this environment");
    uint16_t number = 0;
    while (!matches[number]) ++number;
    return number;
  }
  template <typename T>
  static constexpr size_t column_of() {
    return detail::IndexOf<T, Columns>::value;
  }

 private:
  // Compared as template arguments: gcc 12 under UBSan takes `==` of member pointers for no constant expression.
  template <auto>
  struct Named {};
  template <auto A, auto B>
  static constexpr bool same() {
    return std::is_same_v<Named<A>, Named<B>>;
  }
  template <size_t... I>
  static constexpr void fill_layout(Layout& layout, std::index_sequence<I...>) {
    ((layout.element_bytes[I] = sizeof(std::tuple_element_t<I, Columns>)), ...);
    ((layout.elements_per_call[I] = most<std::tuple_element_t<I, Columns>>()), ...);
  }
  template <typename T>
  static constexpr uint8_t most() {
    size_t most = 0;
    for (const size_t n : {detail::count_of<T>(std::type_identity<Arguments<First>>()),
                           detail::count_of<T>(std::type_identity<Arguments<Rest>>())...}) {
      most = n > most ? n : most;
    }
    return static_cast<uint8_t>(most);
  }
  // Addresses and cursors are read before the arguments are stored, and cursors written after: by their types, a store
  // of an argument might change them. Cursors are atomic only so that the compiler does not make one vector of two of
  // them: the next call would wait for the vector's way through memory.
  static std::atomic_ref<uint32_t> relaxed(uint32_t& cursor) { return std::atomic_ref(cursor); }
  template <typename... T>
  static void put_all(contrafact_buffer& buffer, const std::tuple<T...>& arguments) {
    [[maybe_unused]] uint64_t column[kColumnsMax];
    [[maybe_unused]] uint32_t cursor[kColumnsMax];
    ((column[column_of<T>()] = buffer.column[column_of<T>()]), ...);
    ((cursor[column_of<T>()] = relaxed(buffer.cursor[column_of<T>()]).load(std::memory_order_relaxed)), ...);
    std::apply(
        [&](const T&... argument) {
          ((reinterpret_cast<T*>(column[column_of<T>()])[cursor[column_of<T>()]++] = argument), ...);
        },
        arguments);
    (relaxed(buffer.cursor[column_of<T>()]).store(cursor[column_of<T>()], std::memory_order_relaxed), ...);
  }
  // In a call, all arguments are read before it is made: one that throws leaves the cursor at the next.
  template <auto Method>
  static void call(Target& target, Batch& batch) {
    call_with<Method>(target, batch, std::type_identity<Arguments<Method>>());
  }
  template <auto Method, typename... T>
  static void call_with(Target& target, Batch& batch, std::type_identity<std::tuple<T...>>) {
    // Braces: the arguments are read in their order.
    const std::tuple<T...> arguments{batch.next<T>(column_of<T>())...};
    std::apply([&](const T&... argument) { (target.*Method)(argument...); }, arguments);
  }

  // Of a few methods each is compiled into the loop over the calls: a comparison costs less than a call through a
  // table.
  static void make_call(uint16_t number, Target& target, Batch& batch) {
    constexpr size_t kComparedMax = 8;
    if constexpr (sizeof...(Rest) < kComparedMax) {
      uint16_t next = 0;
      if (number == next++) return call<First>(target, batch);
      (void)((number == next++ && (call<Rest>(target, batch), true)) || ...);
    } else {
      kCalls[number](target, batch);
    }
  }

  using Call = void (*)(Target&, Batch&);
  static constexpr Call kCalls[] = {&call<First>, &call<Rest>...};
};

}  // namespace contrafact::deferred
