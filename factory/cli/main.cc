// The `kiln` program: options, subcommands, and the one place where errors become exit codes.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "cli/invocation.h"

extern char** environ;

namespace kiln {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done or nothing to do, 1 some images failed, 2 usage, 3 bad recipe/matrix/DSL, 4 no image "
    "matches,\n"
    "5 tool missing, 6 registry or network, 7 lock or lease, 8 store, 124 timeout, 130 interrupted.\n"
    "Environment: KILN_STATE, KILN_SITE, KILN_ARCHSPEC, SOURCE_DATE_EPOCH, NO_COLOR, proxies, "
    "REGISTRY_AUTH_FILE, XDG_*.\n";

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
  app.add_option("-C,--directory", options.directory, "go to this folder first")->type_name("DIR");
  app.add_option("--state", options.state, "where builds, images and the index live")
      ->type_name("DIR")
      ->envname("KILN_STATE")
      ->capture_default_str();
  app.add_option("--site", options.site,
                 "site file (default: ./site.json, then $XDG_CONFIG_HOME/kiln/site.json)")
      ->type_name("FILE")
      ->envname("KILN_SITE");
  app.add_option("--recipes", options.recipes,
                 "recipes folder; may be repeated, later ones win (default: beside the matrix)")
      ->type_name("DIR")
      ->expected(1)
      ->take_all();
  app.add_option("--color", options.colour, "auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--progress", options.progress, "auto, tty, plain, json or none")
      ->type_name("STYLE")
      ->check(CLI::IsMember({"auto", "tty", "plain", "json", "none"}))
      ->capture_default_str();
  app.add_flag("-q,--quiet", options.quiet, "print the answer and errors only");
}

void add_subcommands(CLI::App& app, Invocation& invocation) {
  for (Subcommand add : {add_plan, add_show, add_generate, add_build, add_publish, add_bench, add_select,
                         add_index, add_schema, add_doctor, add_completion, add_step, add_sif}) {
    CLI::App* subcommand = add(app, invocation);
    subcommand->fallthrough();
  }
  app.require_subcommand(1);
}

int report(const Error& error) {
  std::fprintf(stderr, "%s\n", error.format().c_str());
  return static_cast<int>(error.code());
}

// What the parser says, but for the word that is no command: the parser only says that one is missing.
Error usage_error(const CLI::App& app, int argc, char** argv, const std::string& message) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  bool any = std::any_of(argv + 1, argv + argc, [&](const char* word) {
    return std::find(commands.begin(), commands.end(), word) != commands.end();
  });
  for (int i = 1; i < argc && !any; ++i) {
    std::string word = argv[i];
    if (!word.empty() && word.front() != '-' && (i == 1 || argv[i - 1][0] != '-'))
      return Error(ExitCode::usage, "unknown command '" + word + "'", did_you_mean(word, commands));
    if (word.starts_with("--") && app.get_option_no_throw(word.substr(0, word.find('='))) == nullptr)
      return Error(ExitCode::usage, "unknown option '" + word + "'", "`kiln --help` lists them");
  }
  std::string hint = argc > 1 && any ? "" : "`kiln --help` lists the commands";
  return Error(ExitCode::usage, message, hint);
}

int run(int argc, char** argv) {
  CLI::App app{"kiln: an image factory for AI and HPC sites", "kiln"};
  app.set_version_flag("--version", "kiln " KILN_VERSION " (archspec " KILN_ARCHSPEC_VERSION ")");
  app.footer(kFooter);
  Invocation invocation(own_environment());
  add_global_options(app, invocation.options);
  // Folder first: subcommands run as callbacks while arguments are parsed.
  app.parse_complete_callback([&] {
    if (invocation.options.directory.empty()) return;
    std::error_code problem;
    fs::current_path(invocation.options.directory, problem);
    if (problem)
      throw Error(ExitCode::usage,
                  fmt::format("cannot go to {}: {}", invocation.options.directory, problem.message()));
  });
  add_subcommands(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem, std::cout, std::cerr);  // --help, --version
    return report(usage_error(app, argc, argv, problem.what()));
  }
  if (std::fflush(stdout) != 0 && errno != EPIPE) throw Error(ExitCode::store, "cannot write to stdout");
  return static_cast<int>(interrupted() ? ExitCode::interrupted : invocation.exit_code);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::install_interrupt_handler();
  try {
    return kiln::run(argc, argv);
  } catch (const kiln::Error& error) {
    return kiln::report(error);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
    return static_cast<int>(kiln::ExitCode::store);
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) return 0;  // the reader of our stdout has seen enough
    return kiln::report(kiln::Error(kiln::ExitCode::store, error.what()));
  } catch (const std::exception& error) {
    return kiln::report(kiln::Error(kiln::ExitCode::store, error.what()));
  }
}
