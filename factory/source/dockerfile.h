// A Dockerfile as a small typed tree with places. The grammar is that of BuildKit
// (frontend/dockerfile/parser, instructions/parse.go and shell/lex.go, v0.12), whose tests' expectations ours
// repeat. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/source/dockerfile_lines.h"
#include "factory/source/source_file.h"

namespace kiln {

enum class DockerVerb {
  add,
  arg,
  cmd,
  copy,
  entrypoint,
  env,
  expose,
  from,
  healthcheck,
  label,
  maintainer,
  onbuild,
  run,
  shell,
  stopsignal,
  user,
  volume,
  workdir
};
std::string_view name_of(DockerVerb verb);  // "RUN"

// `--from=build`, `--link`.
struct DockerFlag {
  std::string name;
  std::string value;
  Position place;
};

// NAME=VALUE of ENV, LABEL and ARG, as written: quotes, escapes and variables are still in it
// (expand_docker_word).
struct DockerPair {
  std::string name;
  std::string value;
  bool has_value = true;  // false for `ARG name`
  Position place;
  Position end;  // one after its last byte
};

struct DockerWord {
  std::string text;
  Position place;  // of an exec form's: where the array begins
  Position end;    // one after its last byte; line 0 in an exec form
};

struct DockerHeredoc {
  std::string name;
  std::string content;  // tabs in front are gone for <<-
  bool expand = true;   // the name was not quoted
  Position place;       // of the <<
};

// The comment of each member names the verbs that fill it.
struct DockerInstruction {
  DockerVerb verb = DockerVerb::run;
  Position place;
  int last_line = 0;
  std::vector<DockerFlag> flags;  // add, copy, from, healthcheck, run
  std::vector<DockerWord> words;  // add, copy, expose, from, volume; exec form of run, cmd, entrypoint, shell
  std::vector<DockerPair> pairs;  // arg, env, label
  std::string text;   // shell form, on one line, of run, cmd, entrypoint; healthcheck without CMD;
                      // maintainer, stopsignal, user, workdir
  bool exec = false;  // JSON form
  std::vector<std::pair<std::size_t, Position>> pieces;  // run: positions of the parts of `text` in the file
  std::vector<DockerHeredoc> heredocs;                   // add, copy, run
  std::vector<DockerInstruction> trigger;                // onbuild: one
  const DockerFlag* flag(std::string_view name) const;
  int line_of(std::size_t offset) const;  // the file's line of a place in `text`
};

struct DockerStage {
  std::string base;  // as written
  std::string name;  // lower case; "" without AS
  DockerInstruction from;
  std::vector<DockerInstruction> instructions;
};

struct Dockerfile {
  std::string file;
  char escape = '\\';
  std::vector<Directive> directives;
  std::vector<Comment> comments;
  std::vector<DockerInstruction> arguments;  // ARG above the first FROM
  std::vector<DockerStage> stages;           // at least one

  // The stage in front of stage `before` that FROM `name` means: the last one of that name.
  std::optional<std::size_t> stage_named(std::string_view name, std::size_t before) const;
  // The same for --from, which knows numbers as well.
  std::optional<std::size_t> copied_stage(std::string_view name, std::size_t before) const;
};

// Throws Error(input) `file:line:col: error: …`.
Dockerfile parse_dockerfile(std::string_view text, const std::string& file);

// The same for callers with a possibly broken file: an unreadable instruction is left out, and the first
// kMostErrors errors of parse_dockerfile are added to `errors`. There may be no stage.
Dockerfile read_dockerfile(std::string_view text, const std::string& file, std::vector<Error>& errors);

// A variable's value, or nothing when it is not set.
using DockerVariables = std::function<std::optional<std::string>(std::string_view)>;

// Takes quotes and escapes off and replaces $NAME, ${NAME} and its forms :- :+ :? - + ? # ## % %% / //, as
// shell/lex.go does for ENV, LABEL, ARG, FROM, COPY, ADD, WORKDIR, USER, … A name that is not set is empty.
// Throws Error(input) at `place` for an open quote or another form of ${}.
std::string expand_docker_word(std::string_view word, const DockerVariables& variables, char escape,
                               const std::string& file, Position place);

// The same for the body of a heredoc of COPY and ADD, in which quotes are text.
std::string expand_docker_heredoc(std::string_view text, const DockerVariables& variables, char escape,
                                  const std::string& file, Position place);

}  // namespace kiln
