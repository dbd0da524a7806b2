// kiln select: a DSL document in, one reference out.
#include "registry/select.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/reading.h"
#include "base/text.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "cli/select_build.h"
#include "cli/select_cells.h"
#include "cli/select_host.h"
#include "cli/usage.h"
#include "image/state/image_check.h"
#include "image/state/sif_folder.h"
#include "registry/demand.h"

namespace kiln {
namespace {

struct SelectOptions {
  std::string dsl;
  std::string host;
  std::string format = "tag";
  std::int64_t snapshot = 0;
  std::size_t limit = 20;  // of each kind of others that are told
  bool explain = false;
  bool json = false;
  bool allow_failing = false;
  bool lenient = false;
  std::vector<std::string> matrices;
  bool build_if_missing = false;
};

JsonDocument read_named(const std::string& file, const FileSystem& files) {
  if (file != "-") return read_document(files, file);
  return JsonDocument::parse(files.read("/dev/stdin", JsonLimits{}.bytes).value_or(""), "stdin");
}

// Throws Error(store) when what it names is damaged.
std::string reference(const ImageRecord& image, const std::string& format, const Invocation& invocation) {
  const StatePaths state = invocation.state();
  if (image.external()) return image.name();
  if (format == "oci") {
    check_layout(state, image);
    return fmt::format("oci:{}:{}", (state.root() / image.layout).string(), image.tag);
  }
  if (format == "digest") {
    if (!image.published.registry.empty()) return image.registry_digest();
    throw Error(ExitCode::no_match, image.name() + " is in no registry",
                "`kiln publish --to` puts it there; --format oci names its layout here");
  }
  if (format == "sif") {
    const Attachment* sif = image.attachment("sif");
    const bool is_here =
        sif != nullptr && fs::exists(BlobStore::reading(state.store()).path(sif->blob.digest));
    if (!is_here && !image.registry_sif().empty()) return image.registry_sif();
    auto folder = invocation.environment.find("SINGULARITY_DIR");
    fs::path file = folder == invocation.environment.end() ? sif_path(state, image)
                                                           : fs::path(folder->second) / image.sif_name();
    check_sif(state, image, file);
    return file.string();
  }
  if (!image.published.registry.empty()) return image.registry_tag();
  check_blobs(state, image);
  return image.name();
}

DslReading read_query(const JsonDocument& document, const std::vector<std::string>& compilers,
                      const SelectOptions& options) {
  DslReading reading = read_dsl(document, compilers);
  if (!options.lenient) refuse_lost_choices(reading);
  return reading;
}

// How many images they have in the index, by name.
using Applications = std::map<std::string, std::size_t>;

Applications other_applications(const Index& index, const ImageQuery& query,
                                std::optional<std::int64_t> snapshot) {
  Applications others = index.applications(snapshot);
  others.erase(lower_case(query.application));
  return others;
}

// "12 images of other applications: openmpi 3, pytorch 9"
std::string text_of(const Applications& others) {
  std::size_t images = 0;
  std::string names;
  for (const auto& [application, count] : others) {
    images += count;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", application.empty() ? "(none)" : application,
                         count);
  }
  return images == 0 ? "" : fmt::format("{} of other applications: {}\n", counted(images, "image"), names);
}

std::string hint_without_images(const ImageQuery& query, const Applications& others,
                                const std::optional<SelectCells>& cells) {
  if (others.empty()) return cells ? "the index is empty" : "the index is empty: run `kiln publish`";
  std::vector<std::string> names;
  for (const auto& [application, count] : others) names.push_back(application);
  std::string hint = fmt::format("the index has no image of {}", query.application);
  const std::string near = did_you_mean(query.application, names);
  return near.empty() ? hint : hint + "; " + near;
}

// What is asked, and the index that it is asked of.
struct Question {
  DslReading reading;
  std::optional<std::int64_t> snapshot;
  QuestionHost host;
  std::optional<Index> index;  // nothing: there is none yet, and cells to build
};

struct Asked {
  std::vector<IndexEntry> entries;  // of the application: the selection refers to them
  Applications others;
  Selection selection;
};

Json json_answer(const Asked& asked, std::size_t limit, const std::optional<SelectCells>& cells,
                 const DslReading& reading, const std::string& answer) {
  Json json = to_json(asked.selection, limit);
  json["other_applications"] = asked.others;
  if (cells) cells->add_to(json);
  json["notes"] = Json::array();
  for (const DslNote& note : reading.notes) json["notes"].push_back(text_of(note));
  if (!answer.empty()) json["answer"] = answer;
  return json;
}

// `without`: what is said where there is not even a miss.
Error no_match(const Selection& selection, const std::string& without, bool here,
               const std::optional<SelectCells>& cells) {
  std::string why = selection.nearest_miss.empty() ? without : selection.nearest_miss;
  if (here && selection.host_refuses) why += "; the host is this machine, --host names another";
  if (cells) why += "; " + cells->hint();
  return {ExitCode::no_match, "no image matches", why};
}

void check(const CLI::App& command, const SelectOptions& options, const Invocation& invocation) {
  refuse_together(command, "--json", "--explain", "the JSON answer holds the reasons");
  if (command.count("--limit") > 0 && !options.explain && !options.json)
    throw Error(ExitCode::usage, "--limit bounds what --explain and --json tell", "give one of them as well");
  refuse_together(command, "--build-if-missing", "--snapshot", "a snapshot stays what it is");
  if (options.dsl == "-" && options.host == "-")
    throw Error(ExitCode::usage, "--dsl - and --host - do not go together", "stdin is one document");
  if (options.build_if_missing && options.matrices.empty())
    throw Error(ExitCode::usage, "--build-if-missing goes with -f", "which names the matrix to build from");
  check_matrices(options.matrices, invocation);
  if (!options.build_if_missing) return;
  keep_readable(options.dsl);
  keep_readable(options.host);
}

Question read_question(const CLI::App& command, const SelectOptions& options, Invocation& invocation) {
  const JsonDocument document = read_named(options.dsl, invocation.files);
  Question question;
  if (options.snapshot > 0) question.snapshot = options.snapshot;
  auto read = [&] {
    auto of_index =
        question.index ? question.index->compilers(question.snapshot) : std::vector<std::string>{};
    return read_query(document, invocation.graph_compilers(of_index, options.matrices), options);
  };
  // Without an index, what is wrong in the document is still the first thing to mend.
  if (!invocation.has_index()) question.reading = read();
  if (invocation.has_index() || options.matrices.empty() || question.snapshot)
    question.index.emplace(invocation.index(Index::Mode::read));
  question.reading = read();
  ImageQuery& query = question.reading.query;
  if (command.count("--format") > 0) query.format = options.format;
  for (const DslNote& note : question.reading.notes) invocation.note(text_of(note));
  query.allow_failing = options.allow_failing;
  question.host = choose_host(options.host, query, invocation);
  if (!question.host.note.empty()) invocation.note(question.host.note);
  return question;
}

// Reasons take reading all images of the application: for who asks for them (`explained`), and for a miss.
// Images of other applications never qualify: how many there are is all that is read of them.
Asked ask(const Question& question, bool explained, Invocation& invocation) {
  const ImageQuery& query = question.reading.query;
  Asked asked;
  if (question.index && !explained && !question.snapshot) {
    if (auto best = question.index->best(query, question.host.host, invocation.cpus())) {
      asked.entries.push_back(*std::move(best));
      asked.selection.winner = Candidate{&asked.entries.back(), "", 0, nullptr, false};
      return asked;
    }
  }
  if (question.index) {
    asked.entries = question.index->entries_of(query.application, question.snapshot);
    asked.others = other_applications(*question.index, query, question.snapshot);
  }
  asked.selection = select_image(query, asked.entries, question.host.host, invocation.cpus());
  return asked;
}

// Of another time's images nobody is to build more.
void count(const Question& question, const Selection& selection, Invocation& invocation) {
  if (question.snapshot) return;
  const std::string day = rfc3339(invocation.clock.unix_seconds()).substr(0, 10);
  record_demand(invocation.state().root(),
                demand_of(question.reading.query, question.host.host, selection, invocation.cpus(), day));
}

void print_answer(const Asked& asked, const Question& question, const std::optional<SelectCells>& cells,
                  const SelectOptions& options, const Invocation& invocation) {
  const Selection& selection = asked.selection;
  std::string answer;
  std::optional<Error> damaged;  // said after the reasons, which hold all the same
  try {
    if (selection.winner)
      answer = reference(selection.winner->entry->image, question.reading.query.format, invocation);
  } catch (const Error& error) {
    damaged = error;
  }
  if (options.json)
    print_json(json_answer(asked, options.limit, cells, question.reading, answer));
  else if (options.explain)
    print_text(explain(selection, options.limit) + (cells ? cells->explain() : "") + text_of(asked.others));
  if (!selection.winner)
    throw no_match(selection, hint_without_images(question.reading.query, asked.others, cells),
                   question.host.here, cells);
  if (damaged) throw Error(*damaged);
  if (!options.json && !options.explain) say("{}\n", answer);
}

void run_select(const CLI::App& command, const SelectOptions& options, Invocation& invocation) {
  check(command, options, invocation);
  Question question = read_question(command, options, invocation);
  const bool explained = options.explain || options.json;
  Asked asked = ask(question, explained, invocation);
  std::optional<SelectCells> cells;
  if (!asked.selection.winner && !options.matrices.empty()) {
    cells.emplace(options.matrices, question.reading.query, question.host.host, invocation);
    cells->find(asked.entries);
    if (options.build_if_missing && cells->cell()) prepare_build(invocation);
  }
  count(question, asked.selection, invocation);
  if (options.build_if_missing && cells && cells->cell()) {
    auto ask_again = [&]() -> IndexAnswer {
      if (invocation.has_index()) question.index.emplace(invocation.index(Index::Mode::read));
      asked = ask(question, explained, invocation);
      return {asked.entries, asked.selection.winner.has_value()};
    };
    build_missing(*cells, ask_again, invocation);
    if (ask_again().answers) cells.reset();
  }
  print_answer(asked, question, cells, options, invocation);
}

}  // namespace

