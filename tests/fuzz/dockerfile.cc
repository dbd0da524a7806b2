// Dockerfiles from anybody: refused with an Error(input) or read; what was read has its places inside of the
// text, and words that the plain parts of the grammar bring back.
#include "factory/source/dockerfile.h"

#include <algorithm>
#include <cstdint>

#include "factory/source/shell.h"

namespace {

using namespace kiln;

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

void check_end(Position begin, Position end, int lines) {
  demand(end.line >= begin.line && end.line <= lines);
  demand(end.line > begin.line || end.column > begin.column);
}

void check(const Dockerfile& file, const DockerInstruction& one, int lines) {
  demand(one.place.line >= 1 && one.place.line <= lines && one.place.column >= 1 &&
         one.last_line <= lines + 1);
  for (const DockerFlag& flag : one.flags) demand(!flag.name.empty() && flag.place.line >= one.place.line);
  auto none = [](std::string_view) -> std::optional<std::string> { return std::nullopt; };
  for (const DockerPair& pair : one.pairs) {
    demand(!pair.name.empty());
    check_end(pair.place, pair.end, lines);
    try {
      expand_docker_word(pair.value, none, file.escape, file.file, pair.place);
    } catch (const Error& error) {
      demand(error.code() == ExitCode::input);
    }
  }
  if (!one.exec)
    for (const DockerWord& word : one.words) check_end(word.place, word.end, lines);
  read_shell(one.text);
  for (const DockerInstruction& trigger : one.trigger) check(file, trigger, lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  std::vector<Error> errors;
  read_dockerfile(text, "Dockerfile", errors);
  for (const Error& error : errors) demand(error.code() == ExitCode::input && error.where().line <= lines);
  demand(errors.size() <= kMostErrors);
  try {
    Dockerfile file = parse_dockerfile(text, "Dockerfile");
    demand(!file.stages.empty() && errors.empty());
    for (const DockerStage& stage : file.stages) {
      demand(!stage.base.empty());
      check(file, stage.from, lines);
      for (const DockerInstruction& one : stage.instructions) check(file, one, lines);
    }
  } catch (const Error& error) {
    demand(!errors.empty() && error.format() == errors.front().format());
  }
  return 0;
}
