#include "factory/cli/named_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/read_whole.h"

namespace kiln {
namespace {

// What these lead to may be a file that another program writes as well.
bool is_descriptor(const std::string& path) {
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

// What a symbolic link leads to, even if it is missing.
fs::path end_of_links(const fs::path& link) {
  constexpr int kMostLinks = 40;  // as Linux
  fs::path path = link;
  std::error_code problem;
  for (int links = 0; fs::is_symlink(path, problem); ++links) {
    if (links == kMostLinks) fail_with_errno(ELOOP, "write", link);
    path = path.parent_path() / fs::read_symlink(path, problem);
  }
  return path;
}

bool is_no_file(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// N of `-`, /dev/stdin and /dev/fd/N; nothing for other files.
std::optional<int> descriptor_of(const std::string& file) {
  if (file == "-" || file == "/dev/stdin") return STDIN_FILENO;
  constexpr std::string_view kFolder = "/dev/fd/";
  int number = -1;
  const char* end = file.data() + file.size();
  if (!file.starts_with(kFolder) || std::from_chars(file.data() + kFolder.size(), end, number).ptr != end ||
      number < 0)
    return std::nullopt;
  return number;
}

[[noreturn]] void cannot_keep(const std::string& file) {
  throw Error(ExitCode::store, fmt::format("cannot keep what {} says: {}", file, std::strerror(errno)));
}

}  // namespace

void write_named(const fs::path& path, std::string_view bytes, FileSystem& files) {
  if (!is_descriptor(path.string()) && !is_no_file(path))
    return files.write_output(end_of_links(path), bytes);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  std::size_t written = 0;
  while (file >= 0 && written < bytes.size()) {
    const ssize_t count = ::write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (file < 0 || written < bytes.size()) fail_with_errno(error, "write", path);
}

void refuse_folder(const fs::path& path, const std::string& option) {
  std::error_code problem;
  if (fs::is_directory(path, problem))
    throw Error(ExitCode::usage, fmt::format("{}: '{}' is a folder", option, path.string()), "name a file");
}

void need_regular(const fs::path& path, const std::string& option) {
  refuse_folder(path, option);
  if (is_no_file(path))
    throw Error(ExitCode::usage, fmt::format("{}: {} is not a regular file", option, path.string()),
                "this file is written out of order: name a new file");
}

bool is_stream(const std::string& file) { return descriptor_of(file).has_value(); }

void keep_readable(const std::string& file) {
  const std::optional<int> descriptor = descriptor_of(file);
  if (!descriptor || ::geteuid() == 0) return;
  const std::string bytes = read_whole(file == "-" ? "/dev/stdin" : file, JsonLimits{}.bytes).value_or("");
  const int memory = ::memfd_create("kiln-document", 0);
  if (memory < 0) cannot_keep(file);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::write(memory, bytes.data() + written, bytes.size() - written);
    if (count < 0) cannot_keep(file);
    written += static_cast<std::size_t>(count);
  }
  if (::dup2(memory, *descriptor) < 0) cannot_keep(file);
  ::close(memory);
}

}  // namespace kiln
