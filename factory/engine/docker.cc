#include "factory/engine/docker.h"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/in_parallel.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/engine/container_files.h"
#include "factory/engine/container_script.h"
#include "factory/engine/import_layout.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

constexpr const char* kNothing = "nothing";  // the tag of an image with nothing in it
constexpr int kNotFound = 404;

// What the members of an object lead to, one after the other; null where there is no such.
Json member(const Json& object, std::initializer_list<const char*> names) {
  Json found = object;
  for (const char* name : names) found = found.is_object() ? found.value(name, Json()) : Json();
  return found;
}

std::string text_of(const Json& object, const char* name) {
  const Json found = member(object, {name});
  return found.is_string() ? found.get<std::string>() : "";
}

// Of a script's container, but for what it runs.
Json settings_of(const ContainerRun& request, const std::vector<Mount>& mounts) {
  constexpr int kSharedMemory = 1 << 30;
  Json host = {{"NetworkMode", request.network ? "host" : "none"},
               {"ShmSize", kSharedMemory},
               {"Binds", Json::array()},
               {"Devices", Json::array()}};
  if (request.limits.memory > 0) host["Memory"] = request.limits.memory;
  for (const std::string& device : request.devices)
    host["Devices"].push_back(
        {{"PathOnHost", device}, {"PathInContainer", device}, {"CgroupPermissions", "rwm"}});
  for (const Mount& mount : mounts) host["Binds"].push_back(mount.volume());
  return {{"User", "0:0"},
          {"WorkingDir", request.folder},
          {"Tty", has_terminal(request)},
          {"OpenStdin", request.interactive},
          {"StdinOnce", request.interactive},
          {"AttachStdin", request.interactive},
          {"AttachStdout", true},
          {"AttachStderr", true},
          {"HostConfig", host}};
}

}  // namespace

// Docker fixes at its creation what a container runs and what is mounted in it. So it is made when that is
// known; where the tree is asked for before, one that does nothing shows it.
class DockerContainer final : public MountedContainer {
 public:
  DockerContainer(DockerEngine& engine, std::optional<StepRecord> parent)
      : MountedContainer(engine.setup_),
        engine_(engine),
        parent_(std::move(parent)),
        image_(step_image(parent_ ? parent_->key : engine.nothing())) {}

  ~DockerContainer() override {
    try {
      overlay_.unmount();
      // What stays is for the next session to remove, which looks for it only after one that did not end
      // well.
      if (!name_.empty() && !engine_.remove(name_).ok()) engine_.session_->distrust_store();
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  // REQUIRES: nothing was changed in it before.
  CommandResult run(const ContainerRun& request) override {
    overlay_.unmount();
    if (!name_.empty()) engine_.check("remove a container", engine_.remove(name_));
    const ContainerScript script(request, setup_);
    create(settings_of(request, script.mounts()), script.argv());
    auto command = [&](std::vector<std::string> words) {
      return script.command(std::move(words), ContainerScript::Network::of_engine);
    };
    CommandRunner& runner = setup_.runner;
    // A person's shell is for docker's program: it knows terminals.
    CommandResult result =
        request.interactive
            ? runner.run(command({"docker", "start", "--attach", "--interactive", name_}))
            : run_in_docker(engine_.daemon_, name_, setup_.environment.at("TMPDIR"), runner, command);
    if (result.end != CommandEnd::exited) engine_.attempt("POST", of_container("/kill"));
    if (!result.ok() && is_out_of_memory()) result.end = CommandEnd::out_of_memory;
    has_run_ = true;
    script.check_begun(result, "docker");
    return result;
  }

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
      run_both(
          [&] {
            const std::string query = fmt::format("?container={}&repo={}&tag={}", name_, kStepImages, key);
            DockerCall commit{"POST", "/commit" + query};
            commit.most = std::chrono::seconds(0);  // for as long as its bytes take
            engine_.check("commit a container", engine_.daemon_.call(commit));
          },
          read);
    } catch (const std::exception&) {
      engine_.attempt("DELETE", "/images/" + step_image(key));  // no step's, whatever it is
      throw;
    }
  }

 private:
  std::string of_container(const char* what) const { return fmt::format("/containers/{}{}", name_, what); }

  void create(Json settings, const std::vector<std::string>& argv) {
    settings["Image"] = image_;
    settings["Entrypoint"] = Json::array({argv.front()});
    settings["Cmd"] = std::vector<std::string>(argv.begin() + 1, argv.end());
    settings["Labels"] = {{"kiln.session", engine_.session_->file().string()}};
    name_ = "kiln-" + unique_name();
    const DockerCall call = {"POST", "/containers/create?name=" + name_, settings.dump()};
    DockerAnswer made = engine_.daemon_.call(call);
    if (made.status == kNotFound && parent_ && !engine_.has_image(image_)) {
      engine_.import(*parent_, image_);
      made = engine_.daemon_.call(call);
    }
    engine_.check("create a container", made);
  }

  Json described() const {
    const DockerAnswer answer = engine_.ask("GET", of_container("/json"));
    engine_.check("describe a container", answer);
    return Json::parse(answer.body, nullptr, false);
  }

  bool is_out_of_memory() const { return member(described(), {"State", "OOMKilled"}) == Json(true); }

