// Where the source of a recorded JVM class may lie, seen from the folder that the tool is run in. Asks the file system.
#pragma once

#include <string>
#include <string_view>

namespace contrafact::cli {

// The whole path of "Feed.java" of "shop.api.Feed$Item", in the folders that build tools use; empty if it is in none.
std::string source_file(std::string_view class_name, std::string_view file);

}  // namespace contrafact::cli
