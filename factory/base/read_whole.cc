#include "factory/base/read_whole.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "factory/base/effects.h"
#include "factory/base/file_handle.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kPiece = 64u << 10;

// A descriptor to read from, open for the length of a scope.
class Source {
 public:
  Source(const fs::path& path, int fd) : path_(path), fd_(fd), error_(fd < 0 ? errno : 0) {
    if (fd_ >= 0 && ::fstat(fd_, &status_) != 0) fail(errno);
  }

  bool is_absent() const { return error_ == ENOENT || error_ == ENOTDIR; }
  bool is_file() const { return fd_ >= 0 && S_ISREG(status_.st_mode); }
  // Of a file; 0 for those whose size nobody knows, as in /proc.
  std::uint64_t size() const { return static_cast<std::uint64_t>(status_.st_size); }

  // REQUIRES: not absent.
  [[noreturn]] void refuse() const {
    const char* kind = nullptr;
    if (error_ == ENXIO || S_ISSOCK(status_.st_mode)) kind = "a socket";
    if (S_ISFIFO(status_.st_mode)) kind = "a named pipe";
    if (S_ISCHR(status_.st_mode) || S_ISBLK(status_.st_mode)) kind = "a device";
    if (S_ISDIR(status_.st_mode))
      throw Error(ExitCode::input, fmt::format("'{}' is a folder", path_.string()));
    if (kind == nullptr) fail(error_);
    throw Error(ExitCode::input, fmt::format("'{}' is {}, not a file", path_.string(), kind),
                S_ISFIFO(status_.st_mode) ? "hand a pipe over as /dev/stdin" : "");
  }
  bool is_open() const { return fd_ >= 0; }
  bool is_folder() const { return S_ISDIR(status_.st_mode); }

  [[noreturn]] void refuse_size(const std::string& what) const {
    throw Error(ExitCode::input, {path_.string(), 0, 0, ""}, what);
  }

  // The next bytes, 0 at the end. A file is read at `offset`, so that a second reader finds all of it.
  std::size_t read(char* bytes, std::size_t size, std::uint64_t offset) const {
    while (true) {
      ssize_t got = is_file() ? ::pread(fd_, bytes, size, static_cast<off_t>(offset)) : next(bytes, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
      if (errno != EINTR && errno != EAGAIN) fail(errno);
    }
  }

 private:
  // Of a pipe. poll(2) is never started again by the system, so a signal gets through while it is silent.
  ssize_t next(char* bytes, std::size_t size) const {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, -1) < 0 ? -1 : ::read(fd_, bytes, size);
  }
  [[noreturn]] void fail(int number) const {
    throw Error(ExitCode::store, fmt::format("cannot read {}: {}", path_.string(), std::strerror(number)),
                number == EACCES || number == EPERM ? "check the owner and the mode" : "");
  }

  fs::path path_;
  FileHandle fd_;
  int error_;
  struct stat status_ {};
};

// The descriptor that a name such as /dev/fd/63 stands for, -1 for other names.
int handed_over(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.starts_with(folder))
      return std::max(-1, as_number<int>(path.substr(folder.size())).value_or(-1));
  }
  return -1;
}

// Without waiting for anybody: a pipe with a name opens at once, and is refused for what it is.
int open_file(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void read_up_to(const Source& source, std::uint64_t most,
                const std::function<void(std::string_view piece)>& take) {
  std::array<char, kPiece> piece;
  std::uint64_t done = 0;
  auto room = [&] { return std::min<std::uint64_t>(piece.size(), most - done + 1); };
  while (std::size_t got = source.read(piece.data(), room(), done)) {
    if (got > most - done) source.refuse_size(fmt::format("more than {} bytes, which is the limit", most));
    done += got;
    take({piece.data(), got});
  }
}

// What `path` names, open and of a kind that can be read; nullptr when absent.
std::unique_ptr<Source> open_source(const fs::path& path, std::uint64_t most) {
  const int ours = handed_over(path.string());
  auto source =
      std::make_unique<Source>(path, ours >= 0 ? ::fcntl(ours, F_DUPFD_CLOEXEC, 3) : open_file(path));
  if (source->is_absent()) return nullptr;
  if (!source->is_file() && (ours < 0 || !source->is_open() || source->is_folder())) source->refuse();
  if (source->is_file() && source->size() > most)
    source->refuse_size(fmt::format("{} bytes, the limit is {}", source->size(), most));
  return source;
}

}  // namespace

std::optional<std::string> read_whole(const fs::path& path, std::uint64_t most) {
  const auto source = open_source(path, most);
  if (!source) return std::nullopt;
  std::string bytes;
  if (source->is_file()) bytes.reserve(std::min(source->size(), most) + 1);
  read_up_to(*source, most, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

bool read_pieces(const fs::path& path, std::uint64_t most,
                 const std::function<void(std::string_view piece)>& take) {
  const auto source = open_source(path, most);
  if (source) read_up_to(*source, most, take);
  return source != nullptr;
}

std::string read_end(const fs::path& path, std::uint64_t most) {
  Source source(path, open_file(path));
  if (source.is_absent()) return "";
  if (!source.is_file()) source.refuse();
  std::uint64_t from = source.size() > most ? source.size() - most : 0;
  std::string bytes(source.size() - from, '\0');
  std::size_t done = 0;
  while (std::size_t got =
             done == bytes.size() ? 0 : source.read(bytes.data() + done, bytes.size() - done, from + done))
    done += got;
  bytes.resize(done);
  return bytes;
}

}  // namespace kiln