  ChangedTree tree() {
    if (name_.empty()) create({{"HostConfig", {{"NetworkMode", "none"}}}}, {"/bin/true"});
    const Json data = member(described(), {"GraphDriver", "Data"});
    ChangedTree tree{text_of(data, "UpperDir"), {}};
    const std::string lower = text_of(data, "LowerDir");
    for (const std::string_view below : split(lower, ':'))
      if (!below.ends_with("-init/diff")) tree.below.emplace_back(below);  // Docker's own mount points
    work_ = text_of(data, "WorkDir");
    if (tree.folder.empty() || !setup_.files.is_directory(tree.folder))
      throw Error(ExitCode::store, "docker's containers are no overlays on this machine",
                  "kiln needs a local daemon with the storage driver overlay2, and to be root");
    return tree;
  }

  // Docker mounts a container's tree only while that runs.
  fs::path mount() override {
    if (overlay_.is_mounted()) return overlay_.at();
    const ChangedTree tree = this->tree();
    overlay_.mount(tree, {fs::path(setup_.environment.at("TMPDIR")) / (name_ + "-tree"), work_,
                          tree.folder.parent_path().parent_path()});
    return overlay_.at();
  }

  DockerEngine& engine_;
  std::optional<StepRecord> parent_;  // none: made from nothing
  std::string image_, name_;          // name_ is empty while there is no container
  bool has_run_ = false;
  fs::path work_;  // overlayfs' own, of tree()
};

DockerEngine::DockerEngine(const EngineSetup& setup, DockerDaemon::Connect connect)
    : LocalEngine(setup), daemon_(value_or(setup.environment, "DOCKER_HOST"), std::move(connect)) {
  // The program is to speak to the same daemon.
  setup_.environment["DOCKER_HOST"] = daemon_.host();
  setup_.environment.erase("DOCKER_CONTEXT");
}

DockerAnswer DockerEngine::ask(const std::string& method, const std::string& path,
                               bool despite_interrupt) const {
  DockerCall call = {method, path};
  call.despite_interrupt = despite_interrupt;
  return daemon_.call(call);
}

void DockerEngine::attempt(const std::string& method, const std::string& path) {
  try {
    ask(method, path, true);
  } catch (const Error&) {
    session_->distrust_store();
  }
}

void DockerEngine::check(const std::string& what, const DockerAnswer& answer) {
  if (!answer.ok()) throw Error(ExitCode::store, fmt::format("docker cannot {}: {}", what, answer.message()));
}

DockerAnswer DockerEngine::remove(const std::string& container) const {
  return ask("DELETE", fmt::format("/containers/{}?force=1", container), true);
}

void DockerEngine::begin() {
  if (!begin_session()) return;
  // In a store that is new to this engine others may have cleaned up what docker knows nothing of.
  const fs::path known = setup_.store / "docker";
  if (!session_->met_dead() && setup_.files.exists(known)) return;
  remove_dead();
  setup_.files.write_output(known, "");
}

// Containers of kilns that were killed: nothing else ends what runs in them.
void DockerEngine::remove_dead() {
  constexpr const char* kOurs = R"(?all=1&filters=%7B%22label%22%3A%5B%22kiln.session%22%5D%7D)";
  const std::string sessions = setup_.store.string() + ".sessions/";
  const DockerAnswer answer = ask("GET", std::string("/containers/json") + kOurs);
  check("list containers", answer);
  const Json list = Json::parse(answer.body, nullptr, false);
  if (!list.is_array()) return;
  for (const Json& container : list) {
    const std::string file = text_of(member(container, {"Labels"}), "kiln.session");
    if (!file.starts_with(sessions)) continue;  // of another state folder
    if (!setup_.files.exists(file) || FileLock::of_the_dead(file)) remove(text_of(container, "Id"));
  }
}

std::unique_ptr<Container> DockerEngine::start(const StepRecord* parent) {
  begin();
  return std::make_unique<DockerContainer>(*this, parent != nullptr ? std::optional(*parent) : std::nullopt);
}

bool DockerEngine::has_image(const std::string& image) const {
  return ask("GET", fmt::format("/images/{}/json", image)).ok();
}

std::string DockerEngine::nothing() const {
  if (has_image(step_image(kNothing))) return kNothing;
  constexpr std::size_t kEndOfArchive = 1024;
  const std::string query = fmt::format("?fromSrc=-&repo={}&tag={}", kStepImages, kNothing);
  check("import an empty image", daemon_.call({"POST", "/images/create" + query,
                                               std::string(kEndOfArchive, '\0'), "application/x-tar"}));
  return kNothing;
}

void DockerEngine::import(const StepRecord& step, const std::string& image) {
  const FileLock lock = FileLock::acquire(EngineSession::import_lock(setup_.store));
  if (has_image(image)) return;  // another process was faster
  ImportLayout::check(DockerArchive(step, image, setup_).load(), image, name());
}

void DockerEngine::forget(const std::vector<std::string>& containers,
                          const std::vector<std::string>& images) {
  for (const std::string& name : containers) check("remove " + name, remove(name));
  for (const std::string& image : images) check("remove " + image, ask("DELETE", "/images/" + image));
}

}  // namespace kiln
