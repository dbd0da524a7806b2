// Secrets in what programs print: found in the stream, whatever pieces it comes in, and replaced by ***.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// What must not be shown of a secret file: each of its lines, and each of their words of 8 characters and
// more, as a file may hold more than a password (netrc, JSON). Lines of less than 4 characters are in every
// text. Longest first.
std::vector<std::string> words_of_secret(std::string_view bytes);

// The passwords in URLs of a text: "p" of "https://user:p@host/".
std::vector<std::string> passwords_in_urls(std::string_view text);

// One stream. What may be the beginning of a word is kept back until it is known.
class SecretMask {
 public:
  explicit SecretMask(std::vector<std::string> words);
  // What of the stream may be shown now.
  std::string masked(std::string_view bytes);
  // The rest, at the end of the stream.
  std::string finish();

 private:
  // The longest word that stands at `at` in `kept_`, or nullptr.
  const std::string* word_at(std::size_t at) const;
  bool may_begin_at(std::size_t at) const;
  std::string show(bool is_end);

  std::vector<std::string> words_;  // longest first
  std::bitset<256> first_bytes_;
  std::string kept_;
};

}  // namespace kiln
