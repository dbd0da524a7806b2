#include "image/engine/docker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "base/file_lock.h"
#include "base/file_mask.h"
#include "base/json.h"
#include "base/run_beside.h"
#include "base/text.h"
#include "base/unique_name.h"
#include "image/engine/container_files.h"
#include "image/engine/docker_archive.h"
#include "image/engine/import_layout.h"
#include "image/engine/mount_points.h"
#include "image/engine/overlay_mount.h"
#include "image/engine/resolve_inside.h"
#include "oci/pull.h"

namespace kiln {
namespace {

constexpr const char* kEmptyImage = "localhost/kiln:nothing";
constexpr const char* kTree = "{{json .GraphDriver.Data}}";

std::string image_name(const std::string& key) { return "localhost/kiln:" + key; }

std::string without_end(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

}  // namespace

// Docker fixes at its creation what a container runs and what is mounted in it. So it is made when that is
// known; where the tree is asked for before, one that does nothing shows it.
class DockerContainer final : public Container {
 public:
  DockerContainer(DockerEngine& engine, std::optional<StepRecord> parent)
      : engine_(engine),
        parent_(std::move(parent)),
        image_(parent_ ? image_name(parent_->key) : engine.nothing()),
        overlay_(engine.setup_.runner, engine.setup_.files, engine.setup_.environment) {}
  DockerContainer(const DockerContainer&) = delete;
  DockerContainer& operator=(const DockerContainer&) = delete;

