// kiln serve: what `kiln select` answers, over HTTP.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "factory/app/night_metrics.h"
#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/site_documents.h"
#include "factory/cli/state_lock.h"
#include "factory/pages/catalogue_pages.h"
#include "factory/pages/state_pages.h"
#include "factory/state/state.h"
#include "registry/http/listen.h"
#include "registry/http/server.h"
#include "registry/select/mappings.h"
#include "registry/serve/service.h"
#include "registry/serve/tokens.h"

namespace kiln {
namespace {

class ServedPages {
 public:
  // `files` and `clock` outlive it.
  ServedPages(StatePaths state, FileSystem& files, const Clock& clock);
  ~ServedPages();
  // nullopt: there is no such page, or no index. Threads wait for each other. Throws Error(store).
  std::optional<ServedPage> page(const std::string& path);

 private:
  struct Made;  // of one state of the index
  void look();

  const StatePaths state_;
  FileSystem& files_;
  const Clock& clock_;
  std::mutex lock_;
  std::unique_ptr<Made> made_;
};

struct TokenOptions {
  std::string file;
  std::string name;
};

void run_token(const TokenOptions& options, Invocation& invocation) {
  if (invocation.files.exists(options.file)) TokenBook::read(invocation.files, options.file);
  const NewToken made = make_token(options.name);
  LineFile file(options.file, std::chrono::seconds(5));
  if (!file.is_open() || !file.append(made.line) || !file.sync())
    throw Error(ExitCode::store, fmt::format("cannot write to {}: {}", options.file, std::strerror(errno)));
  say("{}\n", made.token);
  invocation.note("kiln does not show this token again; a running kiln serve accepts it after SIGHUP");
}

// `kiln serve token`, below `serve`.
void add_serve_token(CLI::App& serve, Invocation& invocation) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command = add_below(serve, "token", "Make a token that permits writing, and print it once",
                                "kiln serve token --tokens /etc/kiln/tokens --name ci");
  add_value(*command, "--tokens", options->file, "FILE", "file to store its hash in")->required();
  add_value(*command, "--name", options->name, "NAME", "name of its owner, one word")->required();
  command->callback([options, &invocation] { run_token(*options, invocation); });
}

constexpr double kNightsAreNew = 60;               // seconds: nights come without a change of the index, too
constexpr std::size_t kMostKeptPages = 32u << 20;  // bytes

struct ServedPages::Made {
  Made(IndexIdentity file, double now, const StatePaths& state, FileSystem& files)
      : identity(file),
        time(now),
        index(Index::open(state.root(), Index::Mode::read)),
        source(index, state, files),
        pages(read_page_content(index, {}, state, files), source) {}

  ServedPage page(const std::string& path, Page made) {
    ServedPage served{std::move(made.media_type), std::move(made.bytes)};
    if (bytes + served.bytes.size() <= kMostKeptPages) {
      bytes += served.bytes.size();
      kept.emplace(path, served);
    }
    return served;
  }

  const IndexIdentity identity;
  const double time;
  const Index index;
  const StatePages source;
  const CataloguePages pages;
  std::map<std::string, ServedPage> kept{};
  std::size_t bytes = 0;  // of them
};

ServedPages::ServedPages(StatePaths state, FileSystem& files, const Clock& clock)
    : state_(std::move(state)), files_(files), clock_(clock) {}

ServedPages::~ServedPages() = default;

void ServedPages::look() {
  const IndexIdentity now = identity_of_index(state_.root());
  const double time = clock_.monotonic_seconds();
  if (made_ && made_->identity == now && time - made_->time < kNightsAreNew) return;
  made_.reset();  // two of them are more than one has to be
  if (now != IndexIdentity{}) made_ = std::make_unique<Made>(now, time, state_, files_);
}

std::optional<ServedPage> ServedPages::page(const std::string& path) {
  if (!CataloguePages::may_be_page(path)) return std::nullopt;
  const std::lock_guard held(lock_);
  look();
  if (!made_) return std::nullopt;
  if (auto found = made_->kept.find(path); found != made_->kept.end()) return found->second;
  auto page = made_->pages.page(path);
  return page ? std::optional(made_->page(path, *std::move(page))) : std::nullopt;
}

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
  settings.paths.state = invocation.state().root();
  settings.paths.archspec = invocation.archspec_file();
  settings.paths.recipes = invocation.recipe_folders();
  settings.paths.sif_folder = value_or(invocation.environment, "SINGULARITY_DIR");
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
                         .import_mappings([&](const Index::AddMapping& add) { add(written.mapping); },
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
  CLI::App* command = add_below(app, "serve", "Answer the questions of kiln select over HTTP",
                                "kiln serve\n"
                                "kiln serve --listen 0.0.0.0:8642 --tokens /etc/kiln/tokens\n"
                                "kiln serve token --tokens /etc/kiln/tokens --name ci\n"
                                "curl --json @job.json http://127.0.0.1:8642/v1/select");
  add_value(*command, "--listen", options->listen, "ADDRESS",
            "address and port, unix:PATH, or systemd for a socket of systemd")
      ->capture_default_str();
  add_value(*command, "--tokens", options->tokens, "FILE",
            "file of `kiln serve token` with the tokens that permit writing");
  add_value(*command, "--infrastructure", options->site.infrastructures, "FILE",
            "file with infrastructures, which the documents of jobs may name; may be repeated");
  add_value(*command, "--scripts", options->site.scripts, "FILE",
            "file with enforcement scripts of the site; may be repeated");
  add_value(*command, "--scaling-models", options->site.scaling_models, "FILE",
            "file with scaling models of mappings; may be repeated");
  HttpLimits& limits = options->limits;
  add_number(*command, "--connections", limits.connections, "N", "most connections at a time", 1, 1'000'000);
  add_number(*command, "--per-address", limits.per_address, "N",
             "most connections of one address; 0 for no limit, as behind a proxy", 0, 1'000'000);
  add_number(*command, "--threads", limits.threads, "N", "number of threads that answer", 2, 256);
  add_number(*command, "--request-time", options->seconds, "SECONDS",
             "time for a whole request, including the silence before it", 1, 3600);
  add_serve_token(*command, invocation);
  command->callback([options, command, &invocation] {
    if (command->get_subcommands().empty()) run_serve(*options, invocation);
  });
  return command;
}

}  // namespace kiln
