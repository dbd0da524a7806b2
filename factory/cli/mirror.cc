// kiln mirror: all that a catalogue is made of, in a folder from which it builds without a network.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/upstream.h"
#include "factory/fetch/fill_mirror.h"
#include "factory/os/file_lock.h"
#include "factory/os/temporary_folder.h"

namespace kiln {
namespace {

struct MirrorOptions : CellOptions {
  std::string folder;
  bool check = false;
  std::string format = "table";
};

std::map<std::string, std::string> git_environment(const Site& site, const Invocation& invocation) {
  auto environment = invocation.child_environment();
  if (!site.git_configuration.empty()) environment["GIT_CONFIG_SYSTEM"] = site.git_configuration;
  return environment;
}

// What a mirror has, each thing read and compared with its digest.
void check_mirror(const MirrorOptions& options, Invocation& invocation) {
  const MirrorFolder folder(fs::absolute(options.folder).lexically_normal(), invocation.files);
  if (!folder.is_there())
    throw Error(ExitCode::input, fmt::format("'{}' is no mirror: it has no mirror.json", options.folder),
                "kiln mirror -f MATRIX DIR makes one");
  const Mirror mirror = folder.read();
  Json faults = Json::array();
  std::string lines;
  const auto environment = invocation.child_environment();
  for (const auto& [key, item] : mirror.items) {
    const std::string fault = folder.fault_of(item, invocation.runner, environment);
    if (fault.empty()) continue;
    faults.push_back(
        {{"kind", name_of(item.kind)}, {"name", item.name}, {"path", item.path}, {"fault", fault}});
    lines +=
        fmt::format("{} {} {}: {}\n", name_of(item.kind), item.name, fault, folder.path(item.path).string());
  }
  if (!folder.has_links(mirror)) {
    faults.push_back(
        {{"kind", "links"}, {"name", "pip/links.html"}, {"path", "pip/links.html"}, {"fault", "is damaged"}});
    lines += fmt::format("pip/links.html is damaged: {}\n", folder.path("pip/links.html").string());
  }
  if (!faults.empty()) invocation.exit_code = ExitCode::store;
  if (options.format == "json")
    return print_json({{"items", mirror.items.size()}, {"faults", std::move(faults)}});
  say("{}{} checked, {}\n", lines, counted(mirror.items.size(), "item"),
      faults.empty()
          ? "all whole"
          : fmt::format("{} missing or damaged: the same kiln mirror fetches again what its cells need now",
                        faults.size()));
}

Json to_json(const FillReport& report) {
  Json problems = json_list(report.problems, [](const Error& problem) { return problem.format(); });
  return {{"items", report.items},           {"bytes", report.bytes}, {"fetched", report.fetched},
          {"unbuilt_steps", report.unbuilt}, {"lost", report.lost},   {"problems", std::move(problems)}};
}

// The code that all problems share, else images_failed.
ExitCode code_of(const FillReport& report) {
  if (report.problems.empty()) return report.unbuilt > 0 ? ExitCode::images_failed : ExitCode::ok;
  for (const Error& problem : report.problems)
    if (problem.code() != report.problems.front().code()) return ExitCode::images_failed;
  return report.problems.front().code();
}

void print_report(const FillReport& report, const MirrorOptions& options, Invocation& invocation) {
  if (options.format == "json") return print_json(to_json(report));
  for (const Error& problem : report.problems) tell(problem.format());
  for (const std::string& name : report.lost)
    invocation.note(fmt::format("warning: {} was damaged or missing; only earlier lockfiles need it", name));
  if (report.unbuilt > 0)
    invocation.note(
        fmt::format("warning: {} not built here yet, and what packages they need is known only then: "
                    "kiln build, and the same kiln mirror again",
                    report.unbuilt == 1 ? "1 step is" : fmt::format("{} steps are", report.unbuilt)));
  say("{}, {:.1f} MB of files; {} fetched now{}\n", counted(report.items, "item"),
      static_cast<double>(report.bytes) / 1e6, report.fetched,
      report.problems.empty() ? "" : fmt::format("; {}", counted(report.problems.size(), "problem")));
}

// Engines mount it, and what they are told has ':' between a path and the next word.
void need_plain_folder(const std::string& name) {
  if (fs::absolute(name).string().find(':') == std::string::npos) return;
  throw Error(ExitCode::usage, fmt::format("'{}': a mirror is a folder whose path has no ':'", name),
              "a folder is carried over as it is, or served by a shared file system; no registry has what "
              "apt, pip and git read");
}

void run_mirror(const MirrorOptions& options, Invocation& invocation) {
  if (options.check) return check_mirror(options, invocation);
  if (options.matrix.empty()) throw Error(ExitCode::usage, "--file is required", "kiln mirror --help");
  const Catalogue catalogue = invocation.load(options.matrix);
  const ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), options, invocation);
  const Site site = invocation.site();
  if (site.offline)
    throw Error(ExitCode::usage, "a mirror is filled with a network, and --offline says there is none");
  need_plain_folder(options.folder);
  const MirrorFolder folder(fs::absolute(options.folder).lexically_normal(), invocation.files);
  invocation.files.make_directories(folder.root());
  const auto alone = FileLock::try_acquire(folder.root() / "lock");
  if (!alone) throw Error(ExitCode::locked, "another kiln mirror fills " + folder.root().string());
  folder.drop_temporary();
  const TemporaryFolder temporary;
  const StatePaths state = invocation.state();
  const StepSetup steps = invocation.step_setup(site, state);
  std::unique_ptr<Http> http;
  std::optional<WheelFetcher> wheels;
  const PipSources places = pip_places(site, invocation);
  auto web = [&]() -> Http& {
    if (http) return *http;
    HttpSettings settings{invocation.environment, site.pull_limits.stall};
    if (places.index && !places.index->certificates.empty())
      settings.environment["SSL_CERT_FILE"] = places.index->certificates;
    http = open_http(std::move(settings));
    return *http;
  };
  const FillSetup setup{steps,
                        catalogue.plan,
                        chosen.images,
                        catalogue.recipes,
                        folder,
                        temporary.path(),
                        invocation.skopeo(),
                        [&]() -> WheelFetcher& {
                          if (!wheels) wheels.emplace(places, web(), folder);
                          return *wheels;
                        },
                        web,
                        git_environment(site, invocation),
                        [&](const std::string& what) { invocation.note("fetching " + what); }};
  const FillReport report = fill_mirror(setup);
  if (const ExitCode code = code_of(report); code != ExitCode::ok) invocation.exit_code = code;
  print_report(report, options, invocation);
}

}  // namespace

CLI::App* add_mirror(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<MirrorOptions>();
  CLI::App* command = add_below(
      app, "mirror", "Fetch everything that a catalogue needs into a folder, for builds without a network",
      "kiln mirror -f matrix/demo.json /srv/kiln-mirror\n"
      "kiln mirror --check /srv/kiln-mirror\n"
      "kiln build -f matrix/demo.json --offline --mirror /srv/kiln-mirror");
  add_value(*command, "folder", options->folder, "DIR", "folder to fill")->required();
  add_cell_options(*command, *options);
  command->get_option("--file")->required(false);
  command->add_flag("--check", options->check,
                    "read all files, report missing and damaged ones, and fetch nothing");
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { run_mirror(*options, invocation); });
  return command;
}

}  // namespace kiln
