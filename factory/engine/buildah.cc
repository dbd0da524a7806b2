#include "factory/engine/buildah.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/engine/container_files.h"
#include "factory/engine/container_script.h"
#include "factory/engine/import_layout.h"
#include "factory/os/processors.h"

namespace kiln {
namespace {

// The layer of a container in containers.json; "" where that is not as we know it.
std::string layer_of(const std::string& container, const std::string& list) {
  const Json containers = Json::parse(list, nullptr, false);
  if (!containers.is_array()) return "";
  for (const Json& one : containers) {
    if (!one.is_object() || one.value("names", Json()) != Json::array({container})) continue;
    const Json layer = one.value("layer", Json());
    const bool is_name = layer.is_string() && layer.get_ref<const std::string&>().find_first_not_of(
                                                  "0123456789abcdef") == std::string::npos;
    return is_name ? layer.get<std::string>() : "";
  }
  return "";
}

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code problem;
  return fs::equivalent(a, b, problem) && !problem;
}

bool same_tree(const ChangedTree& a, const ChangedTree& b) {
  return same_folder(a.folder, b.folder) &&
         std::equal(a.below.begin(), a.below.end(), b.below.begin(), b.below.end(), same_folder);
}

// For who keeps a container: where the disk is full, engines speak of a closed pipe.
std::string room_in(const fs::path& store) {
  std::error_code problem;
  const fs::space_info space = fs::space(store, problem);
  if (problem) return "";
  return fmt::format("{} are free in {}, and keeping a container takes for a moment twice what it wrote",
                     memory_text(space.available), store.string());
}

// The last line of the output. Go's errors are chains, "copying layers: adding a layer: write /…: no space
// left on device": of a long one the last two links, which say why.
std::string why_it_failed(const std::string& tail) {
  constexpr std::size_t kLongest = 160;
  std::string line = last_lines(tail, 1);
  const std::size_t why = line.rfind(": ");
  if (line.size() <= kLongest || why == std::string::npos) return line;
  const std::size_t where = line.rfind(": ", why - 1);
  return where == std::string::npos ? line : "… " + line.substr(where + 2);
}

// buildah copies its own program into memory before it starts a script, and forbids all to write to that
// copy, which the kernel refuses for as long as it still has a page of it in hand: now and then, on
// Linux 6.18. The script has not begun then.
bool did_not_begin(const CommandResult& result) {
  return result.end == CommandEnd::exited && result.status == 1 &&
         result.tail.starts_with("Close_Fd sealing memfd copy: ");
}

}  // namespace

std::optional<ChangedTree> StorageTrees::of(const std::string& container) const {
  if (const auto before = files_.read(layout()); !before || *before != seen()) return std::nullopt;
  return read(container);
}

void StorageTrees::compare(const std::string& container, const ChangedTree& mounted) {
  const auto tree = read(container);
  if (tree && same_tree(*tree, mounted))
    files_.write_output(layout(), seen());
  else
    files_.remove_all(layout());
}

std::optional<ChangedTree> StorageTrees::read(const std::string& container) const {
  const auto list = files_.read(root() / "overlay-containers" / "containers.json");
  const std::string layer = list ? layer_of(container, *list) : "";
  if (layer.empty()) return std::nullopt;
  const fs::path storage = root() / "overlay";
  ChangedTree tree;
  tree.folder = storage / layer / "diff";
  if (!files_.is_directory(tree.folder)) return std::nullopt;
  const auto lower = files_.read(storage / layer / "lower");
  if (!lower) return tree;  // upon nothing
  for (const std::string_view name : split(*lower, ':')) {
    const fs::path below = storage / name;
    if (name.empty() || !files_.is_directory(below)) return std::nullopt;
    tree.below.push_back(below);
  }
  return tree;
}

std::string StorageTrees::seen() const {
  struct stat program {};
  if (::stat(program_.c_str(), &program) != 0) return "no program";
  // "false": the kernel mounts, and no program of the site's storage.conf, whose marks are others.
  return fmt::format("{} {} {}.{:09} {}\n", program_.string(), program.st_size, program.st_mtim.tv_sec,
                     program.st_mtim.tv_nsec,
                     files_.read(root() / "overlay" / ".has-mount-program").value_or("none"));
}

