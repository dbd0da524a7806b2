// How kiln's own shell lines are recognised in both formats. Used by the readers of the twin proof only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/source/shell.h"
#include "factory/twin/twin.h"

namespace kiln {

using TokenIterator = std::vector<ShellToken>::const_iterator;

// Tokens that are asked for one by one.
class TokenCursor {
 public:
  TokenCursor(TokenIterator begin, TokenIterator end) : at_(begin), end_(end) {}
  bool done() const { return at_ == end_; }
  bool is_assignment() const;  // of the next; REQUIRES: not done()
  const ShellToken& next() { return *at_++; }
  // Takes the token when it is this literal, unquoted word or operator.
  bool accept(std::string_view raw);
  // Takes all of these words, separated by blanks in `raw`, or fails somewhere between.
  bool accept_all(std::string_view raw);
  // The next literal word.
  std::optional<std::string> next_word();

 private:
  TokenIterator at_;
  TokenIterator end_;
};

// `cd FOLDER/<folder> && exec env NAME='value' … ALWAYS … /bin/sh -eu SCRIPT`, as render_dockerfile()
// and render_singularity() write it; `always`: the words every script finds, as written. Nothing when it is
// anything else.
std::optional<TwinScript> read_script(TokenCursor& cursor, std::string_view folder,
                                      const std::vector<std::string>& always);

// Where the build context has the scripts of a step's recipe: "framework-pytorch".
std::string script_folder_of(const Step& step);

}  // namespace kiln
