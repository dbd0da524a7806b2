#include "registry/http/header_block.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kUsualHeaders = 12;
constexpr std::string_view kLineEnd("\0\0", 2);  // what was CR LF

// RFC 9110, section 5.6.2.
constexpr std::array<bool, 256> kInToken = [] {
  std::array<bool, 256> in{};
  for (unsigned c = 0; c < in.size(); ++c) in[c] = is_letter_or_digit(static_cast<char>(c));
  for (unsigned char c : std::string_view("!#$%&'*+-.^_`|~")) in[c] = true;
  return in;
}();

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return kInToken[c]; });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Without the bytes up to the first NUL, and that.
std::string_view read_until_nul(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  if (end == rest.npos) return {};
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

bool skip(std::string_view& rest, std::string_view expected) {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(expected.size());
  return true;
}

bool read_request_line(std::string_view& rest, std::size_t target_bytes, bool& is_1_0) {
  if (!is_token(read_until_nul(rest)) || rest.size() < target_bytes) return false;
  rest.remove_prefix(target_bytes);
  if (!skip(rest, std::string_view("\0", 1))) return false;
  is_1_0 = rest.starts_with("HTTP/1.0");
  return (skip(rest, "HTTP/1.1") || skip(rest, "HTTP/1.0")) && skip(rest, kLineEnd);
}

bool read_header(std::string_view& rest, HttpHeaders& headers) {
  const std::string_view name = read_until_nul(rest);
  if (!is_token(name)) return false;
  const std::size_t end = rest.find('\0');
  if (end == rest.npos) return false;
  const std::string_view value = without_blanks(rest.substr(0, end));
  rest.remove_prefix(end);
  for (char c : value)
    if (is_control(c) && c != '\t') return false;
  headers.emplace_back(lower_case(name), value);
  return skip(rest, kLineEnd);
}

void refuse(HeaderBlock& block, int status, const char* why) {
  block.status = status;
  block.why = why;
}

// How long the body is must be said once, and in one way.
void read_framing(HeaderBlock& block, bool is_1_0) {
  int hosts = 0, lengths = 0, encodings = 0;
  for (const auto& [name, value] : block.headers) {
    hosts += name == "host";
    encodings += name == "transfer-encoding";
    if (name != "content-length") continue;
    ++lengths;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), block.content_length);
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || !is_digit(value.front()))
      return refuse(block, 400, "Content-Length is not a number");
  }
  if (hosts > 1) return refuse(block, 400, "there is more than one Host");
  if (hosts == 0 && !is_1_0) return refuse(block, 400, "the header Host is missing");
  if (lengths > 1) return refuse(block, 400, "there is more than one Content-Length");
  if (encodings > 0 && (lengths > 0 || is_1_0))
    return refuse(block, 400, "Transfer-Encoding is not allowed with Content-Length or in HTTP/1.0");
  if (encodings > 0) refuse(block, 411, "a body needs a Content-Length; Transfer-Encoding is not supported");
}

}  // namespace

HeaderBlock read_header_block(std::string_view rest, std::size_t target_bytes) {
  HeaderBlock block;
  block.headers.reserve(kUsualHeaders);
  bool is_1_0 = false;
  if (!read_request_line(rest, target_bytes, is_1_0)) {
    refuse(block, 400, "the request line is not METHOD TARGET HTTP/1.1, ended by CR LF");
    return block;
  }
  while (rest != kLineEnd) {
    if (read_header(rest, block.headers)) continue;
    refuse(block, 400, "a header is not `name: value` in one line, ended by CR LF");
    return block;
  }
  read_framing(block, is_1_0);
  return block;
}

}  // namespace kiln
