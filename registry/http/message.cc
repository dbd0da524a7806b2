#include "registry/http/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json_text.h"
#include "factory/base/text.h"

namespace kiln {

std::string_view ReceivedRequest::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers)
    if (name == lower_case_name) return value;
  return {};
}

std::string http_error_code(int status) {
  static constexpr std::pair<int, const char*> kCodes[] = {
      {400, "bad_request"},           {401, "unauthorized"},       {404, "not_found"},
      {405, "method_not_allowed"},    {409, "conflict"},           {411, "length_required"},
      {413, "content_too_large"},     {414, "uri_too_long"},       {415, "unsupported_media_type"},
      {422, "unprocessable_content"}, {429, "too_many_requests"},  {431, "request_header_fields_too_large"},
      {501, "not_implemented"},       {503, "service_unavailable"}};
  for (const auto& [known, code] : kCodes)
    if (known == status) return code;
  return "internal_error";
}

HttpResponse http_error(int status, const std::string& message, const std::string& hint) {
  Json error{{"code", http_error_code(status)}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  HttpResponse response;
  response.status = status;
  response.body = printable_json({{"error", std::move(error)}}) + "\n";
  return response;
}

namespace {

constexpr std::size_t kMostPieces = 64;  // segments, and members of the query: none of ours has more than ten

[[noreturn]] void bad_target(const std::string& message, const std::string& hint = "") {
  throw Error(ExitCode::input, message, hint);
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = lower_case(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string segment_of(std::string_view raw) {
  const auto text = percent_decoded(raw, false);
  if (!text) bad_target("the path is not valid percent-encoded UTF-8 text");
  if (text->empty()) bad_target("the path has an empty segment", "a slash too many");
  if (*text == "." || *text == "..") bad_target("the path has a segment '" + *text + "'");
  return *text;
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  path.remove_prefix(1);
  if (path.empty()) return segments;
  segments.reserve(4);
  for (std::string_view raw : split(path, '/')) segments.push_back(segment_of(raw));
  if (segments.size() > kMostPieces) bad_target("the path has too many segments");
  return segments;
}

// What the absolute form (RFC 9112, section 3.2.2) has after its authority, which is not looked at. An origin
// server takes this form, too.
std::string_view without_authority(std::string_view raw) {
  const std::size_t colon = raw.find("://");
  const std::string scheme = lower_case(raw.substr(0, std::min(colon, raw.size())));
  if (scheme != "http" && scheme != "https") return raw.starts_with('?') ? "" : raw;
  raw.remove_prefix(colon + 3);
  const std::size_t end = std::min(raw.find_first_of("/?"), raw.size());
  const std::string_view authority = raw.substr(0, end);
  if (authority.empty() || contains(authority, '@'))
    bad_target("the target has no host, or also names a user");
  raw.remove_prefix(end);
  return raw.empty() ? "/" : raw;
}

void add_member(std::string_view piece, HttpTarget& target) {
  const std::size_t equals = piece.find('=');
  auto name = percent_decoded(piece.substr(0, equals), true);
  auto value = percent_decoded(equals == piece.npos ? "" : piece.substr(equals + 1), true);
  if (!name || !value) bad_target("the query is not valid percent-encoded UTF-8 text");
  if (name->empty()) bad_target("the query has a member without a name");
  for (const auto& [other, ignored] : target.query)
    if (other == *name) bad_target(fmt::format("the query has '{}' twice", *name));
  if (target.query.size() == kMostPieces) bad_target("the query has too many members");
  target.query.emplace_back(*std::move(name), *std::move(value));
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0)
        return std::nullopt;
      c = static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else if (c == '+' && plus_is_blank) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    out += c;
  }
  if (first_not_utf8(out) != std::string::npos) return std::nullopt;
  return out;
}

HttpTarget parse_target(std::string_view raw) {
  for (char c : raw)
    if (c <= ' ' || c > '~' || std::string_view("#\"<>\\^`{|}").find(c) != std::string_view::npos)
      bad_target("the target has a character that must be percent-encoded", "write it as %XX");
  raw = without_authority(raw);
  if (!raw.starts_with('/') && !raw.starts_with('?'))
    bad_target("expected a path that begins with a slash", "the authority form is for proxies");
  const std::size_t question = raw.find('?');
  HttpTarget target;
  if (question != 0) target.segments = segments_of(raw.substr(0, question));
  const std::string_view query = question == raw.npos ? "" : raw.substr(question + 1);
  for (std::string_view piece : split(query, '&'))
    if (!piece.empty()) add_member(piece, target);
  return target;
}

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
    const auto length = as_number<std::uint64_t>(value);
    if (!length) return refuse(block, 400, "Content-Length is not a number");
    block.content_length = *length;
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
