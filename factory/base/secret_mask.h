// Replaces secrets in the output of programs by ***, also if the stream comes in pieces.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// The parts of a secret file that must not be shown: each line, and each word of 8 characters and more,
// because a file may contain more than a password (netrc, JSON). Lines of less than 4 characters are in every
// text. Longest first.
std::vector<std::string> words_of_secret(std::string_view bytes);

// The passwords in URLs of a text: "p" of "https://user:p@host/".
std::vector<std::string> passwords_in_urls(std::string_view text);

// Masks one stream. Keeps back text that may be the beginning of a secret word, until that is known.
class SecretMask {
 public:
  explicit SecretMask(std::vector<std::string> words);
  // The part of the stream that may be shown now.
  std::string masked(std::string_view bytes);
  // The rest, at the end of the stream.
  std::string finish();

 private:
  // The longest word at `at` in `kept_`, or nullptr.
  const std::string* word_at(std::size_t at) const;
  bool may_begin_at(std::size_t at) const;
  std::string show(bool is_end);

  std::vector<std::string> words_;  // longest first
  std::bitset<256> first_bytes_;
  std::string kept_;
};

}  // namespace kiln
