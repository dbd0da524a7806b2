#include "factory/twin/twin_reading.h"

namespace kiln {

bool TokenCursor::is_assignment() const {
  return at_->kind == ShellToken::Kind::word && !assigned_name(at_->raw).empty();
}

bool TokenCursor::take(std::string_view raw) {
  if (done() || at_->raw != raw || at_->kind == ShellToken::Kind::line_end) return false;
  ++at_;
  return true;
}

bool TokenCursor::take_all(std::string_view raw) {
  while (!raw.empty()) {
    std::size_t blank = raw.find(' ');
    if (!take(raw.substr(0, blank))) return false;
    raw = blank == std::string_view::npos ? "" : raw.substr(blank + 1);
  }
  return true;
}

std::optional<std::string> TokenCursor::take_word() {
  if (done() || at_->kind != ShellToken::Kind::word || !at_->literal) return std::nullopt;
  return (at_++)->text;
}

bool take_environment_and_script(TokenCursor& cursor, const std::vector<std::string>& always,
                                 TwinScript& script) {
  std::vector<const ShellToken*> words;
  while (!cursor.done() && cursor.is_assignment()) words.push_back(&cursor.take());
  if (words.size() < always.size()) return false;
  std::size_t own = words.size() - always.size();
  for (std::size_t i = 0; i < always.size(); ++i)
    if (words[own + i]->raw != always[i]) return false;
  for (std::size_t i = 0; i < own; ++i) {
    if (!words[i]->literal) return false;
    std::size_t equals = words[i]->text.find('=');
    script.parameters.emplace_back(words[i]->text.substr(0, equals), words[i]->text.substr(equals + 1));
  }
  if (!cursor.take_all("/bin/sh -eu")) return false;
  auto file = cursor.take_word();
  if (!file) return false;
  script.script = std::move(*file);
  return true;
}

std::optional<TwinScript> take_script(TokenCursor& cursor, std::string_view folder,
                                      const std::vector<std::string>& always) {
  TwinScript script;
  if (!cursor.take("cd")) return std::nullopt;
  auto path = cursor.take_word();
  if (!path || !path->starts_with(folder) || path->size() < folder.size() + 2 ||
      (*path)[folder.size()] != '/')
    return std::nullopt;
  script.folder = path->substr(folder.size() + 1);
  if (!cursor.take_all("&& exec env") || !take_environment_and_script(cursor, always, script))
    return std::nullopt;
  return script;
}

}  // namespace kiln