class BuildahContainer final : public MountedContainer {
 public:
  BuildahContainer(BuildahEngine& engine, std::string name)
      : MountedContainer(engine.setup_), engine_(engine), name_(std::move(name)) {}

  ~BuildahContainer() override {
    if (is_kept_) return;
    try {
      if (!remove()) engine_.session_->distrust_store();
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  CommandResult run(const ContainerRun& request) override {
    unmount();
    return engine_.run(name_, request);
  }

  void add_archive(const fs::path& tar) override {
    unmount();
    engine_.must({"add", "--quiet", name_, tar.string(), "/"});
  }

  ChangedTree changes() override {
    StorageTrees trees = engine_.trees();
    std::optional<ChangedTree> tree = trees.of(name_);
    if (!tree) {
      tree = tree_of_engine();
      if (!is_empty_) trees.compare(name_, *tree);
    }
    if (is_empty_) tree->below.clear();  // whatever stands for nothing there
    unmount();                           // files below an overlay must not change while it is mounted
    return *tree;
  }

  void keep(const std::string& key, const std::function<void()>& read) override {
    unmount();
    read();
    is_kept_ = engine_.keep(name_, step_image(key));
  }

  void set_empty() { is_empty_ = true; }

 private:
  bool remove() {
    // A store whose file system is gone: the engine would begin another below the empty mount point.
    if (!setup_.files.is_directory(setup_.store)) return true;
    overlay_.unmount();
    if (!mounted_.empty()) engine_.attempt({"umount", name_}, true);
    return engine_.attempt({"rm", name_}, true).ok();
  }

  fs::path mount() override {
    if (tree().empty() && !mount_it_ourselves()) mounted_ = engine_.must({"mount", name_});
    return tree();
  }

  // Empty while it is not mounted.
  const fs::path& tree() const { return overlay_.is_mounted() ? overlay_.at() : mounted_; }

  // Where the engine's files are believed: without two starts of it.
  bool mount_it_ourselves() {
    const auto tree = engine_.mounts_are_plain() ? engine_.trees().of(name_) : std::nullopt;
    if (!tree || tree->below.empty()) return false;
    // The engine may have bound its storage upon itself: what is outside is of another mount then.
    const fs::path work = tree->folder.parent_path() / "kiln-work";
    try {
      overlay_.mount(*tree, {setup_.store / "trees" / name_, work, engine_.root() / "overlay", true});
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::store) throw;
      return false;  // the engine may know how
    }
  }

  // Asks the engine, whatever is mounted of ours: another build may have made the engine's files believed, or
  // no longer, since this one looked.
  ChangedTree tree_of_engine() {
    overlay_.unmount();
    if (mounted_.empty()) mounted_ = engine_.must({"mount", name_});
    const fs::path merged = mounted_;
    std::string mountinfo = setup_.files.read("/proc/self/mountinfo").value_or("");
    auto tree = overlay_at(mountinfo, merged, merged.parent_path().parent_path());
    if (tree) return *std::move(tree);
    throw Error(ExitCode::store,
                fmt::format("buildah's container is not an overlay mount at {}", merged.string()),
                "kiln needs overlay storage: run as root or inside `buildah unshare`, state on a local disk");
  }

  void unmount() {
    overlay_.unmount();
    if (mounted_.empty()) return;
    engine_.must({"umount", name_});
    mounted_.clear();
  }

  BuildahEngine& engine_;
  std::string name_;
  fs::path mounted_;       // where the engine mounted it; empty while it did not
  bool is_empty_ = false;  // made from nothing
  bool is_kept_ = false;   // as an image, and gone
};

BuildahEngine::Words BuildahEngine::words(const Words& arguments) const {
  Words argv = {"buildah",          "--root", root().string(), "--runroot", (setup_.store / "run").string(),
                "--storage-driver", "overlay"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

CommandResult BuildahEngine::attempt(const Words& arguments, bool despite_interrupt) {
  Command command;
  command.argv = words(arguments);
  command.despite_interrupt = despite_interrupt;
  command.file_mask = kImageMask;
  command.environment = setup_.environment;
  command.unsynced = true;  // EngineSession
  command.capture_stdout = true;
  CommandResult result = setup_.runner.run(command);
  if (result.end != CommandEnd::exited && session_) session_->distrust_store();
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result;
}

std::string BuildahEngine::must(const Words& arguments) {
  CommandResult result = attempt(arguments);
  if (!result.ok())
    throw Error(ExitCode::store,
                fmt::format("buildah {} failed: {}", arguments.front(), why_it_failed(result.tail)),
                arguments.front() == "commit" ? room_in(setup_.store) : "");
  std::string output = std::move(result.output);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

bool BuildahEngine::keep(const std::string& container, const std::string& image) {
  const Words words = {"commit", "--quiet", "--disable-compression", container, image};
  Words and_remove = words;
  and_remove.insert(and_remove.end() - 2, "--rm");
  if (attempt(and_remove).ok()) return true;
  must(words);  // it may be the removal that failed
  return false;
}

CommandResult BuildahEngine::run(const std::string& name, const ContainerRun& request) {
  const ContainerScript script(request, setup_);
  Words arguments = {"run",    "--isolation", "chroot",       "--network",   "host",
                     "--user", "0:0",         "--workingdir", request.folder};
  if (has_terminal(request)) arguments.emplace_back("--terminal");
  for (const Mount& mount : script.mounts()) arguments.insert(arguments.end(), {"--volume", mount.volume()});
  arguments.insert(arguments.end(), {name, "--"});
  const Words inside = script.argv();
  arguments.insert(arguments.end(), inside.begin(), inside.end());
  const Command command = script.command(words(arguments));
  CommandResult result = setup_.runner.run(command);
  for (int again = 0; again < 3 && did_not_begin(result); ++again) result = setup_.runner.run(command);
  script.check(result, "buildah");
  return result;
}

std::unique_ptr<Container> BuildahEngine::start(const StepRecord* parent) {
  begin_session();
  std::string name = "kiln-" + unique_name();
  std::string image = parent != nullptr ? step_image(parent->key) : "scratch";
  const Words from = {"from", "--quiet", "--pull-never", "--name", name, image};
  if (parent == nullptr || !attempt(from).ok()) {  // which it mostly is: asking first is a start of its own
    if (parent != nullptr && !has_image(image)) import(*parent, image);
    must(from);
  }
  auto container = std::make_unique<BuildahContainer>(*this, name);
  if (parent == nullptr) container->set_empty();
  return container;
}

void BuildahEngine::forget(const std::vector<std::string>& containers,
                           const std::vector<std::string>& images) {
  constexpr std::size_t kAtOnce = 200;  // few enough for a command line
  begin_session();
  auto remove_all = [&](const char* verb, const std::vector<std::string>& names) {
    for (std::size_t at = 0; at < names.size(); at += kAtOnce) {
      Words words = {verb};
      words.insert(words.end(), names.begin() + static_cast<std::ptrdiff_t>(at),
                   names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), at + kAtOnce)));
      must(words);
    }
  };
  try {
    remove_all("rm", containers);
    remove_all("rmi", images);
  } catch (const Error&) {
    session_->distrust_store();
    throw;
  }
}

// A user's overlays have other marks, and SELinux wants its label on a mount.
bool BuildahEngine::mounts_are_plain() const {
  return !is_in_user_namespace(setup_.files) && !setup_.files.exists("/sys/fs/selinux/enforce");
}

StorageTrees BuildahEngine::trees() const {
  return {setup_.files, setup_.store, setup_.runner.find_program("buildah").value_or("")};
}

bool BuildahEngine::has_image(const std::string& image) {
  return attempt({"inspect", "--type", "image", "--format", "{{.FromImageID}}", image}).ok();
}

void BuildahEngine::import(const StepRecord& step, const std::string& image) {
  FileLock lock = FileLock::acquire(EngineSession::import_lock(setup_.store));
  if (has_image(image)) return;  // another process was faster
  const CommandResult copy = ImportLayout(step, setup_)
                                 .copy_to(fmt::format("containers-storage:[overlay@{}+{}]{}", root().string(),
                                                      (setup_.store / "run").string(), image));
  if (copy.end != CommandEnd::exited) session_->distrust_store();
  ImportLayout::check(copy, image, "buildah");
}

}  // namespace kiln
