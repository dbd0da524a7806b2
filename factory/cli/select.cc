// kiln select: a DSL document or the name of an application in, one reference out.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/cli/invocation.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/cli/select_cells.h"
#include "registry/answer/answer.h"
#include "registry/select/named_query.h"

namespace kiln {
namespace {

struct SelectOptions {
  std::string application;  // in place of a document
  std::string workload;
  std::string dsl;
  std::string host;
  std::string format = "tag";
  std::int64_t snapshot = 0;
  std::size_t limit = 20;  // of each kind of others that are told
  bool explain = false;
  bool json = false;
  bool allow_failing = false;
  bool strict_gains = false;
  bool lenient = false;
  std::vector<std::string> matrices;
  bool build_if_missing = false;
};

WrittenDocument document_of(const SelectOptions& options, const FileSystem& files) {
  if (!options.dsl.empty()) return read_written_document(options.dsl, files);
  return {JsonDocument::parse(named_document(options.application, options.workload), "the command line"), {}};
}

Json json_answer(const Answer& answer, const Question& question, std::size_t limit,
                 const std::optional<SelectCells>& cells, const std::string& reference) {
  Json json = to_json(answer, question, limit);
  if (cells) cells->add_to(json);
  if (!reference.empty()) json["answer"] = reference;
  return json;
}

// One question: a document, or an application by name.
void check_question(const CLI::App& command, const SelectOptions& options, const FileSystem& files) {
  if (options.dsl.empty() && options.application.empty())
    throw Error(ExitCode::usage, "kiln select needs --dsl FILE or the name of an application",
                "for example: kiln select pytorch");
  if (options.dsl.empty() && files.exists(options.application))
    throw Error(ExitCode::usage, fmt::format("'{}' is a file", options.application),
                fmt::format("ask by a document: kiln select --dsl {}", options.application));
  if (options.dsl.empty()) return;
  if (!options.application.empty())
    throw Error(ExitCode::usage, fmt::format("'{}' and --dsl do not go together", options.application),
                "the document names the application");
  refuse_together(command, "--workload", "--dsl", "the document names the workload: \"workload\"");
}

void check(const CLI::App& command, const SelectOptions& options, const Invocation& invocation) {
  check_question(command, options, invocation.files);
  refuse_together(command, "--json", "--explain", "the JSON answer holds the reasons");
  if (command.count("--limit") > 0 && !options.explain && !options.json)
    throw Error(ExitCode::usage, "--limit bounds the output of --explain and --json",
                "give one of them as well");
  refuse_one_stdin(options.dsl, options.host);
  check_build_if_missing(command, options.build_if_missing, options.matrices, invocation);
  if (!options.build_if_missing) return;
  if (!options.dsl.empty()) keep_readable(options.dsl);
  keep_readable(options.host);
}

QuestionTerms terms_of(const CLI::App& command, const SelectOptions& options) {
  QuestionTerms terms;
  if (command.count("--format") > 0) terms.format = options.format;
  terms.snapshot = snapshot_of(options.snapshot);
  terms.allow_failing = options.allow_failing;
  terms.strict_gains = options.strict_gains;
  terms.lenient = options.lenient;
  return terms;
}

Asking asking_of(const CLI::App& command, const SelectOptions& options, Invocation& invocation) {
  Asking asking = read_asking(document_of(options, invocation.files), terms_of(command, options),
                              options.matrices, invocation);
  for (const DslNote& note : asking.question.reading.notes) invocation.note(text_of(note));
  asking.question.host = choose_host(options.host, asking.question.reading.query, invocation);
  if (!asking.question.host.note.empty()) invocation.note(asking.question.host.note);
  if (options.dsl.empty()) ask_for_accelerators_of(asking.question.host.host, asking.question.reading.query);
  return asking;
}

void print_answer(const Answer& answer, const Question& question, const std::optional<SelectCells>& cells,
                  const SelectOptions& options, const Invocation& invocation) {
  const Selection& selection = answer.selection;
  std::string reference;
  std::optional<Error> damaged;  // said after the reasons, which hold all the same
  try {
    if (selection.winner)
      reference = reference_of(selection.winner->entry->image, question.reading.query.format,
                               reference_paths(invocation));
  } catch (const Error& error) {
    damaged = error;
  }
  if (options.json)
    print_json(json_answer(answer, question, options.limit, cells, reference));
  else if (options.explain)
    print_text(explain(selection, options.limit) + (cells ? cells->explain() : "") + text_of(answer.others));
  if (!selection.winner)
    throw no_match(answer, question, cells ? cells->hint() : "",
                   cells ? "the index is empty" : "the index is empty: run `kiln publish`");
  if (damaged) throw Error(*damaged);
  if (!options.json && !options.explain) say("{}\n", reference);
}

void run_select(const CLI::App& command, const SelectOptions& options, Invocation& invocation) {
  check(command, options, invocation);
  Asking asking = asking_of(command, options, invocation);
  std::optional<SelectCells> cells;
  const Answer answer =
      answer_or_build(asking, options.explain || options.json,
                      {options.matrices, options.build_if_missing, true}, cells, invocation);
  print_answer(answer, asking.question, cells, options, invocation);
}

}  // namespace

CLI::App* add_select(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SelectOptions>();
  CLI::App* command =
      add_below(app, "select", "Pick the best image for an application or an optimisation DSL document",
                "kiln select pytorch@2.6 --workload mnist-cnn\n"
                "kiln select --dsl matrix/dsl/optimised.json\n"
                "kiln select --dsl - --host node.json --format sif <job.json\n"
                "kiln select --dsl matrix/dsl/optimised.json --host zen4,nvidia:sm_90\n"
                "kiln select --dsl matrix/dsl/optimised.json --explain\n"
                "kiln select --dsl matrix/dsl/optimised.json -f matrix/demo.json --build-if-missing");
  add_value(*command, "application", options->application, "APPLICATION",
            "NAME or NAME@VERSION, instead of a document: its optimised build for the host, without a "
            "graph compiler");
  add_value(*command, "--workload", options->workload, "NAME",
            "with APPLICATION: the workload whose measurements count");
  add_value(*command, "--dsl", options->dsl, "FILE", "DSL document, - for stdin");
  add_value(*command, "--host", options->host, "FILE|NAME",
            "the host: a description (JSON of `kiln host`), an archspec or target name, here, or any "
            "for no host (default: the document's, else this machine)");
  add_choice(*command, "--format", options->format, {"tag", "digest", "oci", "sif"},
             "form of the answer: tag (docker://HOST/... if it is in a registry), digest (the same, "
             "but permanent), oci (layout for skopeo) or sif (the file, or oras://HOST/... without a "
             "file here; images without a SIF do not qualify)");
  add_snapshot_option(*command, options->snapshot, "choose among the images of this snapshot")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag(
      "--strict-gains", options->strict_gains,
      "of optimised builds, answer only with one that is proven faster than stock on this kind of host");
  command->add_flag("--allow-failing", options->allow_failing,
                    "also choose images that fail a test that their recipes now have");
  command->add_flag("--lenient", options->lenient,
                    "report an unknown key among the choices as a note instead of an error");
  add_matrices_option(*command, options->matrices);
  add_build_if_missing(*command, options->build_if_missing);
  command->add_flag("--explain", options->explain, "explain the choice, and why the others were not chosen");
  command->add_flag("--json", options->json, "print the whole answer as JSON");
  add_number(*command, "--limit", options->limit, "N",
             "with --explain and --json: at most this many other images of each kind, 0 for all", 0,
             1'000'000'000);
  command->callback([options, command, &invocation] { run_select(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
