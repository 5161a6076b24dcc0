// Names of C++ and Rust functions as a person writes them: without parameters, return type and compiler's suffixes.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace contrafact::symbols {

// "_ZN4shop4Feed4loadEi" -> "shop::Feed::load"; "_RNvC3svc4main" -> "svc::main"; names of C as they are.
std::string function_name(const std::string& linkage_name);

// The name of the function that a std::thread runs, from the name of the library's function that calls it:
// "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run" -> "main::{lambda()#1}".
std::string thread_body_name(const std::string& function);

// "void shop::run<int>(int, long) const [clone .cold]" -> "shop::run<int>".
std::string without_signature(std::string_view demangled);

}  // namespace contrafact::symbols
