// A command of a document as words. MODAK pastes `executable` and `arguments` into a script; here they are
// split as a shell splits them, and each word is written quoted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

struct WordPiece {
  std::string text;
  bool variable = false;  // the text is the name of a variable, expanded in the container
  bool operator==(const WordPiece&) const = default;
};
using CommandWord = std::vector<WordPiece>;

// A string is split at blanks; quotes, `\` and a backslash at a line's end work as in a shell, and `$NAME`
// and `${NAME}` stay variables. An array has a word for each string, taken as it is. Throws Error(input) for
// text that only a shell could run: `;`, `&`, `|`, `<`, `>`, parentheses, command substitution, a second
// line. `notes` gets a line for each pattern of file names, which stays as it is.
std::vector<CommandWord> read_command(const JsonNode& node, std::vector<std::string>& notes);

// `python3 train.py '--name=a b'`: for bash. Words with variables become `sh -c 'exec …'`, so that the
// container's shell expands them.
std::string command_text(const std::vector<CommandWord>& words);
bool has_variables(const std::vector<CommandWord>& words);
// One word, for people and JSON: `${ROOT}/bin/aster`.
std::string shown(const CommandWord& word);

// Quoting for the scripts, which bash reads.

// One argument of a command, on one line: sbatch reads lines that begin with `#PBS` or `#BSUB` wherever they
// are, also within quotes after commands.
std::string job_quoted(std::string_view text);
std::string job_word(std::string_view text);  // bare where no shell sees anything in it

}  // namespace kiln