CLI::App* add_select(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SelectOptions>();
  CLI::App* command = app.add_subcommand("select", "Pick the best image for an optimisation DSL document");
  command->add_option("--dsl", options->dsl, "DSL document, - for stdin")->required()->type_name("FILE");
  command
      ->add_option(
          "--host", options->host,
          "the host: a description (JSON, `kiln host` writes it), an archspec or target name, here, or any "
          "for none (default: the document's, else this machine)")
      ->type_name("FILE|NAME");
  command
      ->add_option(
          "--format", options->format,
          "the answer: tag (docker://HOST/... where it is in a registry), digest (the same, for ever), oci "
          "(layout for "
          "skopeo) or sif (the file, or oras://HOST/... where there is none here; images without one do "
          "not qualify)")
      ->check(CLI::IsMember({"tag", "digest", "oci", "sif"}))
      ->capture_default_str();
  command->add_option("--snapshot", options->snapshot, "choose among the images of this snapshot")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--allow-failing", options->allow_failing,
                    "take images, too, that fail a test which their recipes have by now");
  command->add_flag("--lenient", options->lenient,
                    "answer although a key is unknown where images are chosen: a note instead of an error");
  add_matrices_option(*command, options->matrices);
  command->add_flag(
      "--build-if-missing", options->build_if_missing,
      "where nothing qualifies, build, test and publish that cell, and answer with it; waits for "
      "whoever builds already");
  command->add_flag("--explain", options->explain, "say why this one, and why not the others");
  command->add_flag("--json", options->json, "the whole answer as JSON");
  command
      ->add_option("--limit", options->limit,
                   "of --explain and --json: no more than so many other images of a kind, 0 for all")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command->footer(
      "kiln select --dsl matrix/dsl/optimised.json\n"
      "kiln select --dsl - --host node.json --format sif <job.json\n"
      "kiln select --dsl matrix/dsl/optimised.json --host zen4,nvidia:sm_90\n"
      "kiln select --dsl matrix/dsl/optimised.json --explain\n"
      "kiln select --dsl matrix/dsl/optimised.json -f matrix/demo.json --build-if-missing");
  command->callback([options, command, &invocation] { run_select(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
