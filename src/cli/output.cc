#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "model/save.h"
#include "table/prose.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

std::vector<std::string>& inputs() {
  static std::vector<std::string> paths;
  return paths;
}

base::Status check_no_input(const std::string& path) {
  for (const std::string& input : inputs()) {
    std::error_code ignored;
    if (std::filesystem::equivalent(input, path, ignored))
      return base::Error{fmt::format("cannot write '{}': it is the input; give another name", path)};
  }
  return {};
}

// A closed pipe is no error: whoever read it had enough.
base::Status write_to_reader(int fd, std::string_view content, const std::string& name) {
  base::Status written = base::write_all(fd, content, name);
  return !written && errno == EPIPE ? base::Status() : written;
}

}  // namespace

base::Status print(std::string_view content) {
  return write_to_reader(STDOUT_FILENO, content, "standard output");
}

base::Status print_text(const Session& session, std::string_view text) {
  return print(table::wrap_prose(text, session.out.prose));
}

void protect_input(const std::string& path) {
  if (std::ranges::find(inputs(), path) == inputs().end()) inputs().push_back(path);
}

base::Status write_output(const std::string& path, std::string_view content) {
  OutputStream out(path);
  out.write(content);
  return out.finish();
}

OutputStream::OutputStream(std::string path, mode_t mode) : path_(std::move(path)), status_(open(mode)) {}

OutputStream::~OutputStream() {
  close();
}

base::Status OutputStream::open(mode_t mode) {
  name_ = path_ == "-" ? "standard output" : fmt::format("'{}'", path_);
  if (path_ == "-") {
    fd_ = STDOUT_FILENO;
    return {};
  }
  if (base::Status other = check_no_input(path_); !other) return other;
  struct stat found{};
  if (::stat(path_.c_str(), &found) != 0 || S_ISREG(found.st_mode)) {
    file_.emplace(path_, mode);
    return file_->status();
  }
  if (S_ISDIR(found.st_mode)) return base::Error{fmt::format("cannot write {}: it is a folder", name_)};
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ >= 0) return {};
  return base::Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
}

void OutputStream::close() {
  if (fd_ != STDOUT_FILENO && fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void OutputStream::write(std::string_view part) {
  if (!status_) return;
  if (file_)
    file_->write(part);
  else
    status_ = write_to_reader(fd_, part, name_);
}

base::Status OutputStream::finish() {
  close();
  return status_ && file_ ? file_->finish() : status_;
}

base::Status make_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "specs/"
  std::error_code failed;
  if (fs::is_directory(path, failed)) return {};
  if (fs::exists(path, failed)) return base::Error{fmt::format("'{}' is a file; specs go into a folder", folder)};
  const fs::path parent = path.parent_path();
  if (!parent.empty() && !fs::is_directory(parent, failed)) {
    std::string why = fs::exists(parent, failed)
                          ? fmt::format("'{}' is no folder", parent.string())
                          : fmt::format("there is no folder '{}'; make it first", parent.string());
    return base::Error{fmt::format("cannot make the folder '{}': {}", folder, why)};
  }
  if (fs::create_directory(path, failed)) return {};
  return base::Error{fmt::format("cannot make the folder '{}': {}", folder, failed.message())};
}

void tell_specs(const Session& session, const std::string& folder, const std::vector<std::string>& names,
                std::string_view why_none) {
  constexpr size_t kNamed = 3;
  if (names.empty()) return tell(session, fmt::format("no spec written into {}: {}", folder, why_none));
  std::string text = fmt::format("wrote {} into {}: ", table::counted_text(names.size(), "spec", "specs"), folder);
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + names[i];
  tell(session, names.size() > kNamed ? fmt::format("{} and {} more", text, names.size() - kNamed) : text);
}

base::Status save_trace(const model::Trace& trace, const std::string& path) {
  if (base::Status writable = check_writable(path, 0); !writable) return writable;
  return model::save(trace, path);
}

base::Status check_writable(const std::string& path, uint64_t bytes_free_min) {
  if (base::Status other = check_no_input(path); !other) return other;
  struct stat found{};
  if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    return base::Error{fmt::format("cannot write '{}': it is no regular file", path)};
  }
  std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  if (::stat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return base::Error{fmt::format("cannot write '{}': there is no folder '{}'", path, folder)};
  }
  std::string probe = fmt::format("{}.probe-XXXXXX", path);
  int fd = ::mkstemp(probe.data());
  if (fd < 0) {
    // /proc and its like say of a new file that there is none of that name
    const std::string why =
        errno == ENOENT ? fmt::format("the folder '{}' takes no new files", folder) : std::strerror(errno);
    return base::Error{fmt::format("cannot write '{}': {}", path, why)};
  }
  ::close(fd);
  ::unlink(probe.c_str());
  struct statvfs space{};
  if (::statvfs(folder.c_str(), &space) != 0) return {};
  uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  if (free_bytes >= bytes_free_min) return {};
  return base::Error{fmt::format("not enough space in '{}': {} free, a recording needs at least {}", folder,
                                 table::bytes_text(static_cast<double>(free_bytes)),
                                 table::bytes_text(static_cast<double>(bytes_free_min)))};
}

}  // namespace contrafact::cli
