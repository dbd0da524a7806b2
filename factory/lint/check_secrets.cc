// Passwords, tokens and keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "factory/base/text.h"
#include "factory/lint/check_script.h"

namespace kiln::lint {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_secret_name(std::string_view name) {
  const std::string capitals = upper_case(name);
  const std::vector<std::string_view> parts = split(capitals, '_');
  if (is_one_of(parts.back(), {"FILE", "PATH", "DIR", "URL", "NAME", "TYPE", "LENGTH", "SIZE", "ID"}))
    return false;
  const bool counts =
      parts.size() > 1 && is_one_of(parts[parts.size() - 2], {"ONE", "TWO", "FIRST", "SECOND", "THIRD",
                                                              "LAST", "SINGLE", "MULTI", "RENDER"});
  if (parts.size() > 1 && parts.back() == "PASS" && !counts) return true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_one_of(parts[i], {"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY", "CREDENTIAL",
                             "CREDENTIALS"}))
      return true;
    bool key = i + 1 < parts.size() && parts[i + 1] == "KEY";
    if (key && is_one_of(parts[i], {"API", "ACCESS", "PRIVATE", "AUTH", "SIGNING", "ENCRYPTION", "LICENSE"}))
      return true;
  }
  return false;
}

bool is_plain_word(std::string_view value) {
  return value.size() < 4 ||
         is_one_of(value, {"true", "false", "none", "auto", "required", "disabled", "enabled"});
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
    return std::any_of(value.begin(), value.end(), [&](unsigned char c) { return kind(c) != 0; });
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

bool holds_form(std::string_view text, const TokenForm& form) {
  for (std::size_t at = text.find(form.prefix); at != std::string_view::npos;
       at = text.find(form.prefix, at + 1)) {
    if (at > 0 && is_token_byte(text[at - 1])) continue;
    std::size_t end = at + form.prefix.size();
    std::size_t start = end;
    while (end < text.size() && is_token_byte(text[end])) ++end;
    if (end - start >= form.rest) return true;
  }
  return false;
}

}  // namespace

std::string token_in(std::string_view text) {
  for (const TokenForm& form : kTokens)
    if (holds_form(text, form)) return std::string(form.kind);
  std::size_t begin = text.find("-----BEGIN ");
  if (begin != std::string_view::npos && text.find("PRIVATE KEY-----", begin) != std::string_view::npos)
    return "a private key";
  return "";
}

bool has_credentials(std::string_view text) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    std::string_view authority = text.substr(at + 3);
    authority = authority.substr(0, authority.find_first_of("/ \"'"));
    std::size_t sign = authority.rfind('@');
    std::size_t colon = authority.find(':');
    if (sign == std::string_view::npos || colon == std::string_view::npos || colon + 1 >= sign) continue;
    if (authority.substr(colon + 1, sign - colon - 1).find('$') == std::string_view::npos) return true;
  }
  return false;
}

std::string secret_in(std::string_view name, std::string_view value) {
  if (std::string kind = token_in(value); !kind.empty())
    return fmt::format("the value of {} is {}", name, kind);
  if (value.empty() || value.find('$') != std::string_view::npos) return "";
  if (is_secret_name(name) && !is_plain_word(value) && !value.starts_with('/'))
    return fmt::format("{} looks like a secret by its name", name);
  if (looks_random(value)) return fmt::format("the value of {} looks like a secret: it is random", name);
  return "";
}

void check_script_secrets(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    for (const ShellToken& word : command.words) {
      if (has_credentials(word.text))
        add(report, "KL061", unit, command, word.span, "this URL has a password");
      std::string_view name = assigned_name(word.text);
      std::string reason;
      if (!name.empty()) {
        reason = secret_in(name, std::string_view(word.text).substr(word.text.find('=') + 1));
      } else if (std::string kind = token_in(word.text); !kind.empty()) {
        reason = "this is " + kind;
      }
      if (!reason.empty()) add(report, "KL060", unit, command, word.span, reason);
    }
  }
}

}  // namespace kiln::lint
