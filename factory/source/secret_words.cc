#include "factory/source/secret_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include "factory/base/text.h"
#include "factory/source/source_file.h"

namespace kiln {
namespace {

bool is_plain_word(std::string_view value) {
  return value.size() < 4 || is_one_of(value, "true false none auto required disabled enabled");
}

// Shannon's entropy in bits a byte: random base64 of 32 bytes has 4.5, English 3.5, hexadecimal digits at
// most 4.
double entropy(std::string_view text) {
  std::array<int, 256> counts{};
  for (unsigned char c : text) ++counts[c];
  double bits = 0;
  for (int count : counts) {
    if (count == 0) continue;
    double share = static_cast<double>(count) / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

bool looks_random(std::string_view value) {
  if (value.size() < 32 || value.find_first_of("/:,. ${}<>") != std::string_view::npos) return false;
  auto has = [&](int (*kind)(int)) {
    return std::ranges::any_of(value, [&](unsigned char c) { return kind(c) != 0; });
  };
  return has(std::isupper) && has(std::islower) && has(std::isdigit) && entropy(value) > 4.2;
}

struct TokenForm {
  std::string_view prefix;
  std::size_t rest;  // bytes of [A-Za-z0-9_-] that must follow
  std::string_view kind;
};
// Prefixes that the issuers document, so that scanners find them.
constexpr TokenForm kTokens[] = {
    {"ghp_", 36, "a GitHub token"},      {"gho_", 36, "a GitHub token"},
    {"ghs_", 36, "a GitHub token"},      {"github_pat_", 40, "a GitHub token"},
    {"glpat-", 20, "a GitLab token"},    {"AKIA", 16, "an AWS access key"},
    {"hf_", 30, "a Hugging Face token"}, {"xoxb-", 20, "a Slack token"},
    {"xoxp-", 20, "a Slack token"},      {"npm_", 36, "an npm token"},
    {"pypi-AgEI", 30, "a PyPI token"},   {"dckr_pat_", 20, "a Docker Hub token"},
    {"AIza", 35, "a Google API key"},    {"sk_live_", 20, "a Stripe key"},
    {"nvapi-", 40, "an NVIDIA API key"},
};

bool is_token_byte(char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The first token of this form that begins at or after `from`.
std::optional<Range> find_form(std::string_view text, const TokenForm& form, std::size_t from) {
  for (std::size_t at = text.find(form.prefix, from); at != std::string_view::npos;
       at = text.find(form.prefix, at + 1)) {
    if (at > 0 && is_token_byte(text[at - 1])) continue;
    std::size_t end = at + form.prefix.size();
    const std::size_t start = end;
    while (end < text.size() && is_token_byte(text[end])) ++end;
    if (end - start >= form.rest) return Range{at, end};
  }
  return std::nullopt;
}

// The first password of a URL that begins at or after `from`.
std::optional<Range> find_url_password(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("://", from); at != std::string_view::npos; at = text.find("://", at + 3)) {
    std::string_view authority = text.substr(at + 3);
    authority = authority.substr(0, authority.find_first_of("/ \"'"));
    const std::size_t sign = authority.rfind('@');
    const std::size_t colon = authority.find(':');
    if (sign == std::string_view::npos || colon == std::string_view::npos || colon + 1 >= sign) continue;
    if (!contains(authority.substr(colon + 1, sign - colon - 1), '$'))
      return Range{at + 3 + colon + 1, at + 3 + sign};
  }
  return std::nullopt;
}

}  // namespace

std::string token_in(std::string_view text) {
  for (const TokenForm& form : kTokens)
    if (find_form(text, form, 0)) return std::string(form.kind);
  std::size_t begin = text.find("-----BEGIN ");
  if (begin != std::string_view::npos && text.find("PRIVATE KEY-----", begin) != std::string_view::npos)
    return "a private key";
  return "";
}

bool has_credentials(std::string_view text) { return find_url_password(text, 0).has_value(); }

bool is_secret_name(std::string_view name) {
  const std::string capitals = upper_case(name);
  const std::vector<std::string_view> parts = split(capitals, '_');
  if (is_one_of(parts.back(), "FILE PATH DIR URL NAME TYPE LENGTH SIZE ID")) return false;
  const bool counts = parts.size() > 1 && is_one_of(parts[parts.size() - 2],
                                                    "ONE TWO FIRST SECOND THIRD LAST SINGLE MULTI RENDER");
  if (parts.size() > 1 && parts.back() == "PASS" && !counts) return true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_one_of(parts[i], "PASSWORD PASSWD PASSPHRASE SECRET TOKEN APIKEY CREDENTIAL CREDENTIALS"))
      return true;
    bool key = i + 1 < parts.size() && parts[i + 1] == "KEY";
    if (key && is_one_of(parts[i], "API ACCESS PRIVATE AUTH SIGNING ENCRYPTION LICENSE")) return true;
  }
  return false;
}

std::string secret_in(std::string_view name, std::string_view value) {
  if (std::string kind = token_in(value); !kind.empty())
    return fmt::format("the value of {} is {}", name, kind);
  if (value.empty() || value == kRedacted || contains(value, '$')) return "";
  if (is_secret_name(name) && !is_plain_word(value) && !value.starts_with('/'))
    return fmt::format("{} looks like a secret by its name", name);
  if (looks_random(value)) return fmt::format("the value of {} looks like a secret: it is random", name);
  return "";
}

namespace {

// Replaces secrets in a text line by line.
class Redactor {
 public:
  Redactor(bool assignments, std::vector<RedactedSecret>& found) : assignments_(assignments), found_(found) {}
  std::string line(std::string_view text);

