// Percent encoding, for values inside the option strings that agents are given. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace contrafact::base {

// Every byte but letters, digits and -_.~/:*$+ as %XX: no comma, equals sign, semicolon or space is left.
std::string percent_encode(std::string_view text);

// The reverse; what is no %XX stays as it is.
std::string percent_decode(std::string_view text);

}  // namespace contrafact::base
