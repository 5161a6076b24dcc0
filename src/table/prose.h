// Sentences in a given width. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace contrafact::table {

// The words of `text` in lines of at most `width` columns; a word that is wider has a line of its own. A figure stays
// with its unit: "5.83 s". REQUIRES: `text` is printable, without line breaks.
std::vector<std::string> broken_into_lines(std::string_view text, size_t width);

// A text of sentences and tables, in which sentences that are wider than `width` go on in further lines, indented by
// two columns more than their first one. A table's rows stay: they have two spaces between columns, and sentences have
// none. So does what is indented by four columns or more: commands to copy. Width 0: unchanged.
std::string wrap_prose(std::string_view text, size_t width);

// "  LEFT    RIGHT": a word and its explanation, which goes on below itself, or begins in the next line where `width`
// has no room beside the word or the word is wider than `left_width`. Width 0: one line.
std::string explained(std::string_view left, std::string_view right, size_t left_width, size_t width);

}  // namespace contrafact::table