 private:
  void replace(Range part, std::string what);
  void tokens();
  void url_passwords();
  void private_key();
  void assignments();
  void old_env();
  void assignment(std::size_t name, std::size_t end_of_name, std::size_t value);
  void argument();

  bool assignments_;
  std::vector<RedactedSecret>& found_;
  std::string line_;
  int number_ = 0;
  bool in_key_ = false;  // between the lines BEGIN and END of a private key
};

std::string Redactor::line(std::string_view text) {
  line_ = text;
  ++number_;
  private_key();
  tokens();
  url_passwords();
  if (!assignments_) return line_;
  old_env();
  argument();
  assignments();
  return line_;
}

void Redactor::replace(Range part, std::string what) {
  if (std::string_view(line_).substr(part.begin, part.end - part.begin) == kRedacted) return;
  line_.replace(part.begin, part.end - part.begin, kRedacted);
  RedactedSecret secret{number_, std::move(what)};
  if (!contains(found_, secret)) found_.push_back(std::move(secret));
}

void Redactor::tokens() {
  for (const TokenForm& form : kTokens)
    for (auto token = find_form(line_, form, 0); token; token = find_form(line_, form, token->begin + 1))
      replace(*token, "this is " + std::string(form.kind));
}

void Redactor::url_passwords() {
  for (auto part = find_url_password(line_, 0); part; part = find_url_password(line_, part->begin))
    replace(*part, "this URL has a password");
}

// Its base64 may be on lines of its own, or on one with `\n` in it.
void Redactor::private_key() {
  constexpr std::size_t kShortest = 16;
  const std::size_t begin = line_.find("-----BEGIN ");
  std::size_t at = 0;
  if (begin != std::string::npos) {
    const std::size_t head = line_.find("PRIVATE KEY-----", begin);
    if (head == std::string::npos) return;
    in_key_ = true;
    at = head + std::string_view("PRIVATE KEY-----").size();
  }
  if (!in_key_) return;
  const std::size_t last = line_.find("-----END ", at);
  auto is_base64 = [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/' || c == '='; };
  std::size_t stop = last == std::string::npos ? line_.size() : last;
  while (at < stop) {
    std::size_t end = at;
    while (end < stop && is_base64(line_[end])) ++end;
    const bool whole_line = trimmed(line_) == std::string_view(line_).substr(at, end - at);
    if (end - at >= kShortest || (whole_line && end > at)) {
      stop -= end - at;
      replace({at, end}, "this is a private key");
      end = at + kRedacted.size();
      stop += kRedacted.size();
    }
    at = end + 1;
  }
  if (last != std::string::npos) in_key_ = false;
}

// `ENV NAME value`, whose value is the rest of the line.
void Redactor::old_env() {
  const std::size_t verb = std::min(line_.find_first_not_of(" \t"), line_.size());
  if (upper_case(std::string_view(line_).substr(verb, 3)) != "ENV") return;
  const std::size_t name = line_.find_first_not_of(" \t", verb + 3);
  if (name == std::string::npos || name == verb + 3) return;
  const std::size_t end = line_.find_first_of(" \t", name);
  if (end == std::string::npos || contains(line_.substr(name, end - name), '=')) return;
  const std::size_t value = line_.find_first_not_of(" \t", end);
  if (value == std::string::npos) return;
  const std::size_t last = line_.find_last_not_of(" \t\r") + 1;
  const std::string reason =
      secret_in(line_.substr(name, end - name), std::string_view(line_).substr(value, last - value));
  if (!reason.empty()) replace({value, last}, reason);
}

void Redactor::assignments() {
  auto in_name = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  for (std::size_t equals = line_.find('='); equals != std::string::npos;
       equals = line_.find('=', equals + 1)) {
    std::size_t end = equals;
    if (end > 0 && line_[end - 1] == '+') --end;
    std::size_t name = end;
    while (name > 0 && in_name(line_[name - 1])) --name;
    if (name == end || (name > 0 && (line_[name - 1] == '$' || line_[name - 1] == '{'))) continue;
    assignment(name, end, equals + 1);
  }
}

// A line `NAME = value` of %arguments. Code has the same form, with other names and values.
void Redactor::argument() {
  const std::size_t equals = line_.find(" = ");
  if (equals == std::string::npos) return;
  const std::string_view name = trimmed(std::string_view(line_).substr(0, equals));
  const std::string_view value = trimmed(std::string_view(line_).substr(equals + 3));
  auto plain = [](char c) { return is_letter_or_digit(c) || contains("_-+/=.~!@#%^*:", c); };
  if (value.empty() || upper_case(name) != name || !std::ranges::all_of(name, plain) ||
      !std::ranges::all_of(value, plain))
    return;
  const auto begin = static_cast<std::size_t>(value.data() - line_.data());
  if (std::string reason = secret_in(name, value); !reason.empty())
    replace({begin, begin + value.size()}, reason);
}

// The quote that is open at `at`, 0 for none.
char open_quote(std::string_view line, std::size_t at) {
  char open = 0;
  for (char c : line.substr(0, at))
    if (c == '"' || c == '\'') open = open == 0 ? c : open == c ? '\0' : open;
  return open;
}

// The end of a shell word that begins at `at`: quotes keep blanks in it. `quote`: what the whole assignment
// stands in, "'" of 'NAME=value', or 0. `whole`: nothing else stands in it.
std::size_t end_of_value(std::string_view line, std::size_t at, char quote, bool whole) {
  for (char open = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (open == 0 && quote != 0 && c == quote) break;
    if (open == 0 && !whole && contains(" \t;&|)<>\r", c)) break;
    if (open == 0 && c == '\\' && at + 1 == line.size()) break;
    if (!whole && (c == '"' || c == '\'')) open = open == 0 ? c : open == c ? '\0' : open;
  }
  return at;
}

// `f(token=x)` and `f(a, token=x)` hand over what another line knows; f(token="x") does not.
bool hands_over(std::string_view line, std::size_t name, std::size_t value) {
  const std::size_t before = line.substr(0, name).find_last_not_of(' ');
  const bool of_call = before != std::string_view::npos && (line[before] == '(' || line[before] == ',');
  return of_call && (value == line.size() || (line[value] != '"' && line[value] != '\''));
}

void Redactor::assignment(std::size_t name, std::size_t end_of_name, std::size_t value) {
  const std::string variable = line_.substr(name, end_of_name - name);
  const char before = name > 0 ? line_[name - 1] : '\0';
  const bool whole = before == '"' || before == '\'';
  const char quote = whole ? before : open_quote(line_, name);
  if (hands_over(line_, name, value)) return;
  const std::size_t last = end_of_value(line_, value, quote, whole);
  std::string plain = line_.substr(value, last - value);
  std::erase_if(plain, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
  const std::string reason = secret_in(variable, plain);
  if (!reason.empty()) replace({value, last}, reason);
}

std::string redacted_lines(std::string_view text, bool assignments, std::vector<RedactedSecret>& found) {
  Redactor redactor(assignments, found);
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += redactor.line(text.substr(at, end - at));
    if (end == text.size()) return out;
    out += '\n';
    at = end + 1;
  }
}

}  // namespace

std::string redacted(std::string_view text, std::vector<RedactedSecret>& found) {
  return redacted_lines(text, true, found);
}

std::string redacted_tokens(std::string_view text, std::vector<RedactedSecret>& found) {
  return redacted_lines(text, false, found);
}

}  // namespace kiln
