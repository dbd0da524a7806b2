// The `kiln` program: options, subcommands, and the one place where errors become exit codes.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <sstream>
#include <system_error>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/options_text.h"
#include "factory/cli/print.h"
#include "factory/cli/usage.h"

extern char** environ;

namespace kiln {
namespace {

constexpr const char* kExamples =
    "kiln plan -f matrix/demo.json\n"
    "kiln build -f matrix/demo.json\n"
    "kiln publish -f matrix/demo.json\n"
    "kiln select --dsl matrix/dsl/optimised.json";

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return environment;
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  add_value(app, "-C,--directory", options.directory, "DIR", "change to this folder first");
  add_value(app, "--state", options.state, "DIR", "state folder, with builds, images and the index")
      ->envname("KILN_STATE")
      ->capture_default_str();
  add_value(app, "--site", options.site, "FILE",
            "site file (default: ./site.json, then $XDG_CONFIG_HOME/kiln/site.json)")
      ->envname("KILN_SITE");
  add_choice(app, "--engine", options.engine, engine_names(),
             "engine that runs the steps (default: the site file's, else buildah)")
      ->type_name("NAME")
      ->envname("KILN_ENGINE");
  app.add_flag("--no-cache", options.no_cache, "run steps without caches of compilers and pip")
      ->envname("KILN_NO_CACHE");
  add_list(app, "--recipes", options.recipes, "DIR",
           "recipes folder; may be repeated, later ones win (default: next to the matrix, else kiln's own)")
      ->envname("KILN_RECIPES");
  add_choice(app, "--color", options.colour, {"auto", "always", "never"}, "colours: auto, always or never")
      ->type_name("WHEN")
      ->envname("KILN_COLOR");
  add_choice(app, "--progress", options.progress, {"auto", "tty", "plain", "json", "none"},
             "progress display on stderr: auto, tty, plain, json or none")
      ->type_name("STYLE")
      ->envname("KILN_PROGRESS");
  app.add_flag("--offline", options.offline,
               "fetch nothing: build from the mirror that `kiln mirror` filled, without a network")
      ->envname("KILN_OFFLINE");
  add_value(app, "--mirror", options.mirror, "DIR", "folder of the mirror (default: the site file's)")
      ->envname("KILN_MIRROR");
  app.add_flag("-q,--quiet", options.quiet, "print the answer and errors only");
}

// The commands, in the order and under the titles of `kiln --help`.
struct CommandGroup {
  const char* title;
  std::vector<Subcommand*> commands;
};

std::vector<CommandGroup> command_groups() {
  return {
      {"Commands for recipes and matrices", {add_init, add_import, add_lint, add_schema}},
      {"Commands for plans", {add_plan, add_show, add_generate, add_diff}},
      {"Commands for builds", {add_build, add_derive, add_test, add_log, add_shell}},
      {"Commands for publishing and nightly builds", {add_publish, add_nightly}},
      {"Commands for the choice of an image",
       {add_select, add_job, add_module, add_infrastructure, add_scripts, add_host, add_serve, add_index}},
      {"Commands for the content of an image", {add_inspect, add_sif}},
      {"Commands for measurements", {add_bench, add_tune, add_report, add_model, add_scale}},
      {"Commands for pinned sources and mirrors", {add_lock, add_mirror}},
      {"Commands for the machine and the state folder", {add_doctor, add_gc}},
      {"Commands for the command line", {add_completion, add_man, add_step}},
  };
}

void add_subcommands(CLI::App& app, Invocation& invocation) {
  for (const CommandGroup& group : command_groups())
    for (Subcommand* add : group.commands) {
      CLI::App* subcommand = add(app, invocation);
      subcommand->fallthrough()->group(group.title);
      bool plans = subcommand->get_option_no_throw("--file") != nullptr;
      if (plans && subcommand->get_name() != "lock") add_lock_options(*subcommand, invocation.options);
    }
  app.require_subcommand(1);
}

int report(const Error& error) {
  tell(error.format());
  return static_cast<int>(error.code());
}

// The program's own folder change: before anything is read.
void enter(const std::string& folder) {
  if (folder.empty()) return;
  if (!fs::is_directory(folder)) throw Error(ExitCode::input, fmt::format("there is no folder '{}'", folder));
  std::error_code problem;
  fs::current_path(folder, problem);
  if (problem) throw Error(ExitCode::input, fmt::format("cannot go to '{}': {}", folder, problem.message()));
}

bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// An answer that did not get to stdout is none; a reader who has seen enough is no failure.
void flush_stdout() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed && !reader_is_gone()) throw Error(ExitCode::store, "cannot write to stdout");
}

// --help and --version.
void print_about(const CLI::App& app, const CLI::ParseError& asked) {
  refuse_unknown_command(app);
  std::ostringstream text;
  app.exit(asked, text, text);
  std::fputs(text.str().c_str(), stdout);
  flush_stdout();
}

// Plans, reports and evidence name what the user named, and JSON has UTF-8 only.
void need_utf8(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::size_t at = first_not_utf8(argv[i]); at != std::string::npos)
      throw Error(ExitCode::usage,
                  fmt::format("the argument {} is not UTF-8 at its byte {}", argv[i], at + 1),
                  "name a file with other bytes by a symbolic link, or from its own folder");
}

int run(int argc, char** argv) {
  CLI::App app{"An image factory for AI and HPC sites", "kiln"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "kiln " KILN_VERSION " (archspec " KILN_ARCHSPEC_VERSION ")",
                       "print the version");
  Invocation invocation(own_environment());
  add_global_options(app, invocation.options);
  // Folder first: subcommands run as callbacks while arguments are parsed.
  app.parse_complete_callback([&] { enter(invocation.options.directory); });
  add_subcommands(app, invocation);
  app.footer(kExamples);  // last, as commands inherit it
  if (argc > 1 && std::string_view(argv[1]) == "__complete") {
    print_completions(app, {argv + 2, argv + argc}, invocation);
    flush_stdout();
    return 0;
  }
  need_utf8(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != 0) return report(usage_error(app, problem));
    print_about(app, problem);
    return 0;
  } catch (const Error& error) {
    throw explained(error, invocation);
  }
  flush_stdout();
  return static_cast<int>(interrupted() ? ExitCode::interrupted : invocation.exit_code);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::install_interrupt_handler();
  try {
    return kiln::run(argc, argv);
  } catch (const std::exception& exception) {
    const auto* refused = dynamic_cast<const std::system_error*>(&exception);
    if (refused != nullptr && refused->code().value() == EPIPE) return 0;  // the reader has seen enough
    return kiln::report(kiln::unexpected_error(exception));
  } catch (...) {
    return kiln::report(kiln::unexpected_error());
  }
}
