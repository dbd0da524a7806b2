// kiln select: a DSL document in, one reference out.
#include "registry/select.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/reading.h"
#include "base/text.h"
#include "cli/invocation.h"
#include "cli/print.h"
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
  if (format == "sif") {
    auto folder = invocation.environment.find("SINGULARITY_DIR");
    fs::path file = folder == invocation.environment.end() ? sif_path(state, image)
                                                           : fs::path(folder->second) / image.sif_name();
    check_sif(state, image, file);
    return file.string();
  }
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

std::string hint_without_images(const ImageQuery& query, const Applications& others) {
  if (others.empty()) return "the index is empty: run `kiln publish`";
  std::vector<std::string> names;
  for (const auto& [application, count] : others) names.push_back(application);
  std::string hint = fmt::format("the index has no image of {}", query.application);
  const std::string near = did_you_mean(query.application, names);
  return near.empty() ? hint : hint + "; " + near;
}

Json json_answer(const Selection& selection, std::size_t limit, const DslReading& reading,
                 const std::string& answer, const Applications& others) {
  Json json = to_json(selection, limit);
  json["other_applications"] = others;
  json["notes"] = Json::array();
  for (const DslNote& note : reading.notes) json["notes"].push_back(text_of(note));
  if (!answer.empty()) json["answer"] = answer;
  return json;
}

// `without`: what is said where there is not even a miss.
Error no_match(const Selection& selection, const std::string& without, bool here) {
  std::string why = selection.nearest_miss.empty() ? without : selection.nearest_miss;
  if (here && selection.host_refuses) why += "; the host is this machine, --host names another";
  return {ExitCode::no_match, "no image matches", why};
}

// `entries` keeps what it found.
Selection winner_alone(const Index& index, const ImageQuery& query, const Host& host,
                       std::vector<IndexEntry>& entries, Invocation& invocation) {
  Selection selection;
  auto best = index.best(query, host, invocation.cpus());
  if (!best) return selection;
  entries.push_back(*std::move(best));
  selection.winner = Candidate{&entries.back(), "", 0, nullptr, false};
  return selection;
}

void run_select(const CLI::App& command, const SelectOptions& options, Invocation& invocation) {
  refuse_together(command, "--json", "--explain", "the JSON answer holds the reasons");
  if (command.count("--limit") > 0 && !options.explain && !options.json)
    throw Error(ExitCode::usage, "--limit bounds what --explain and --json tell", "give one of them as well");
  if (options.dsl == "-" && options.host == "-")
    throw Error(ExitCode::usage, "--dsl - and --host - do not go together", "stdin is one document");
  auto document = read_named(options.dsl, invocation.files);
  // Without an index, what is wrong in the document is still the first thing to mend.
  if (!invocation.has_index()) read_query(document, invocation.graph_compilers({}), options);
  const Index index = invocation.index(Index::Mode::read);
  const bool explained = options.explain || options.json;
  const auto snapshot = options.snapshot > 0 ? std::optional(options.snapshot) : std::nullopt;
  DslReading reading = read_query(document, invocation.graph_compilers(index.compilers(snapshot)), options);
  if (command.count("--format") > 0) reading.query.format = options.format;
  for (const DslNote& note : reading.notes) invocation.note(text_of(note));
  reading.query.allow_failing = options.allow_failing;
  const QuestionHost host = choose_host(options.host, reading.query, invocation);
  if (!host.note.empty()) invocation.note(host.note);
  std::vector<IndexEntry> entries;
  Applications others;
  // Reasons take reading all images of the application: for who asks for them, and for a miss.
  Selection selection = explained || snapshot
                            ? Selection{}
                            : winner_alone(index, reading.query, host.host, entries, invocation);
  if (!selection.winner) {
    entries = index.entries_of(reading.query.application, snapshot);
    others = other_applications(index, reading.query, snapshot);
    selection = select_image(reading.query, entries, host.host, invocation.cpus());
  }
  // Of another time's images nobody is to build more.
  if (options.snapshot == 0)
    record_demand(invocation.state().root(),
                  demand_of(reading.query, host.host, selection, invocation.cpus(),
                            rfc3339(invocation.clock.unix_seconds()).substr(0, 10)));
  std::string answer;
  std::optional<Error> damaged;  // said after the reasons, which hold all the same
  try {
    if (selection.winner)
      answer = reference(selection.winner->entry->image, reading.query.format, invocation);
  } catch (const Error& error) {
    damaged = error;
  }
  if (options.json)
    print_json(json_answer(selection, options.limit, reading, answer, others));
  else if (options.explain)
    print_text(explain(selection, options.limit) + text_of(others));
  if (!selection.winner) throw no_match(selection, hint_without_images(reading.query, others), host.here);
  if (damaged) throw Error(*damaged);
  if (!options.json && !options.explain) say("{}\n", answer);
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
          "the answer: tag, oci (layout for skopeo) or sif (the file; images without one do not qualify)")
      ->check(CLI::IsMember({"tag", "oci", "sif"}))
      ->capture_default_str();
  command->add_option("--snapshot", options->snapshot, "choose among the images of this snapshot")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--allow-failing", options->allow_failing,
                    "take images, too, that fail a test which their recipes have by now");
  command->add_flag("--lenient", options->lenient,
                    "answer although a key is unknown where images are chosen: a note instead of an error");
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
      "kiln select --dsl matrix/dsl/optimised.json --explain");
  command->callback([options, command, &invocation] { run_select(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
