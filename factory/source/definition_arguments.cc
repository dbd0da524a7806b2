#include "factory/source/definition_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct Mark {
  std::size_t begin;
  std::size_t end;
  std::string_view name;
};

// `{{\s*(\w+)\s*}}` at or after `from`.
std::optional<Mark> next_mark(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != std::string_view::npos; at = text.find("{{", at + 1)) {
    auto skip = [&](std::size_t i) {
      while (i < text.size() &&
             (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\f' || text[i] == '\r'))
        ++i;
      return i;
    };
    std::size_t begin = skip(at + 2);
    std::size_t end = begin;
    while (end < text.size() && (is_letter_or_digit(text[end]) || text[end] == '_')) ++end;
    std::size_t close = skip(end);
    if (end > begin && text.substr(close, 2) == "}}")
      return Mark{at, close + 2, text.substr(begin, end - begin)};
  }
  return std::nullopt;
}

// Whether `\s*[#][^!]\s*.*` stands before a place on its line: Apptainer leaves arguments there alone. Asked
// for rising places only.
class CommentTracker {
 public:
  explicit CommentTracker(std::string_view text) : text_(text) {}
  bool holds(std::size_t place) {
    for (; at_ < place; ++at_) {
      if (text_[at_] == '\n') {
        comment_ = false;
      } else if (text_[at_] == '#' && at_ + 1 < place && text_[at_ + 1] != '!' && text_[at_ + 1] != '\n') {
        comment_ = true;
      }
    }
    return comment_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool comment_ = false;
};

std::optional<std::string> value_of(std::string_view name, const std::map<std::string, std::string>& defaults,
                                    const std::map<std::string, std::string>& given) {
  std::string wanted(name);
  if (auto found = given.find(wanted); found != given.end()) return found->second;
  if (auto found = defaults.find(wanted); found != defaults.end()) return found->second;
  return std::nullopt;
}

// Arguments inside of an argument's value, one level deep.
std::string nested(const std::string& value, const std::map<std::string, std::string>& defaults,
                   const std::map<std::string, std::string>& given) {
  std::string out;
  std::size_t at = 0;
  while (auto mark = next_mark(value, at)) {
    out += value.substr(at, mark->begin - at);
    auto inner = value_of(mark->name, defaults, given);
    out += inner ? *inner : value.substr(mark->begin, mark->end - mark->begin);
    at = mark->end;
  }
  return out + value.substr(at);
}

}  // namespace

std::map<std::string, std::string> defaults_of(const DefinitionStage& stage) {
  std::map<std::string, std::string> defaults;
  for (const DefinitionSection& section : stage.sections) {
    if (section.name != "arguments") continue;
    for (const NamedValue& value : section.assignments()) defaults[value.name] = value.value;
  }
  return defaults;
}

std::string fill_in(std::string_view text, int first_line, const std::string& file,
                    const std::map<std::string, std::string>& defaults,
                    const std::map<std::string, std::string>& given) {
  std::string out;
  std::size_t at = 0;
  std::size_t from = 0;
  CommentTracker comments(text);
  while (auto mark = next_mark(text, from)) {
    from = mark->end;
    if (comments.holds(mark->begin)) continue;
    auto value = value_of(mark->name, defaults, given);
    if (!value) {
      std::string_view before = text.substr(0, mark->begin);
      std::size_t start = before.rfind('\n');
      Position place{first_line + static_cast<int>(std::ranges::count(before, '\n')),
                     static_cast<int>(mark->begin - (start == std::string_view::npos ? 0 : start + 1)) + 1};
      refuse_at(file, place, fmt::format("the argument '{}' has no value", mark->name),
                "give it one in %arguments of the same stage");
    }
    out += text.substr(at, mark->begin - at);
    out += nested(*value, defaults, given);
    at = mark->end;
    if (out.size() > kMaxDefinitionBytes)
      refuse_at(file, {}, "the file is too long after its arguments are filled in");
  }
  out += text.substr(at);
  return out;
}

}  // namespace kiln
