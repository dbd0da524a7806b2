#include "image/engine/buildah.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_mask.h"
#include "base/quote.h"
#include "base/reading.h"
#include "base/text.h"
#include "base/unique_name.h"
#include "image/engine/mount_table.h"
#include "image/engine/script_pipes.h"
#include "oci/layout.h"
#include "oci/pull.h"

namespace kiln {
namespace {

std::string image_name(const std::string& key) { return "localhost/kiln:" + key; }

// buildah copies its own program into memory before it starts a script, and forbids all to write to that
// copy, which the kernel refuses for as long as it still has a page of it in hand: now and then, on
// Linux 6.18. The script has not begun then.
bool did_not_begin(const CommandResult& result) {
  return result.end == CommandEnd::exited && result.status == 1 &&
         result.tail.starts_with("Close_Fd sealing memfd copy: ");
}

// The environment of a script as a file that only we can read. Command lines are open to every user of the
// machine, and proxies and package sources have passwords in them.
class EnvironmentFile {
 public:
  EnvironmentFile(const std::map<std::string, std::string>& environment, const fs::path& temporary,
                  FileSystem& files)
      : folder_(temporary / ("environment-" + unique_name())) {
    files.make_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    std::string text;
    for (const auto& [name, value] : environment)
      if (is_variable_name(name)) text += fmt::format("export {}={}\n", name, quote_shell_text(value));
    files.write_output(file(), text);
  }
  EnvironmentFile(const EnvironmentFile&) = delete;
  EnvironmentFile& operator=(const EnvironmentFile&) = delete;
  ~EnvironmentFile() {
    std::error_code ignored;  // tmp/ is swept
    fs::remove_all(folder_, ignored);
  }
  fs::path file() const { return folder_ / "environment"; }
  const fs::path& folder() const { return folder_; }  // ours alone

 private:
  fs::path folder_;
};

}  // namespace

class BuildahContainer final : public Container {
 public:
  BuildahContainer(BuildahEngine& engine, std::string name) : engine_(engine), name_(std::move(name)) {}
  BuildahContainer(const BuildahContainer&) = delete;
  BuildahContainer& operator=(const BuildahContainer&) = delete;

  ~BuildahContainer() override {
    if (is_kept_) return;
    try {
      if (!engine_.attempt({"rm", name_}, true).ok()) engine_.session().distrust_store();
    } catch (const Error&) {
      engine_.session().distrust_store();
    }
  }

  CommandResult run(const ContainerRun& request) override {
    unmount();
    EnvironmentFile environment(request.environment, engine_.setup_.environment.at("TMPDIR"),
                                engine_.setup_.files);
    std::vector<std::string> arguments = {"run",    "--isolation", "chroot",       "--network",   "host",
                                          "--user", "0:0",         "--workingdir", request.folder};
    if (request.interactive && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1)
      arguments.emplace_back("--terminal");
    auto add_mount = [&](const fs::path& source, const std::string& target) {
      arguments.insert(arguments.end(), {"--volume", source.string() + ":" + target + ":ro"});
    };
    add_mount(environment.file(), "/run/kiln/environment");
    for (const Mount& mount : request.mounts) add_mount(mount.source, mount.target);
    std::string start = ". /run/kiln/environment; exec \"$@\"";
    std::optional<ScriptPipes> pipes;
    if (!request.interactive) {
      pipes.emplace(environment.folder());
      add_mount(pipes->out(), "/run/kiln/stdout");
      add_mount(pipes->err(), "/run/kiln/stderr");
      start += " >/run/kiln/stdout 2>/run/kiln/stderr";
    }
    arguments.insert(arguments.end(), {name_, "--", "/bin/sh", "-c", start, "sh"});
    arguments.insert(arguments.end(), request.argv.begin(), request.argv.end());
    Command command;
    command.environment = engine_.setup_.environment;
    command.argv = engine_.words(arguments);
    if (!request.network) command.argv = without_network(command.argv);
    command.log = request.log;
    command.capture_stdout = request.capture_stdout;
    command.limits = request.limits;
    command.on_line = request.on_line;
    command.own_processes = true;
    command.file_mask = kImageMask;
    command.hidden = request.hidden;
    if (pipes) command.more_output = pipes->ends();
    command.interactive = request.interactive;
    command.unsynced = request.unsynced;
    CommandResult result = engine_.setup_.runner.run(command);
    for (int again = 0; again < 3 && did_not_begin(result); ++again)
      result = engine_.setup_.runner.run(command);
    return result;
  }

