#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "factory/base/text.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

// All marks are in lower case.
constexpr std::array kDiskFull = {"no space left on device", "disk quota exceeded", "wrote only",
                                  "you don't have enough free space"};

// What a full disk below an overlay, and a broken one, give.
constexpr std::array kDiskError = {"input/output error", ": i/o error"};

// pip; sha256sum of coreutils and of busybox; uv and CMake; conda and go; Bazel.
constexpr std::array kWrongHash = {"do not match the hashes",
                                   "computed checksum did not match",
                                   "computed checksums did not match",
                                   "hash mismatch",
                                   "checksum mismatch",
                                   "checksummismatch",
                                   "but wanted"};

// What stands in front of the hash that was asked for, and of the one that came.
constexpr std::array kExpected = {"expected", "wanted", "go.sum"};
constexpr std::array kCame = {"got", "computed", "actual", "received", "checksum was", "downloaded:"};

// pip; curl; wget and busybox's; apt; Python; git.
constexpr std::array kMoved = {
    "http error 404", "returned error: 404", "error 404:",         "http/1.0 404",
    "http/1.1 404",   "404  not found",      "404 not found",      "http error 410",
    "410 gone",       "returned error: 410", "fatal: repository '"};

// gcc and clang; make; the C library; Python; C++; nvcc.
constexpr std::array kMemory = {"killed signal terminated program",
                                "error 137",
                                "cannot allocate memory",
                                "virtual memory exhausted",
                                "memoryerror",
                                "std::bad_alloc",
                                "out of memory"};

// The source is at fault, and a second try may succeed.
constexpr std::array kUnreachable = {"temporary failure in name resolution",
                                     "temporary failure resolving",
                                     "name or service not known",
                                     "could not resolve host",
                                     "could not resolve '",
                                     "unable to resolve host",
                                     "bad address '",
                                     "no such host",
                                     "connection reset by peer",
                                     "connection timed out",
                                     "connection refused",
                                     "couldn't connect to server",
                                     "network is unreachable",
                                     "tls handshake timeout",
                                     "read timed out",
                                     "remote end closed connection",
                                     "hash sum mismatch",
                                     "file has unexpected size",
                                     "unable to connect to",
                                     "500 internal server error",
                                     "502 bad gateway",
                                     "503 service unavailable",
                                     "504 gateway time",
                                     "429 too many requests"};

constexpr std::size_t kLastLines = 20;  // what a script ends with; a mark before that may be of another try
constexpr std::size_t kLongestLine = 160;  // bytes of a line in a message, but for the rest of a hash
constexpr std::size_t kShortestHash = 32;  // MD5's hexadecimal digits
constexpr std::size_t kNoise = 60;         // lines that may come between an error and the end

// buildah that cannot write its own log panics behind the script that failed: its trace says nothing of why.
std::string without_trace(const std::string& tail) {
  const std::size_t panic = tail.find("panic: runtime error");
  const bool of_engine =
      panic != std::string::npos && tail.find("github.com/containers/buildah", panic) != std::string::npos;
  return of_engine ? tail.substr(0, panic) : tail;
}

