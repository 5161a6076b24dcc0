// Checks of options' values. Their messages say in one line what is wrong and which values are valid. The parser puts
// the option's name in front: "--cores: '0' is no whole number of at least 1".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"

namespace contrafact::cli {

// A whole number from `least` to `most`.
ValueCheck whole_number(uint32_t least, uint32_t most = UINT32_MAX);

// A number, with or without decimals, of at least `least`.
ValueCheck decimal_number(double least);

// Bytes, with or without a unit that is a power of 1024: 1048576, 512k, 256M, 2G, 256MB, 256MiB; turned into the
// number.
ValueCheck size_value();

// One of a few words.
ValueCheck one_of(std::vector<std::string> words);

}  // namespace contrafact::cli
