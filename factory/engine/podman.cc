#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "factory/engine/container_script.h"
#include "factory/engine/engine_session.h"
#include "factory/engine/mounting_engine.h"

namespace kiln {
namespace {

// Podman asks for as many files and processes as the kernel knows, which who has not CAP_SYS_RESOURCE, as in
// many batch jobs, may not have. Ours, and no more processes than Podman allows itself: pid_max.
std::string own_limit(const char* name, __rlimit_resource what, std::uint64_t most) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0) return "";
  const std::uint64_t hard = std::min<std::uint64_t>(limit.rlim_max, most);
  return fmt::format("{}={}:{}", name, std::min<std::uint64_t>(limit.rlim_cur, hard), hard);
}

std::uint64_t most_processes(const FileSystem& files) {
  constexpr std::uint64_t kLeast = 32768;  // pid_max where nobody raised it
  const std::string text = files.read("/proc/sys/kernel/pid_max").value_or("");
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789\n") == std::string::npos;
  return is_number ? std::stoull(text) : kLeast;
}

// Podman makes /etc/mtab a link to /proc/mounts where there is none, before it starts a script: the image's
// file system is not to have it. A link that was there stays as it is, and so does any other file.
class MountTableLink {
 public:
  explicit MountTableLink(const fs::path& tree)
      : link_(tree / "etc" / "mtab"),
        had_folder_(fs::exists(fs::symlink_status(link_.parent_path()))),
        had_link_(fs::exists(fs::symlink_status(link_))) {}
  ~MountTableLink() {
    std::error_code ignored;
    if (had_link_ || fs::read_symlink(link_, ignored) != "/proc/mounts") return;
    fs::remove(link_, ignored);
    if (!had_folder_) fs::remove(link_.parent_path(), ignored);  // if nothing else is in it
  }
  MountTableLink(const MountTableLink&) = delete;
  MountTableLink& operator=(const MountTableLink&) = delete;

 private:
  fs::path link_;
  bool had_folder_, had_link_;
};

}  // namespace

// Locks in files: those in shared memory are one pool for all stores of a machine, from which a store that is
// deleted takes its own for ever.
void PodmanEngine::begin() {
  run_root_ = make_run_root(setup_.store, setup_.files, setup_.environment);
  const std::string wanted = fmt::format(
      "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nlock_type = \"file\"\n"
      "tmp_dir = \"{}\"\n{}",
      (run_root_ / "libpod").string(), wants_runc() ? "runtime = \"runc\"\n" : "");
  const fs::path file = setup_.store / "containers.conf";
  if (setup_.files.read(file) != wanted) setup_.files.write_output(file, wanted);
  setup_.environment["CONTAINERS_CONF"] = file.string();
}

// crun refuses a machine on which controllers of version 1 stand beside version 2 (systemd's hybrid mode).
bool PodmanEngine::wants_runc() const {
  return setup_.files.is_directory("/sys/fs/cgroup/unified") && setup_.runner.find_program("runc");
}

CommandResult PodmanEngine::run(const fs::path& tree, const ContainerRun& request) {
  const ContainerScript script(request, setup_);
  Words arguments = {"podman",
                     "--root",
                     (setup_.store / "root").string(),
                     "--runroot",
                     run_root_,
                     "--storage-driver",
                     "overlay",
                     "run",
                     "--rm",
                     "--rootfs",
                     "--network",
                     "host",
                     "--passwd=false",
                     "--log-driver=none",
                     "--security-opt=label=disable",
                     "--user",
                     "0:0",
                     "--workdir",
                     request.folder,
                     "--shm-size",
                     "1g"};
  for (const std::string& limit : {own_limit("nofile", RLIMIT_NOFILE, UINT64_MAX),
                                   own_limit("nproc", RLIMIT_NPROC, most_processes(setup_.files))})
    if (!limit.empty()) arguments.insert(arguments.end(), {"--ulimit", limit});
  arguments.emplace_back(wants_runc() ? "--cgroup-parent=" : "--cgroups=disabled");  // it is counted in ours
  if (request.interactive) arguments.emplace_back("--interactive");
  if (has_terminal(request)) arguments.emplace_back("--tty");
  for (const std::string& device : request.devices) arguments.insert(arguments.end(), {"--device", device});
  for (const Mount& mount : script.mounts()) arguments.insert(arguments.end(), {"--volume", mount.volume()});
  arguments.emplace_back(tree.string());
  const Words inside = script.argv();
  arguments.insert(arguments.end(), inside.begin(), inside.end());
  const MountTableLink no_new_link(tree);
  CommandResult result = setup_.runner.run(script.command(in_own_group(std::move(arguments))));
  script.check(result, name());
  return result;
}

// runc makes a group for each container. It has to be below the one that this command will be in, or what the
// container has in memory would not be counted as the step's.
PodmanEngine::Words PodmanEngine::in_own_group(Words argv) const {
  if (!wants_runc()) return argv;
  Words all = {"/bin/sh", "-c",
               "group=$(sed -n 's/^[0-9]*:\\(.*,\\)*memory\\(,.*\\)*://p' /proc/self/cgroup)\n"
               "for word do shift; [ \"$word\" = --cgroup-parent= ] && word=$word$group; set -- \"$@\" "
               "\"$word\"; done\n"
               "exec \"$@\"",
               "sh"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

}  // namespace kiln