  ~DockerContainer() override {
    try {
      overlay_.unmount();
      // What stays is for the next session to remove, which looks for it only after one that did not end
      // well.
      if (!name_.empty() && !engine_.attempt({"rm", "--force", name_}, true).ok())
        engine_.session_->distrust_store();
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  // REQUIRES: nothing was changed in it before.
  CommandResult run(const ContainerRun& request) override {
    overlay_.unmount();
    if (!name_.empty()) engine_.must({"rm", "--force", name_});
    const ContainerScript script(request, engine_.setup_);
    DockerEngine::Words options = {"--network",  request.network ? "host" : "none",
                                   "--user",     "0:0",
                                   "--workdir",  request.folder,
                                   "--shm-size", "1g"};
    if (request.limits.memory > 0)
      options.insert(options.end(), {"--memory", std::to_string(request.limits.memory)});
    if (request.interactive) options.emplace_back("--interactive");
    if (request.interactive && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1)
      options.emplace_back("--tty");
    for (const std::string& device : request.devices) options.insert(options.end(), {"--device", device});
    for (const Mount& mount : script.mounts()) options.insert(options.end(), {"--volume", mount.volume()});
    create(options, script.argv());
    DockerEngine::Words start = {"docker", "start", "--attach"};
    if (request.interactive) start.emplace_back("--interactive");
    start.push_back(name_);
    Command command = script.command(start, ContainerScript::Network::of_engine);
    ask();
    CommandResult result = engine_.setup_.runner.run(command);
    if (result.end != CommandEnd::exited) engine_.attempt({"kill", name_}, true);
    if (!result.ok() && is_out_of_memory()) result.end = CommandEnd::out_of_memory;
    has_run_ = true;
    script.check(result, "docker");
    return result;
  }

  void add_archive(const fs::path& tar) override { unpack_archive(tar, mount(), engine_.setup_); }

  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) override {
    const fs::path from = dynamic_cast<DockerContainer&>(other).mount();
    const fs::path to = mount();
    for (const std::string& path : paths) copy_between(from, to, path, log, engine_.setup_);
  }

  fs::path place_of(const std::string& path) override { return resolve_inside(mount(), path); }

  ChangedTree changes() override {
    overlay_.unmount();
    ChangedTree tree = this->tree();
    if (!parent_) tree.below.clear();
    if (has_run_) settle_mount_points(tree);
    return tree;
  }

  void keep(const std::string& key, const std::function<void()>& read) override {
    overlay_.unmount();
    try {
      run_beside([&] { engine_.must({"commit", name_, image_name(key)}); }, read);
    } catch (const std::exception&) {
      engine_.attempt({"rmi", image_name(key)}, true);  // no step's, whatever it is
      throw;
    }
  }

 private:
  void create(const DockerEngine::Words& options, const DockerEngine::Words& argv) {
    name_ = "kiln-" + unique_name();
    DockerEngine::Words words = {"create",
                                 "--pull",
                                 "never",
                                 "--name",
                                 name_,
                                 "--label",
                                 "kiln.session=" + engine_.session_->file().string(),
                                 "--entrypoint",
                                 argv.front()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(image_);
    words.insert(words.end(), argv.begin() + 1, argv.end());
    // The image is there, mostly: asking first is a start of its own.
    const CommandResult made = engine_.attempt(words);
    if (made.ok()) return;
    if (!parent_ || engine_.has_image(image_)) engine_.refuse(words, made);
    engine_.import(*parent_, image_);
    engine_.must(words);
  }

  // While the script runs, which is longer than the answer takes.
  void ask() {
    asked_ = std::async(std::launch::async, [this, name = name_] { return inspect(kTree, name); });
  }

  std::string inspect(const std::string& what, const std::string& name) {
    return engine_.must({"inspect", "--type", "container", "--format", what, name});
  }

  bool is_out_of_memory() { return inspect("{{.State.OOMKilled}}", name_) == "true"; }

  ChangedTree tree() {
    if (name_.empty()) create({"--network", "none"}, {"/bin/true"});
    const Json data = Json::parse(asked_.valid() ? asked_.get() : inspect(kTree, name_), nullptr, false);
    auto at = [&](const char* key) {
      return data.is_object() ? data.value(key, std::string()) : std::string();
    };
    ChangedTree tree{at("UpperDir"), {}};
    const std::string lower = at("LowerDir");
    for (const std::string_view below : split(lower, ':'))
      if (!below.ends_with("-init/diff")) tree.below.emplace_back(below);  // Docker's own mount points
    work_ = at("WorkDir");
    if (tree.folder.empty() || !engine_.setup_.files.is_directory(tree.folder))
      throw Error(ExitCode::store, "docker's containers are no overlays on this machine",
                  "kiln needs a local daemon with the storage driver overlay2, and to be root");
    return tree;
  }

  // Docker mounts a container's tree only while that runs.
  fs::path mount() {
    if (overlay_.is_mounted()) return overlay_.at();
    const ChangedTree tree = this->tree();
    overlay_.mount(tree, {fs::path(engine_.setup_.environment.at("TMPDIR")) / (name_ + "-tree"), work_,
                          tree.folder.parent_path().parent_path()});
    return overlay_.at();
  }

  DockerEngine& engine_;
  std::optional<StepRecord> parent_;  // none: made from nothing
  std::string image_, name_;          // name_ is empty while there is no container
  std::future<std::string> asked_;    // the daemon, for the container's tree
  bool has_run_ = false;
  OverlayMount overlay_;
  fs::path work_;  // overlayfs' own, of tree()
};

CommandResult DockerEngine::attempt(const Words& arguments, bool despite_interrupt) {
  Command command;
  command.argv = arguments;
  command.argv.insert(command.argv.begin(), "docker");
  command.despite_interrupt = despite_interrupt;
  command.environment = setup_.environment;
  command.capture_stdout = true;
  CommandResult result = setup_.runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result;
}

std::string DockerEngine::must(const Words& arguments) {
  CommandResult result = attempt(arguments);
  if (!result.ok()) refuse(arguments, result);
  return without_end(std::move(result.output));
}

void DockerEngine::refuse(const Words& arguments, const CommandResult& result) {
  const std::string said = last_lines(result.tail, 1);
  if (said.find("Cannot connect to the Docker daemon") != std::string::npos)
    throw Error(ExitCode::tool_missing, said, "start dockerd, or name its socket in $DOCKER_HOST");
  throw Error(ExitCode::store, fmt::format("docker {} failed: {}", arguments.front(), said));
}

std::string DockerEngine::version() {
  // "Docker version 20.10.24+dfsg1, build 297e128"
  const std::string text = must({"--version"});
  const std::size_t start = text.find_first_of("0123456789");
  return start == std::string::npos ? text : text.substr(start, text.find_first_of("+, ", start) - start);
}

void DockerEngine::begin() {
  if (session_) return;
  need_mounted_root(setup_.files);
  session_.emplace(setup_.runner, setup_.files, setup_.store, setup_.environment);
  // In a store that is new to this engine others may have cleaned up what docker knows nothing of.
  const fs::path known = setup_.store / "docker";
  if (!session_->met_dead() && setup_.files.exists(known)) return;
  remove_dead();
  setup_.files.write_output(known, "");
}

// Containers of kilns that were killed: nothing else ends what runs in them.
void DockerEngine::remove_dead() {
  const std::string sessions = setup_.store.string() + ".sessions/";
  const std::string list = must({"ps", "--all", "--filter", "label=kiln.session", "--format",
                                 "{{.Names}} {{.Label \"kiln.session\"}}"});
  for (const std::string_view line : split(list, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string file(line.substr(blank + 1));
    if (!file.starts_with(sessions)) continue;  // of another state folder
    if (!setup_.files.exists(file) || FileLock::of_the_dead(file))
      attempt({"rm", "--force", std::string(line.substr(0, blank))});
  }
}

std::unique_ptr<Container> DockerEngine::start(const StepRecord* parent) {
  begin();
  return std::make_unique<DockerContainer>(*this, parent != nullptr ? std::optional(*parent) : std::nullopt);
}

bool DockerEngine::has_image(const std::string& image) {
  return attempt({"image", "inspect", "--format", "{{.Id}}", image}).ok();
}

std::string DockerEngine::nothing() {
  if (has_image(kEmptyImage)) return kEmptyImage;
  constexpr std::size_t kEndOfArchive = 1024;
  const fs::path empty = setup_.store / "nothing.tar";
  setup_.files.write_output(empty, std::string(kEndOfArchive, '\0'));
  must({"import", empty.string(), kEmptyImage});
  return kEmptyImage;
}

void DockerEngine::import(const StepRecord& step, const std::string& image) {
  const FileLock lock = FileLock::acquire(EngineSession::import_lock(setup_.store));
  if (has_image(image)) return;  // another process was faster
  ImportLayout::check(DockerArchive(step, image, setup_).load(), image, name());
}

void DockerEngine::forget(const std::vector<std::string>& containers,
                          const std::vector<std::string>& images) {
  for (const std::string& name : containers) must({"rm", "--force", name});
  for (const std::string& image : images) must({"rmi", image});
}

void DockerEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  pull_base(reference, layout, log,
            {setup_.runner, setup_.clock, setup_.environment, setup_.pull_limits, setup_.tell_pull},
            setup_.architecture);
}

}  // namespace kiln
