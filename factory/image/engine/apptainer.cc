#include "image/engine/apptainer.h"

#include <fmt/format.h>

#include <array>

#include "base/file_mask.h"
#include "base/quote.h"
#include "base/text.h"
#include "base/unique_name.h"
#include "image/engine/container_files.h"
#include "image/engine/container_script.h"
#include "image/engine/mount_points.h"
#include "image/engine/overlay_mount.h"
#include "image/engine/resolve_inside.h"
#include "oci/pull.h"

namespace kiln {
namespace {

// All of capabilities(7) but those that buildah and podman leave a script: CHOWN, DAC_OVERRIDE, FOWNER,
// FSETID, KILL, NET_BIND_SERVICE, SETFCAP, SETGID, SETPCAP, SETUID, SYS_CHROOT. Apptainer gives root all, and
// fails where it was not given all itself.
constexpr const char* kDropped =
    "CAP_DAC_READ_SEARCH,CAP_LINUX_IMMUTABLE,CAP_NET_BROADCAST,CAP_NET_ADMIN,CAP_NET_RAW,CAP_IPC_LOCK,"
    "CAP_IPC_OWNER,CAP_SYS_MODULE,CAP_SYS_RAWIO,CAP_SYS_PTRACE,CAP_SYS_PACCT,CAP_SYS_ADMIN,CAP_SYS_BOOT,"
    "CAP_SYS_NICE,CAP_SYS_RESOURCE,CAP_SYS_TIME,CAP_SYS_TTY_CONFIG,CAP_MKNOD,CAP_LEASE,CAP_AUDIT_WRITE,"
    "CAP_AUDIT_CONTROL,CAP_MAC_OVERRIDE,CAP_MAC_ADMIN,CAP_SYSLOG,CAP_WAKE_ALARM,CAP_BLOCK_SUSPEND,"
    "CAP_AUDIT_READ,CAP_PERFMON,CAP_BPF,CAP_CHECKPOINT_RESTORE";

// What Apptainer says of itself to a script; paths of the machine among it.
constexpr const char* kForget =
    "unset PS1 PROMPT_COMMAND LANG TERM LD_LIBRARY_PATH APPTAINER_APPNAME APPTAINER_BIND APPTAINER_COMMAND "
    "APPTAINER_CONTAINER APPTAINER_ENVIRONMENT APPTAINER_NAME SINGULARITY_APPNAME SINGULARITY_BIND "
    "SINGULARITY_COMMAND SINGULARITY_CONTAINER SINGULARITY_ENVIRONMENT SINGULARITY_NAME; ";

// The machine's files and folders that a container has, read-only where it is root's own.
constexpr std::array kOfMachine = {"/sys", "/proc/sys", "/etc/hosts"};
constexpr std::array kFoldersOfApptainer = {"/proc", "/sys", "/dev"};

// The value of --mount: fields of CSV (RFC 4180), so that a name may have a comma or a colon in it.
std::string read_only_mount(const std::string& source, const std::string& target) {
  auto field = [](const std::string& text) {
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
  };
  return fmt::format("type=bind,{},{},ro", field("source=" + source), field("destination=" + target));
}

}  // namespace

class ApptainerContainer final : public Container {
 public:
  ApptainerContainer(ApptainerEngine& engine, std::vector<std::string> layers)
      : engine_(engine),
        layers_(std::move(layers)),
        folder_(engine.setup_.store / "containers" / ("kiln-" + unique_name())),
        overlay_(engine.setup_.runner, engine.setup_.files, engine.setup_.environment) {
    engine_.setup_.files.make_directories(upper());
    fs::permissions(upper(), kRootMode);
    if (!layers_.empty()) copy_root_attributes(engine_.layers_.folder() / layers_.front(), upper());
  }
  ApptainerContainer(const ApptainerContainer&) = delete;
  ApptainerContainer& operator=(const ApptainerContainer&) = delete;

  ~ApptainerContainer() override {
    try {
      overlay_.unmount();
      engine_.setup_.files.remove_all(folder_);
    } catch (const Error&) {
      engine_.session_->distrust_store();
    }
  }

  CommandResult run(const ContainerRun& request) override {
    has_run_ = true;
    return engine_.run(mount(), request);
  }

  void add_archive(const fs::path& tar) override { unpack_archive(tar, mount(), engine_.setup_); }

  void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) override {
    const fs::path from = dynamic_cast<ApptainerContainer&>(other).mount();
    const fs::path to = mount();
    for (const std::string& path : paths) copy_between(from, to, path, log, engine_.setup_);
  }

  fs::path place_of(const std::string& path) override { return resolve_inside(mount(), path); }

