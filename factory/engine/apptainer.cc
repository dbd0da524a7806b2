#include <fmt/format.h>

#include <array>

#include "factory/base/quote.h"
#include "factory/engine/container_files.h"
#include "factory/engine/container_script.h"
#include "factory/engine/mounting_engine.h"

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

std::string ApptainerEngine::program() const {
  const bool is_older = !setup_.runner.find_program("apptainer") && setup_.runner.find_program("singularity");
  return is_older ? "singularity" : "apptainer";
}

std::string ApptainerEngine::version() { return version_of(program()); }

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

}  // namespace kiln
