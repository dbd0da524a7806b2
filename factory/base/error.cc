#include "factory/base/error.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <numeric>
#include <system_error>
#include <typeinfo>

namespace kiln {
namespace {

// Levenshtein distance with adjacent transpositions counted as one (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({change, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string SourceLocation::text() const {
  return line == 0 ? file : file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Error::Error(ExitCode code, std::string message, std::string hint)
    : Error(code, {}, std::move(message), std::move(hint)) {}

Error::Error(ExitCode code, SourceLocation where, std::string message, std::string hint)
    : std::runtime_error(message),
      code_(code),
      where_(std::move(where)),
      message_(std::move(message)),
      hint_(std::move(hint)) {}

Error& Error::while_doing(std::string note) {
  notes_.push_back(std::move(note));
  return *this;
}

std::string Error::format(std::string_view word) const {
  std::string text = where_.text();
  if (!text.empty()) text += ": ";
  if (!word.empty()) text.append(word).append(": ");
  text += message_;
  if (!where_.pointer.empty()) text += " (at " + where_.pointer + ")";
  if (!hint_.empty()) text += "; " + hint_;
  for (const std::string& note : notes_) text += "\n  while " + note;
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 128) return "";
  const std::size_t tolerance = word.size() < 3 ? 1 : (word.size() < 7 ? 2 : 3);
  std::string best;
  std::size_t best_distance = tolerance + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + tolerance || word.size() > candidate.size() + tolerance) continue;
    std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view list) {
  std::string best = nearest(word, candidates);
  if (!best.empty()) return "did you mean '" + best + "'?";
  return list.empty() ? "" : fmt::format("{}{}", list, fmt::join(candidates, ", "));
}

std::string hint_for(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that file system and run the command again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the owner and the mode";
    case EFBIG:
      return "raise the limit for the size of files (`ulimit -f`), or use a file system that takes larger "
             "files";
    case EAGAIN:
    case EMFILE:
    case ENFILE:
      return "this user has too many processes or open files: see ulimit -a";
    default:
      return "";
  }
}

namespace {

// Such as "nlohmann::detail::type_error". The developer who mends the fault needs it.
std::string type_of(const std::exception& exception) {
  const char* name = typeid(exception).name();
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                        std::free);
  return readable ? readable.get() : name;
}

Error refused(const std::string& what, int number) {
  return {ExitCode::store, fmt::format("{}: {}", what, std::strerror(number)), hint_for(number)};
}

Error mistake(const std::string& what) {
  return {ExitCode::internal, fmt::format("kiln made a mistake ({})", what),
          "built and published images are unchanged; please report the command with its input"};
}

}  // namespace

Error unexpected_error(const std::exception& exception) {
  if (auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return refused(fmt::format("cannot use {}", error->path1().empty() ? "a file" : error->path1().string()),
                   error->code().value());
  if (auto* error = dynamic_cast<const std::system_error*>(&exception))
    return refused("the operating system refused to go on", error->code().value());
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {ExitCode::store, "out of memory", "fewer jobs at a time (-j) need less"};
  return mistake(type_of(exception));
}

Error unexpected_error() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return unexpected_error(exception);
  } catch (...) {
    return mistake("an exception of an unknown type");
  }
}

}  // namespace kiln