  ChangedTree changes() override {
    overlay_.unmount();
    ChangedTree changed = tree();
    if (has_run_) settle_mount_points(changed);
    return changed;
  }

  void keep(const std::string& key, const std::function<void()>& read) override {
    overlay_.unmount();
    read();
    engine_.layers_.adopt(key, upper());
  }

 private:
  fs::path upper() const { return folder_ / "upper"; }

  ChangedTree tree() const {
    ChangedTree tree{upper(), {}};
    for (const std::string& layer : layers_) tree.below.push_back(engine_.layers_.folder() / layer);
    return tree;
  }

  fs::path mount() {
    if (overlay_.is_mounted()) return overlay_.at();
    ChangedTree tree = this->tree();
    if (tree.below.empty()) tree.below.push_back(folder_ / "nothing");
    for (const fs::path& below : tree.below) engine_.setup_.files.make_directories(below);
    overlay_.mount(tree, {folder_ / "tree", folder_ / "work", engine_.layers_.folder(), true});
    return overlay_.at();
  }

  ApptainerEngine& engine_;
  std::vector<std::string> layers_;  // the topmost first
  fs::path folder_;
  OverlayMount overlay_;
  bool has_run_ = false;  // a script
};

std::string ApptainerEngine::program() const {
  const bool is_older = !setup_.runner.find_program("apptainer") && setup_.runner.find_program("singularity");
  return is_older ? "singularity" : "apptainer";
}

std::string ApptainerEngine::version() {
  // "apptainer version 1.4.5-2", "singularity-ce version 4.1.1"
  Command command;
  command.argv = {program(), "--version"};
  command.environment = setup_.environment;
  command.capture_stdout = true;
  const CommandResult result = setup_.runner.run(command);
  const std::size_t start = result.output.find_first_of("0123456789");
  if (!result.ok() || start == std::string::npos)
    throw Error(ExitCode::store, fmt::format("{} does not say its version", program()));
  return result.output.substr(start, result.output.find_first_of("\n ", start) - start);
}

std::unique_ptr<Container> ApptainerEngine::start(const StepRecord* parent) {
  if (!session_) {
    need_mounted_root(setup_.files);
    session_.emplace(setup_.runner, setup_.files, setup_.store, setup_.environment);
  }
  Words layers;
  if (parent != nullptr) layers = layers_.of(parent->chain);
  return std::make_unique<ApptainerContainer>(*this, std::move(layers));
}

// The scripts' words about Apptainer's own options are in apptainer-exec(1). The tree's mount points have to
// be there: with --writable none are made.
ApptainerEngine::Words ApptainerEngine::words() const {
  return {program(),    "--silent",           "exec",        "--writable", "--contain",
          "--no-home",  "--cleanenv",         "--ipc",       "--uts",      "--allow-setuid",
          "--no-mount", "tmp,sys,bind-paths", "--drop-caps", kDropped};
}

CommandResult ApptainerEngine::run(const fs::path& tree, const ContainerRun& request) {
  const ContainerScript script(request, setup_);
  Words arguments = words();
  auto mount = [&](const std::string& source, const std::string& target) {
    if (!target.starts_with("/proc/")) make_mount_point(tree, target, fs::is_directory(source));
    arguments.insert(arguments.end(), {"--mount", read_only_mount(source, target)});
  };
  for (const char* folder : kFoldersOfApptainer) make_mount_point(tree, folder, true);
  make_mount_point(tree, "/etc/resolv.conf", false);
  for (const char* path : kOfMachine)
    if (fs::exists(path)) mount(path, path);
  for (const Mount& one : script.mounts()) mount(one.source.string(), one.target);
  for (const std::string& device : request.devices)  // its own /dev lies over the tree's; "ro" is of the name
    arguments.insert(arguments.end(), {"--mount", read_only_mount(device, device)});
  arguments.push_back(tree.string());
  const Words inside =
      script.argv(fmt::format("{}cd {} && unset OLDPWD; ", kForget, quote_shell_text(request.folder)));
  arguments.insert(arguments.end(), inside.begin(), inside.end());
  CommandResult result = setup_.runner.run(script.command(std::move(arguments)));
  script.check_begun(result, program());
  return result;
}

void ApptainerEngine::forget(const std::vector<std::string>&, const std::vector<std::string>&) {
  throw Error(ExitCode::store, "apptainer has no storage to take anything out of");
}

void ApptainerEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  pull_base(reference, layout, log,
            {setup_.runner, setup_.clock, setup_.environment, setup_.pull_limits, setup_.tell_pull});
}

}  // namespace kiln
