// Checks of options' values, whose messages say in one line what is wrong and what to give. The parser puts the
// option's name in front: "--cores: '0' is no whole number of at least 1".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace contrafact::cli {

// A whole number from `least` to `most`.
CLI::Validator whole_number(uint32_t least, uint32_t most = UINT32_MAX);

// A number, with or without decimals, of at least `least`.
CLI::Validator decimal_number(double least);

// Bytes, with or without a unit that is a power of 1024: 1048576, 512k, 256M, 2G, 256MB, 256MiB; turned into the
// number.
CLI::Validator size_value();

// One of a few words.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace contrafact::cli
