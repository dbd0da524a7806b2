#include "registry/deploy/script_quote.h"

#include "factory/base/quote.h"

namespace kiln {

std::string job_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : quote_shell_text(text)) {
    if (c == '\n')
      quoted += "'$'\\n''";
    else
      quoted += c;
  }
  return quoted;
}

std::string job_word(std::string_view text) {
  std::string word = shell_text_word(text);
  return word.find('\n') == word.npos ? word : job_quoted(text);
}

}  // namespace kiln