bool is_hash_byte(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// At most kLongestLine bytes, and whole characters; a hash is shown whole or not.
std::string shortened(std::string_view line) {
  if (line.size() <= kLongestLine) return std::string(line);
  std::size_t begin = kLongestLine;
  std::size_t end = kLongestLine;
  while (begin > 0 && is_hash_byte(line[begin - 1])) --begin;
  while (end < line.size() && is_hash_byte(line[end])) ++end;
  std::size_t size = kLongestLine;
  if (end - begin >= kShortestHash) size = end - begin <= 128 ? end : begin;
  while (size > 0 && size < line.size() && (static_cast<unsigned char>(line[size]) & 0xc0u) == 0x80u) --size;
  return std::string(line.substr(0, size));
}

// The last lines, and which of them has a mark.
class Ending {
 public:
  explicit Ending(const std::string& tail) {
    std::istringstream text(last_lines(tail, kLastLines));
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  // The first line with a mark, as an index; npos when there is none.
  template <typename Marks>
  std::size_t find(const Marks& marks) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (contains_any(lower_case(lines_[i]), marks)) return i;
    return std::string::npos;
  }
  std::string line(std::size_t index) const {
    return index < lines_.size() ? shortened(trimmed(lines_[index])) : "";
  }
  std::size_t size() const { return lines_.size(); }
  std::string from(std::size_t index) const {
    std::string text;
    for (std::size_t i = index; i < lines_.size(); ++i) text += lines_[i] + "\n";
    return text;
  }

 private:
  std::vector<std::string> lines_;
};

// The first address in a line, without the name and password that it may have; "" when there is none.
std::string address_in(const std::string& line) {
  const std::size_t colon = line.find("://");
  if (colon == std::string::npos) return "";
  std::size_t begin = colon;
  while (begin > 0 && is_letter(line[begin - 1])) --begin;
  std::size_t end = std::min(line.find_first_of(" \t'\"<>", colon), line.size());
  while (end > colon && std::string_view(":,.)").find(line[end - 1]) != std::string_view::npos) --end;
  const std::size_t host = colon + 3;
  const std::size_t path = std::min(line.find('/', host), end);
  const std::size_t login = line.rfind('@', path);
  const std::size_t from = login != std::string::npos && login >= host ? login + 1 : host;
  return line.substr(begin, host - begin) + line.substr(from, end - from);
}

// pip names the package on the next line, sha256sum the file on one of its own that ends in "FAILED".
std::string what_has_the_hash(const Ending& ending, std::size_t mark) {
  if (ending.line(mark).find("HASHES FROM") != std::string::npos) {
    std::string package = ending.line(mark + 1);
    if (package.ends_with(':')) package.pop_back();
    return package;
  }
  for (std::size_t i = 0; i < ending.size(); ++i)
    if (ending.line(i).ends_with(": FAILED")) return ending.line(i);
  return ending.line(mark);
}

// Where the last of these words ends; 0 when there is none.
template <typename Marks>
std::size_t end_of_last(std::string_view text, const Marks& marks) {
  std::size_t end = 0;
  for (std::string_view mark : marks)
    if (std::size_t at = text.rfind(mark); at != std::string_view::npos)
      end = std::max(end, at + mark.size());
  return end;
}

// ": expected X, got Y" where the text names both.
std::string hashes_in(const std::string& text) {
  const std::string lower = lower_case(text);
  std::string expected;
  std::string came;
  std::size_t before = 0;  // the end of the hash before
  for (std::size_t at = 0; at < lower.size();) {
    std::size_t end = at;
    while (end < lower.size() && is_letter_or_digit(lower[end])) ++end;
    const std::string_view word = std::string_view(lower).substr(at, end - at);
    if (word.size() >= kShortestHash && is_hex(word)) {
      const std::string_view label = std::string_view(lower).substr(before, at - before);
      const std::size_t asked = end_of_last(label, kExpected);
      const std::size_t found = end_of_last(label, kCame);
      std::string& which = asked > found ? expected : came;
      if (asked != found && which.empty()) which = word;
      before = end;
    }
    at = std::max(end, at + 1);
  }
  return expected.empty() || came.empty() ? "" : fmt::format(": expected {}, got {}", expected, came);
}

// wget names the address some lines before what became of it.
std::string what_moved(const Ending& ending, std::size_t mark) {
  for (std::size_t i = mark + 1; i-- > 0 && i + 5 > mark;)
    if (std::string address = address_in(ending.line(i)); !address.empty()) return address;
  return ending.line(mark);
}

// What follows an error and says nothing of it: engines, make and ninja, pip's advice, the shell's trace.
bool is_noise(std::string_view line) {
  static constexpr std::array kBegins = {"subprocess exited with status",
                                         "error: exit status",
                                         "error: subprocess-exited-with-error",
                                         "make: leaving directory",
                                         "make: ***",
                                         "ninja: build stopped",
                                         "note: ",
                                         "hint: ",
                                         "[notice]",
                                         "warning: ",
                                         "[end of output]",
                                         "compilation terminated",
                                         "see above for",
                                         "╰─> see above",
                                         "+ "};
  std::string lower = lower_case(trimmed(line));
  if (lower.starts_with("make[") && lower.find(']') != std::string::npos)  // make[2]: …
    lower = "make" + lower.substr(lower.find(']') + 1);
  if (lower.starts_with("make: ***")) return lower.find("] error ") != std::string::npos;
  return lower.empty() ||
         std::ranges::any_of(kBegins, [&](const char* begin) { return lower.starts_with(begin); });
}

// "x.c:3:1: error: …", "ModuleNotFoundError: …", "E: Unable to locate package", "fatal: …".
bool is_error_line(std::string_view line) {
  const std::string lower = lower_case(trimmed(line));
  if (lower.starts_with("e: ") || lower.find("undefined reference to") != std::string::npos) return true;
  for (const char* word : {"error:", "fatal:", "exception:", "panic:"})
    if (std::size_t at = lower.find(word); at != std::string::npos)
      return at == 0 || lower[at - 1] != '-';  // "--on-error:"
  return false;
}

}  // namespace

std::optional<Cause> cause_in(const std::string& tail) {
  const std::string all = lower_case(tail);
  if (contains_any(all, kDiskFull)) return Cause{CauseKind::disk_full, "the disk is full"};
  const Ending ending(without_trace(tail));
  constexpr std::size_t kNone = std::string::npos;
  if (std::size_t mark = ending.find(kDiskError); mark != kNone)
    return Cause{CauseKind::disk_full, "the disk is full, or fails: " + ending.line(mark)};
  if (std::size_t mark = ending.find(kWrongHash); mark != kNone)
    return Cause{CauseKind::wrong_hash, "a download has another hash than the recipe says: " +
                                            what_has_the_hash(ending, mark) + hashes_in(ending.from(mark))};
  if (std::size_t mark = ending.find(kMoved); mark != kNone)
    return Cause{CauseKind::moved, "an archive is not where the recipe says: " + what_moved(ending, mark)};
  if (std::size_t mark = ending.find(kMemory); mark != kNone)
    return Cause{CauseKind::memory, "out of memory: " + ending.line(mark)};
  if (contains_any(all, kUnreachable))
    return Cause{CauseKind::unreachable, "a package source could not be reached"};
  return std::nullopt;
}

std::string last_words(const std::string& tail) {
  std::istringstream text(last_lines(without_trace(tail), kNoise));
  std::string any;
  std::string last;
  std::string error;
  for (std::string line; std::getline(text, line);) {
    const std::string_view plain = trimmed(line);
    const bool of_engine = line.starts_with("subprocess exited with status") ||
                           line.starts_with("Error: exit status") || line.starts_with("error: exit status");
    if (!of_engine && !plain.empty()) any = line;
    if (is_noise(line)) continue;
    last = line;
    if (is_error_line(line)) error = line;
  }
  if (last.empty()) return shortened(any);
  if (error.empty() || error == last) return shortened(last);
  return fmt::format("{}; its last line: {}", shortened(trimmed(error)), shortened(trimmed(last)));
}

}  // namespace kiln
