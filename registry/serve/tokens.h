// Which clients may write: bearer tokens (RFC 6750), of which only SHA-256 is kept. A token is 256 bits of
// the system's randomness, so it cannot be guessed. A deliberately slow hash, as for passwords, would only
// help attackers to keep the server busy.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

// The tokens of a file: a line each, `sha256:<hex> <name>`; empty lines and those that begin with # do not
// count.
class TokenBook {
 public:
  TokenBook() = default;  // knows none
  // Throws Error(input) for an invalid line, with its number, for a missing file, and for a file that every
  // user may write.
  static TokenBook read(const FileSystem& files, const fs::path& file);
  static TokenBook parse(std::string_view text, const std::string& file);

  // Takes the same time whichever token it is, and whether it is one.
  bool knows(std::string_view token) const;
  std::size_t size() const { return sums_.size(); }

 private:
  std::vector<std::string> sums_;  // 64 hex digits each
};

struct NewToken {
  std::string token;  // "kiln_" and 64 hex digits, told once
  std::string line;   // of the file, with its newline
};
// `name`: whose it is, one word. Throws Error(usage) for another, Error(store) when there is no randomness.
NewToken make_token(const std::string& name);

// How often an address has sent wrong tokens of late.
class WrongTokens {
 public:
  static constexpr int kMost = 20;  // of one address in a while
  static constexpr std::chrono::seconds kWhile{60};
  // Counts one; true: there were more than may be. `now`: monotonic seconds.
  bool count(const std::string& address, double now);

 private:
  struct Seen {
    double since = 0;
    int times = 0;
  };
  static constexpr std::size_t kMostAddresses = 20'000;  // beyond, those of the past go
  std::mutex lock_;
  std::map<std::string, Seen> seen_;
};

}  // namespace kiln