  void add_archive(const fs::path& tar) override {
    unmount();
    engine_.must({"add", "--quiet", name_, tar.string(), "/"});
  }

  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) override {
    fs::path from = dynamic_cast<BuildahContainer&>(other).mount();
    fs::path to = mount();
    for (const std::string& path : paths) copy_path(resolve_inside(from, path), to, path, log);
  }

  fs::path place_of(const std::string& path) override { return resolve_inside(mount(), path); }

  ChangedTree changes() override {
    StorageTrees trees = engine_.trees();
    std::optional<ChangedTree> tree = trees.of(name_);
    if (!tree) {
      tree = mounted_tree();
      trees.compare(name_, *tree);
    }
    unmount();  // files below an overlay must not change while it is mounted
    return *tree;
  }

  void keep(const std::string& key) override {
    unmount();
    std::vector<std::string> commit = {"commit", "--quiet", "--disable-compression", name_, image_name(key)};
    std::vector<std::string> and_remove = commit;
    and_remove.insert(and_remove.end() - 2, "--rm");
    is_kept_ = engine_.attempt(and_remove).ok();
    if (!is_kept_) engine_.must(commit);  // it may be the removal that failed
  }

  void set_empty() { is_empty_ = true; }

 private:
  fs::path mount() {
    if (mounted_.empty()) mounted_ = engine_.must({"mount", name_});
    return mounted_;
  }

  ChangedTree mounted_tree() {
    fs::path merged = mount();
    std::string mountinfo = engine_.setup_.files.read("/proc/self/mountinfo").value_or("");
    auto tree = overlay_at(mountinfo, merged, merged.parent_path().parent_path());
    if (!tree)
      throw Error(
          ExitCode::store, "buildah's container is not an overlay mount at " + merged.string(),
          "kiln needs overlay storage: run as root or inside `buildah unshare`, state on a local disk");
    if (is_empty_) tree->below.clear();
    return *tree;
  }

  void unmount() {
    if (mounted_.empty()) return;
    engine_.must({"umount", name_});
    mounted_.clear();
  }

  std::vector<std::string> without_network(const std::vector<std::string>& argv) const {
    // The new namespace has only a loopback device, and that is down. MPI and process groups want it up.
    if (!engine_.setup_.runner.find_program("ip"))
      throw Error(ExitCode::tool_missing, "the program 'ip' is not installed or not in PATH",
                  "it brings up the loopback device for tests; Debian's package is iproute2");
    std::vector<std::string> words = {
        "unshare", "--net", "--", "/bin/sh", "-c", "ip link set lo up && exec \"$@\"", "sh"};
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  }

  // cp and not `buildah copy`, which forgets owners and the mode of the topmost folder.
  void copy_path(const fs::path& source, const fs::path& root, const std::string& path, const fs::path& log) {
    if (!fs::exists(fs::symlink_status(source)))
      throw Error(ExitCode::images_failed, fmt::format("the build stage left nothing at {}", path));
    fs::path target = resolve_inside(root, path);
    {
      const FileMask of_images(kImageMask);
      fs::create_directories(target.parent_path());
    }
    Command command;
    // --remove-destination: never write through a link that happens to lie at the target.
    command.argv = {"cp", "--archive",     "--reflink=auto", "--remove-destination", "--no-target-directory",
                    "--", source.string(), target.string()};
    command.environment = engine_.setup_.environment;
    command.file_mask = kImageMask;
    command.log = log;
    CommandResult result = engine_.setup_.runner.run(command);
    if (result.ok()) return;
    if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    throw Error(ExitCode::store, fmt::format("cannot copy {}: {}", path, last_lines(result.tail, 1)));
  }

