#include "factory/base/secret_mask.h"

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kShortestLine = 4;
constexpr std::size_t kShortestWord = 8;
constexpr std::string_view kBetweenWords = " \t\r\"',:;=<>()[]{}";

void longest_first(std::vector<std::string>& words) {
  std::ranges::sort(words, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

std::vector<std::string> words_of_secret(std::string_view bytes) {
  std::vector<std::string> words;
  for (std::string_view line : split(bytes, '\n')) {
    line = trimmed(line);
    if (line.size() >= kShortestLine) words.emplace_back(line);
    for (std::string_view word : split(line, kBetweenWords))
      if (word.size() >= kShortestWord) words.emplace_back(word);
  }
  longest_first(words);
  return words;
}

std::vector<std::string> passwords_in_urls(std::string_view text) {
  std::vector<std::string> passwords;
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 1)) {
    std::string_view authority = text.substr(at + 3);
    authority = authority.substr(0, authority.find_first_of("/ \t\r\n\"'"));
    std::size_t host = authority.rfind('@');
    if (host == authority.npos) continue;
    std::string_view user = authority.substr(0, host);
    std::size_t colon = user.find(':');
    if (colon != user.npos && user.size() - colon > kShortestLine)
      passwords.emplace_back(user.substr(colon + 1));
  }
  longest_first(passwords);
  return passwords;
}

SecretMask::SecretMask(std::vector<std::string> words) : words_(std::move(words)) {
  std::erase(words_, "");
  longest_first(words_);
  for (const std::string& word : words_) first_bytes_.set(static_cast<unsigned char>(word.front()));
}

const std::string* SecretMask::word_at(std::size_t at) const {
  for (const std::string& word : words_)
    if (kept_.compare(at, word.size(), word) == 0) return &word;
  return nullptr;
}

bool SecretMask::may_begin_at(std::size_t at) const {
  const std::string_view rest = std::string_view(kept_).substr(at);
  return std::ranges::any_of(
      words_, [&](const std::string& word) { return word.size() > rest.size() && word.starts_with(rest); });
}

std::string SecretMask::masked(std::string_view bytes) {
  if (words_.empty()) return std::string(bytes);
  kept_ += bytes;
  return show(false);
}

std::string SecretMask::finish() { return show(true); }

std::string SecretMask::show(bool is_end) {
  std::string shown;
  std::size_t at = 0;
  while (at < kept_.size()) {
    const bool is_candidate = first_bytes_.test(static_cast<unsigned char>(kept_[at]));
    if (is_candidate && !is_end && may_begin_at(at)) break;
    const std::string* word = is_candidate ? word_at(at) : nullptr;
    shown += word != nullptr ? "***" : kept_.substr(at, 1);
    at += word != nullptr ? word->size() : 1;
  }
  kept_.erase(0, at);
  return shown;
}

}  // namespace kiln
