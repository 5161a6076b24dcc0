#include "cli/source_lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

class SourceLinesTest : public testing::Test {
 protected:
  SourceLinesTest() { fs::remove_all(root_); }
  ~SourceLinesTest() override { fs::remove_all(root_); }
  std::string write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    return (root_ / path).string();
  }
  const fs::path root_ = fs::path(testing::TempDir()) / "contrafact-source-lines";
};

TEST_F(SourceLinesTest, AreFoundByPackageAndByName) {
  write("src/shop/Feed.java", "package shop;\n\n    feed();\t\r\n");
  write("flat/feed.cc", "one\n  two");
  SourceLines source({(root_ / "src").string(), (root_ / "flat").string()});
  EXPECT_EQ(source.line_at({.method = "shop.Feed.load", .file = "Feed.java", .line = 3}), "feed();");
  EXPECT_EQ(source.line_at({.method = "shop.Feed.load", .file = "Feed.java", .line = 2}), "") << "an empty line";
  EXPECT_EQ(source.line_at({.method = "shop.Feed.load", .file = "Feed.java", .line = 4}), "") << "beyond the end";
  EXPECT_EQ(source.line_at({.method = "shop.Feed.load", .file = "Feed.java"}), "") << "no line known";
  EXPECT_EQ(source.line_at({.method = "load", .file = "/elsewhere/feed.cc", .line = 2}), "two");
  EXPECT_EQ(source.line_at({.method = "other.Feed.load", .file = "Feed.java", .line = 3}), "") << "another package's";
}

TEST_F(SourceLinesTest, AreReadWhereTheRecordingSaysTheFileIs) {
  const std::string path = write("feed.cc", "one\n" + std::string(500, 'x') + "\n");
  SourceLines source({});
  EXPECT_EQ(source.line_at({.method = "load", .file = "feed.cc", .line = 1, .path = path}), "one");
  EXPECT_EQ(source.line_at({.method = "load", .file = "feed.cc", .line = 2, .path = path}).size(),
            SourceLines::kLineBytesMax);
  EXPECT_EQ(source.line_at({.method = "load", .file = "feed.cc", .line = 1}), "");
}

// What a recording says is no way out of the folders.
TEST_F(SourceLinesTest, AreNotLookedForElsewhere) {
  write("secret.txt", "secret\n");
  fs::create_directories(root_ / "src");
  SourceLines source({(root_ / "src").string()});
  EXPECT_EQ(source.line_at({.method = "a...b.c", .file = "../secret.txt", .line = 1}), "");
  EXPECT_EQ(source.line_at({.method = "c", .file = "..", .line = 1}), "");
}

}  // namespace
}  // namespace contrafact::cli