  BuildahEngine& engine_;
  std::string name_;
  fs::path mounted_;       // empty while it is not
  bool is_empty_ = false;  // made from nothing
  bool is_kept_ = false;   // as an image, and gone
};

std::vector<std::string> BuildahEngine::words(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {"buildah",           "--root",           root().string(), "--runroot",
                                   run_root().string(), "--storage-driver", "overlay"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

CommandResult BuildahEngine::attempt(const std::vector<std::string>& arguments, bool despite_interrupt) {
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

std::string BuildahEngine::must(const std::vector<std::string>& arguments) {
  CommandResult result = attempt(arguments);
  if (!result.ok())
    throw Error(ExitCode::store,
                fmt::format("buildah {} failed: {}", arguments.front(), last_lines(result.tail, 1)));
  std::string output = std::move(result.output);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

std::string BuildahEngine::version() {
  // "buildah version 1.28.2 (image-spec 1.1.0-rc2, runtime-spec 1.0.2-dev)"
  std::string text = must({"--version"});
  std::size_t start = text.find("version ");
  if (start == std::string::npos) return text;
  start += std::string_view("version ").size();
  return text.substr(start, text.find(' ', start) - start);
}

EngineSession& BuildahEngine::session() {
  if (!session_) need_mounted_root(setup_.files);
  if (!session_) session_.emplace(setup_.runner, setup_.files, setup_.store, setup_.environment);
  return *session_;
}

// Not buildah itself: it would unpack what only has to be copied.
void BuildahEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  pull_base(reference, layout, log,
            {setup_.runner, setup_.clock, setup_.environment, setup_.pull_limits, setup_.tell_pull});
}

std::unique_ptr<Container> BuildahEngine::start(const StepRecord* parent) {
  session();
  std::string name = "kiln-" + unique_name();
  std::string image = parent != nullptr ? image_name(parent->key) : "scratch";
  const std::vector<std::string> from = {"from", "--quiet", "--pull-never", "--name", name, image};
  if (parent == nullptr || !attempt(from).ok()) {  // which it mostly is: asking first is a start of its own
    if (parent != nullptr && !has_image(image)) import(*parent, image);
    must(from);
  }
  auto container = std::make_unique<BuildahContainer>(*this, name);
  if (parent == nullptr) container->set_empty();
  return container;
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
  LayoutImage layout;
  layout.config = step.chain.base.value_or(ImageConfig{});
  layout.config.history.clear();  // the base's does not speak of our layers; buildah wants one entry a layer
  layout.config.diff_ids.clear();
  for (const BuiltLayer& layer : step.chain.layers) {
    layout.layers.push_back(layer.blob);
    layout.config.diff_ids.push_back(layer.diff_id);
    layout.config.history.push_back({"", layer.created_by, false});
  }
  layout.tag = step.key;
  fs::path folder = setup_.store / ("import-" + unique_name());
  try {
    write_layout(folder, layout, BlobStore(setup_.blob_store), setup_.files);
    // skopeo, as `buildah pull` makes an image name of the folder's and refuses capital letters in it.
    Command command;
    command.argv = {
        "skopeo", "copy", "--quiet", fmt::format("oci:{}:{}", folder.string(), step.key),
        fmt::format("containers-storage:[overlay@{}+{}]{}", root().string(), run_root().string(), image)};
    command.environment = setup_.environment;
    command.file_mask = kImageMask;
    command.unsynced = true;
    CommandResult result = setup_.runner.run(command);
    if (result.end != CommandEnd::exited) session().distrust_store();
    if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    if (!result.ok())
      throw Error(ExitCode::store,
                  fmt::format("cannot give {} to buildah: {}", image, last_lines(result.tail, 1)));
  } catch (...) {
    setup_.files.remove_all(folder);
    throw;
  }
  setup_.files.remove_all(folder);
}

}  // namespace kiln
