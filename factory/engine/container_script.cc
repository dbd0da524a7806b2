#include "factory/engine/container_script.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/quote.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
// The mode: whoever a script becomes may open what is its own stdout.
Fifo::Fifo(std::filesystem::path path) : path_(std::move(path)) {
  if (::mkfifo(path_.c_str(), 0600) != 0 || ::chmod(path_.c_str(), 0622) != 0)
    fail_with_errno(errno, "make", path_);
  end_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (end_ < 0) fail_with_errno(errno, "open", path_);
}

Fifo::~Fifo() {
  ::close(end_);
  ::unlink(path_.c_str());
}

bool ScriptPipes::has_begun() const {
  char byte = 0;
  return ::read(begun_.end(), &byte, 1) == 1;
}

ContainerScript::ContainerScript(const ContainerRun& request, const EngineSetup& setup)
    : request_(request),
      setup_(setup),
      folder_(fs::path(setup.environment.at("TMPDIR")) / ("environment-" + unique_name())) {
  setup.files.make_directories(folder_);
  fs::permissions(folder_, fs::perms::owner_all);
  std::string text;
  for (const auto& [name, value] : request.environment)
    if (is_variable_name(name)) text += fmt::format("export {}={}\n", name, quote_shell_text(value));
  setup.files.write_output(folder_ / "environment", text);
  mounts_.push_back({folder_ / "environment", "/run/kiln/environment"});
  mounts_.insert(mounts_.end(), request.mounts.begin(), request.mounts.end());
  if (request.interactive) return;
  pipes_.emplace(folder_);
  mounts_.push_back({pipes_->out(), "/run/kiln/stdout"});
  mounts_.push_back({pipes_->err(), "/run/kiln/stderr"});
  mounts_.push_back({pipes_->begun(), "/run/kiln/begun"});
}

ContainerScript::~ContainerScript() {
  pipes_.reset();
  std::error_code ignored;  // tmp/ is swept
  fs::remove_all(folder_, ignored);
}

// `exit`: shells replace themselves with the last command. Traps wait for the end of the script, which is
// told to end as the shell is; it starts without them.
std::vector<std::string> ContainerScript::argv(const std::string& before) const {
  const std::string environment = ". /run/kiln/environment; ";
  std::string start = environment + "exec \"$@\"";  // a person's shell
  if (pipes_)
    start = "echo >/run/kiln/begun; exec >/run/kiln/stdout 2>/run/kiln/stderr; " + environment +
            "trap : HUP INT TERM; \"$@\"; exit";
  std::vector<std::string> words = {"/bin/sh", "-c", before + start, "sh"};
  words.insert(words.end(), request_.argv.begin(), request_.argv.end());
  return words;
}

Command ContainerScript::command(std::vector<std::string> words, Network network) const {
  Command command;
  command.environment = setup_.environment;
  command.argv =
      request_.network || network == Network::of_engine ? std::move(words) : without_network(words);
  command.log = request_.log;
  command.capture_stdout = request_.capture_stdout;
  command.limits = request_.limits;
  command.on_line = request_.on_line;
  command.own_processes = true;
  command.file_mask = kImageMask;
  command.hidden = request_.hidden;
  if (pipes_) command.more_output = pipes_->ends();
  command.interactive = request_.interactive;
  command.unsynced = request_.unsynced;
  return command;
}

namespace {

// The line with which a program written in Go says why it crashed (runtime/panic.go); "" if it did not crash.
std::string crash_in(const std::string& said) {
  const std::size_t stacks = said.find("\ngoroutine ");
  if (stacks == std::string::npos) return "";
  std::istringstream lines(said.substr(0, stacks));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("panic: ") || line.starts_with("fatal error: ")) return line;
  return "";
}

}  // namespace

void ContainerScript::check(const CommandResult& result, const std::string& engine) const {
  if (!pipes_ || pipes_->has_begun()) return;
  if (const std::string crash = result.ok() ? "" : crash_in(result.tail); !crash.empty())
    throw Error(ExitCode::store, fmt::format("{} crashed before it started the script: {}", engine, crash),
                "buildah does on a full disk: `df` of the state folder");
  if (!result.ok()) return;
  throw Error(ExitCode::store,
              fmt::format("{} reports that the script is done, but has not started it", engine),
              fmt::format("the engine is at fault: `kiln doctor`, and `{} info`", engine));
}

void ContainerScript::check_begun(const CommandResult& result, const std::string& engine) const {
  if (result.ok() || result.end != CommandEnd::exited || !pipes_) return check(result, engine);
  if (pipes_->has_begun()) return;
  const std::string said = result.tail.empty() ? "" : ": " + last_lines(result.tail, 1);
  throw Error(ExitCode::store,
              fmt::format("{} could not start the script (exit status {}){}", engine, result.status, said));
}

std::vector<std::string> ContainerScript::without_network(const std::vector<std::string>& words) const {
  // The new namespace has only a loopback device, and that is down.
  if (!setup_.runner.find_program("ip"))
    throw Error(ExitCode::tool_missing, "the program 'ip' is not installed or not in PATH",
                "it brings up the loopback device for tests; Debian's package is iproute2");
  std::vector<std::string> all = {
      "unshare", "--net", "--", "/bin/sh", "-c", "ip link set lo up && exec \"$@\"", "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace kiln
