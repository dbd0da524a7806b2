// Errors: what ends a command, where it happened and what to do about it.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kiln {

// Exit codes of the `kiln` program; the table is part of its interface.
enum class ExitCode : int {
  ok = 0,             // done, or nothing to do
  images_failed = 1,  // some images failed, the others went on
  usage = 2,
  input = 3,     // bad recipe, matrix, target, site file or DSL document
  no_match = 4,  // no image matches
  tool_missing = 5,
  network = 6,    // registry or package source
  locked = 7,     // lock or lease
  store = 8,      // disk full, unreadable, damaged
  internal = 70,  // a mistake of kiln itself (sysexits' EX_SOFTWARE)
  timeout = 124,
  interrupted = 130,
};

// A place in an input file. Lines and columns count from 1, columns in bytes; 0 means "the file as a whole".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  std::string pointer;  // JSON pointer (RFC 6901), "" outside JSON

  bool operator==(const SourceLocation&) const = default;
  std::string text() const;  // file:line:column; the file alone where there is no line
};

// The one exception of kiln. `message` says what was expected and found, `hint` what to do next (may be
// empty).
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, std::string message, std::string hint = {});
  Error(ExitCode code, SourceLocation where, std::string message, std::string hint = {});

  ExitCode code() const { return code_; }
  const SourceLocation& where() const { return where_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

  // Adds "while …" for an outer layer; shown after the message, innermost first.
  Error& while_doing(std::string note);

  // `file:line:col: error: message (at /pointer); hint`, then one "  while …" line for each note. `word` in
  // place of "error"; without one `file:line:col: message …`.
  std::string format(std::string_view word = "error") const;

 private:
  ExitCode code_;
  SourceLocation where_;
  std::string message_;
  std::string hint_;
  std::vector<std::string> notes_;
};

// The result of `ask`, or `otherwise` if it throws an Error: for details that are shown if known.
template <typename Ask>
std::invoke_result_t<Ask> unless_error(const Ask& ask, std::invoke_result_t<Ask> otherwise = {}) {
  try {
    return ask();
  } catch (const Error&) {
    return otherwise;
  }
}

// The candidate nearest to `word` by edit distance, "" if none is near enough to be a likely misspelling.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// A hint "did you mean 'x'?". When `nearest` finds nothing, the hint lists all of them after `list` ("kinds:
// "), or is "" without a list.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view list = "");

// Advice about an error of the system. `number`: errno's; "" if kiln has no advice.
std::string hint_for(int number);

// An error of the operating system becomes an Error(store) in its words; any other exception an
// Error(internal), never in the words of the library that threw it. An Error stays as it is.
Error unexpected_error(const std::exception& exception);
// For the exception in flight: any other type than std::exception is a mistake of kiln as well. REQUIRES: a
// handler runs.
Error unexpected_error();

}  // namespace kiln
