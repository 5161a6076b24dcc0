#!/usr/bin/env python3
"""Names that two sources of a batch keep for themselves are found by tools/check_batches.py; like names elsewhere are not."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools" / "check_batches.py"

FIRST = """
#define LIMIT 7
#define GONE 1
#undef GONE
namespace contrafact {
namespace {
using Bytes = std::vector<uint8_t>;
using Time = int64_t;
constexpr std::array<int, 2> kBoth = {1, 2};
constexpr int kOne{1};
enum class Kind { a, b };
struct Place { int line; void print() const; };
template <typename T, size_t n = sizeof(T)>
std::vector<std::pair<T, int>> parsed(std::string_view text, int from = size_t{}) { int inner = 3; return {}; }
bool operator==(const Place& a, const Place& b) { return a.line == b.line; }
// int commented(int);
const char* const kText = "struct Quoted {}; // }";
}  // namespace
static int counted() { return 1'000; }
int visible(int inner) { return inner; }
}  // namespace contrafact
"""
SECOND = """
namespace contrafact {
namespace {
using Bytes = std::vector<uint8_t>;
using Time = double;
struct Other { int kOne, Kind; };
int parsed(const std::string& text) { struct Place {}; return 0; }
int visible, commented, Quoted, GONE;
constexpr char kRaw[] = R"(namespace { int kBoth; })";
int counted() { return 2; }
}  // namespace
Other::Other() : kBoth(1) {}
}  // namespace contrafact
"""


def checked(folder, *batches):
    (folder / "batches.txt").write_text("".join(f"some_target {' '.join(map(str, batch))}\n" for batch in batches))
    done = subprocess.run([sys.executable, TOOL, folder / "batches.txt"], capture_output=True, text=True)
    return done.returncode, sorted(line.split("'")[1] for line in done.stderr.splitlines()), done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, second, third = (folder / f"{name}.cc" for name in ("first", "second", "third"))
        first.write_text(FIRST)
        second.write_text(SECOND)
        third.write_text("#define LIMIT 8\nnamespace { struct Place; enum Kind : int { c }; int kBoth[2], kOne = f(3, 4); }\n")
        assert checked(folder, [first, second]) == (1, ["Time", "counted", "parsed"], "1 batches: 3 names that two have\n"), \
            checked(folder, [first, second])
        assert checked(folder, [first], [second]) == (0, [], "2 batches: 0 names that two have\n")
        assert checked(folder, [first, third])[1] == ["Kind", "LIMIT", "Place", "kBoth", "kOne"], checked(folder, [first, third])
        (folder / "fourth.h").write_text("#define LIMIT 8\nnamespace contrafact {\nstruct Place;\nint parsed(int);\nint counted_all();\n}\n")
        third.write_text(f'#include "{folder.name}/fourth.h"\nnamespace contrafact {{ int use = parsed(7); }}\n')
        assert checked(folder, [first, third])[1] == ["Place", "parsed"], checked(folder, [first, third])
        first.write_text(f'#include "{folder.name}/fourth.h"\n{FIRST}')
        assert checked(folder, [first, third])[1] == [], checked(folder, [first, third])


if __name__ == "__main__":
    main()
