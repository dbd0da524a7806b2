// kiln serve: what `kiln select` answers, over HTTP.
#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>

#include "factory/app/night_metrics.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/serve_token.h"
#include "factory/cli/served_pages.h"
#include "factory/cli/site_files.h"
#include "factory/cli/state_lock.h"
#include "registry/http/listen.h"
#include "registry/http/server.h"
#include "registry/http/service_manager.h"
#include "registry/select/mappings.h"
#include "registry/serve/service.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kDemandPause{5};     // between two writes of what was asked
constexpr std::chrono::seconds kDrainPatience{30};  // for requests that are being answered when we end
constexpr std::size_t kOwnDescriptors = 256;        // of files: the index, and what verbs look at

struct ServeOptions {
  std::string listen = "127.0.0.1:8642";
  std::string tokens;
  SiteFiles site;
  HttpLimits limits;
  int seconds = 20;
};

// Signals are taken by wait_for_signal() and by nobody else, in the threads that are made from now on, too.
sigset_t keep_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int wait_for_signal(const sigset_t& signals, std::chrono::seconds most) {
  timespec time{};
  time.tv_sec = most.count();
  return ::sigtimedwait(&signals, nullptr, &time);
}

// As many connections as the system lets us have.
std::size_t raise_descriptors(std::size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t most =
      limit.rlim_max > 2 * kOwnDescriptors ? limit.rlim_max - kOwnDescriptors : kOwnDescriptors;
  return std::min(connections, most);
}

ServeSettings read_settings(const ServeOptions& options, Invocation& invocation) {
  ServeSettings settings;
  settings.places.state = invocation.state().root();
  settings.places.archspec = invocation.archspec_file();
  settings.places.recipes = invocation.recipe_folders();
  const auto folder = invocation.environment.find("SINGULARITY_DIR");
  if (folder != invocation.environment.end()) settings.places.sif_folder = folder->second;
  if (!options.tokens.empty()) settings.tokens = TokenBook::read(invocation.files, options.tokens);
  settings.site = read_site_files(options.site, invocation.files);
  return settings;
}

WrittenMapping import_mapping(const JsonDocument& document, const WrittenNumbers& numbers,
                              Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln serve, a mapping");
  Index index = invocation.index(Index::Mode::write);
  WrittenMapping written{
      read_mapping(document.root(), invocation.graph_compilers(index.compilers()), numbers)};
  written.snapshot = index
                         .import_mappings([&](const Index::TakeMapping& take) { take(written.mapping); },
                                          rfc3339(invocation.clock.unix_seconds()))
                         .snapshot;
  return written;
}

std::int64_t import_site_document(const SiteDocument& document, Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln serve, a document of the site");
  return invocation.index(Index::Mode::write)
      .import_site_documents({document}, rfc3339(invocation.clock.unix_seconds()));
}

ListeningSocket listen(const ServeOptions& options, const Invocation& invocation) {
  return options.listen == "systemd" ? ListeningSocket::of_systemd(invocation.environment)
                                     : ListeningSocket(options.listen);
}

void tell_systemd(const Invocation& invocation, const std::string& state) {
  const auto found = invocation.environment.find("NOTIFY_SOCKET");
  if (found != invocation.environment.end()) tell_service_manager(found->second, state);
}

// What cannot be read leaves the settings as they are.
void reload(Service& service, const ServeOptions& options, Invocation& invocation) {
  tell_systemd(invocation, "RELOADING=1\n" + monotonic_line());
  try {
    service.change(read_settings(options, invocation));
    invocation.note("settings are read again");
  } catch (const Error& error) {
    tell(error.format("warning"));
  }
  tell_systemd(invocation, "READY=1");
}

void serve_until_told(Service& service, const sigset_t& signals, const ServeOptions& options,
                      Invocation& invocation) {
  while (true) {
    const int signal = wait_for_signal(signals, kDemandPause);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) reload(service, options, invocation);
    service.write_demand();
  }
}

void run_serve(ServeOptions options, Invocation& invocation) {
  const sigset_t signals = keep_signals();
  options.limits.connections = raise_descriptors(options.limits.connections);
  options.limits.request = std::chrono::seconds(options.seconds);
  std::mutex writing;
  ServedPages pages(invocation.state(), invocation.files, invocation.clock);
  Service service(
      read_settings(options, invocation),
      [&](const JsonDocument& document, const WrittenNumbers& numbers) {
        const std::lock_guard held(writing);
        return import_mapping(document, numbers, invocation);
      },
      invocation.clock, [&](const std::string& path) { return pages.page(path); });
  service.write_site_with([&](const SiteDocument& document) {
    const std::lock_guard held(writing);
    return import_site_document(document, invocation);
  });
  const ListeningSocket socket = listen(options, invocation);
  HttpServer server(socket.descriptor(), options.limits,
                    [&](const ReceivedRequest& request) { return service.answer(request); });
  service.watch([&] { return server.counts(); });
  service.add_metrics([&] { return read_metrics(invocation.state(), invocation.files); });
  invocation.note("serving on " + socket.address());
  tell_systemd(invocation, "READY=1");
  serve_until_told(service, signals, options, invocation);
  tell_systemd(invocation, "STOPPING=1");
  server.drain(kDrainPatience);
  service.write_demand();
}

}  // namespace

CLI::App* add_serve(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Answer the questions of kiln select over HTTP");
  command
      ->add_option("--listen", options->listen,
                   "address and port, unix:PATH, or systemd for a socket of systemd")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command
      ->add_option("--tokens", options->tokens,
                   "file of `kiln serve token` with the tokens that permit writing")
      ->type_name("FILE");
  command
      ->add_option("--infrastructure", options->site.infrastructures,
                   "file with infrastructures, which the documents of jobs may name; may be repeated")
      ->type_name("FILE");
  command
      ->add_option("--scripts", options->site.scripts,
                   "file with enforcement scripts of the site; may be repeated")
      ->type_name("FILE");
  command
      ->add_option("--scaling-models", options->site.scaling_models,
                   "file with scaling models of mappings; may be repeated")
      ->type_name("FILE");
  command->add_option("--connections", options->limits.connections, "most connections at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--per-address", options->limits.per_address,
                   "most connections of one address; 0 for no limit, as behind a proxy")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_option("--threads", options->limits.threads, "number of threads that answer")
      ->type_name("N")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  command
      ->add_option("--request-time", options->seconds,
                   "time for a whole request, including the silence before it")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->footer(
      "kiln serve\n"
      "kiln serve --listen 0.0.0.0:8642 --tokens /etc/kiln/tokens\n"
      "kiln serve token --tokens /etc/kiln/tokens --name ci\n"
      "curl --json @job.json http://127.0.0.1:8642/v1/select");
  add_serve_token(*command, invocation);
  command->callback([options, command, &invocation] {
    if (command->get_subcommands().empty()) run_serve(*options, invocation);
  });
  return command;
}

}  // namespace kiln
