#include "factory/cli/kept_input.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/read_whole.h"

namespace kiln {
namespace {

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
