// kiln doctor: what this machine has of what kiln needs.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/cli/doctor_cluster.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cluster/compute_node.h"
#include "factory/distribution/http.h"
#include "factory/engine/architecture.h"
#include "factory/engine/engine.h"
#include "factory/engine/own_ids.h"
#include "factory/os/cgroup.h"
#include "factory/os/processors.h"
#include "factory/run/gpu_access.h"

namespace kiln {
namespace {

struct Tool {
  const char* name;
  std::vector<std::string> version_arguments;
  const char* least;
  bool required;
  const char* purpose;
};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"ninja", {"--version"}, "1.10", true, "schedules the steps"},
      {"ip", {"-V"}, "5.0", true, "brings up the loopback device for tests"},
      {"skopeo", {"--version"}, "1.2", false, "pulls base images from registries"},
      {"mmdebstrap", {"--version"}, "1.0", false, "makes Debian bases"},
      {"git", {"--version"}, "2.20", false, "asks where a pinned commit comes from"},
      {"shellcheck", {"--version"}, "0.8", false, "checks recipe scripts"},
  };
  return kTools;
}

// The first number of the output that has a point ("ip utility, iproute2-6.1.0"), else the first at all.
std::string version_in(const std::string& output) {
  std::string first = "?";
  std::size_t start = 0;
  while ((start = output.find_first_of("0123456789", start)) != std::string::npos) {
    std::size_t end = std::min(output.find_first_not_of("0123456789.", start), output.size());
    std::string number = output.substr(start, end - start);
    if (number.find('.') != std::string::npos) return number;
    if (first == "?") first = number;
    start = end;
  }
  return first;
}

std::string found_version(const Tool& tool, Invocation& invocation) {
  if (!invocation.runner.find_program(tool.name)) return "";
  Command command;
  command.argv = {tool.name};
  command.argv.insert(command.argv.end(), tool.version_arguments.begin(), tool.version_arguments.end());
  command.environment = invocation.child_environment();
  command.limits.wall = std::chrono::seconds(10);
  return version_in(invocation.runner.run(command).output);
}

bool enough(const std::string& found, const char* least) {
  return found != "?" && !found.empty() && Version(found) >= Version(least);
}

const char* rating(bool good, bool needed = true) {
  if (good) return "ok";
  return needed ? "MISSING" : "optional";
}

std::string free_space(const fs::path& folder) {
  fs::path existing = folder;
  while (!fs::exists(existing) && existing.has_parent_path()) existing = existing.parent_path();
  struct statvfs space {};
  if (::statvfs(existing.c_str(), &space) != 0) return "?";
  return fmt::format("{} GB", space.f_bavail * space.f_frsize / 1'000'000'000);
}

// As steps get them: without root inside a user namespace.
bool can_have_own_processes(Invocation& invocation) {
  Command command;
  const std::string engine = invocation.site().engine;
  if (::geteuid() != 0 && engine == "apptainer")
    command.argv = {"unshare", "--user", "--map-root-user", "--"};
  else if (::geteuid() != 0)
    command.argv = {engine, "unshare", "--"};
  command.argv.insert(command.argv.end(), {"unshare", "--pid", "--fork", "--mount-proc", "true"});
  command.environment = invocation.child_environment();
  command.limits.wall = std::chrono::seconds(10);
  return invocation.runner.find_program(command.argv.front()) && invocation.runner.run(command).ok();
}

// False where a user cannot go without: buildah and podman know more ways.
bool add_namespaces(const Site& site, Invocation& invocation, Table& table) {
  const bool alone = can_have_own_processes(invocation);
  const bool needed = ::geteuid() != 0 && site.engine == "apptainer";
  table.add({"PID namespace", alone ? "yes" : "-", needed ? "user namespaces" : "", rating(alone, needed),
             "nothing that a step starts outlives it (docs/isolation.md)"});
  return alone || !needed;
}

// How limits.memory of the site file is held here, and the peak of each step measured.
void add_memory(const Site& site, Table& table) {
  const auto place = find_cgroup_path();
  const std::uint64_t limit = site.step_limits.memory;
  table.add({"memory of steps", place ? fmt::format("cgroup v{}", place->version) : "by watching", "",
             rating(place.has_value(), false),
             fmt::format("{}; this machine has {}",
                         limit > 0 ? "at most " + memory_text(limit) + " each" : "no limit of the site",
                         memory_text(usable_memory()))});
}

// Root, or a user with ids of its own for the files of images; without them only what is all root's is built.
bool add_user(const Invocation& invocation, Table& table) {
  const std::string user = own_user(invocation.environment);
  const std::string subuid = invocation.files.read("/etc/subuid").value_or("");
  const std::string subgid = invocation.files.read("/etc/subgid").value_or("");
  const bool good =
      ::geteuid() == 0 || (has_range(subuid, user, ::geteuid()) && has_range(subgid, user, ::geteuid()));
  table.add({"user", ::geteuid() == 0 ? "root" : user, "root, or subordinate ids", rating(good),
             good ? "files of images belong to many users"
                  : "files of images belong to many users; an administrator adds " +
                        missing_ranges(subuid, subgid, user)});
  return good;
}

// Each engine with what it isolates; false when the site's is missing or too old.
bool add_engines(const Site& site, Invocation& invocation, Table& table) {
  bool good = true;
  for (const EngineFacts& engine : engine_facts()) {
    const std::string name(engine.name);
    const std::string least(engine.least);
    const std::string program = program_of(engine, invocation.runner).value_or(name);
    const std::string found =
        found_version({program.c_str(), {"--version"}, least.c_str(), false, ""}, invocation);
    const bool is_chosen = name == site.engine;
    const bool is_enough = enough(found, least.c_str());
    good = good && (!is_chosen || is_enough);
    std::string purpose = fmt::format("{}: {}", is_chosen ? "runs the steps" : "an engine", engine.isolation);
    if (found.empty()) purpose += fmt::format(" (Debian's package {})", engine.package);
    if (!found.empty() && !engine.fault.empty()) purpose += fmt::format("; {}", engine.fault);
    table.add({name, found.empty() ? "-" : found, ">=" + least, rating(is_enough, is_chosen), purpose});
  }
  return good;
}

// Docker's program alone runs nothing. False when no daemon answers, or kiln cannot read what it keeps.
bool add_docker_daemon(Invocation& invocation, Table& table) {
  // Debian's 20.10.24 fails without a daemon, in words about its template.
  const auto output = invocation.output_of({"docker", "info", "--format", "{{.ServerVersion}} {{.Driver}}"});
  const bool is_there = output.has_value();
  const std::string answer(is_there ? trimmed(*output) : "-");
  const bool good = is_there && answer.ends_with(" overlay2");
  table.add({"docker's daemon", answer, "overlay2", rating(good),
             good       ? "answers"
             : is_there ? "kiln reads what changed from its overlays: set storage-driver in daemon.json"
                        : "does not answer: start dockerd, or name its socket in $DOCKER_HOST"});
  return good;
}

// Processors of other machines for which images can be built and tested here.
void add_emulators(Invocation& invocation, Table& table) {
  std::string found;
  for (const char* architecture : {"amd64", "arm64", "ppc64le", "riscv64", "s390x"}) {
    const std::string emulator =
        emulator_of(architecture, invocation.files, invocation.runner, invocation.child_environment());
    if (!emulator.empty()) found += (found.empty() ? "" : ", ") + emulator;
  }
  table.add(
      {"other processors", found.empty() ? "-" : found, "", rating(!found.empty(), false),
       found.empty() ? "emulates them (Debian's packages qemu-user-static and arch-test)" : "emulates them"});
}

// What tests of images for GPUs are given (run/gpu_access.h).
void add_gpus(Invocation& invocation, Table& table) {
  const GpuAccess gpus = gpu_access(invocation.files, invocation.runner, invocation.environment);
  const bool wants_driver = invocation.files.exists("/proc/driver/nvidia/version");
  const bool lacks_driver = wants_driver && gpus.mounts.empty();
  std::string found = gpus.devices.empty() ? "-" : counted(gpus.devices.size(), "node");
  if (!gpus.mounts.empty()) found += ", " + counted(gpus.mounts.size(), "library", "libraries");
  table.add({"GPUs", found, wants_driver ? "the driver's libraries" : "",
             gpus.devices.empty() ? "optional"
             : lacks_driver       ? "MISSING"
                                  : "ok",
             lacks_driver ? "ldconfig -p knows no libcuda.so.1: images for GPUs are not tested"
                          : "for tests and workloads of images for GPUs"});
}

// What the site file says, and the programs that it names. False when one of those is missing.
bool add_site(const Site& site, Invocation& invocation, Table& table) {
  table.add({"site file", site.file.empty() ? "-" : site.file, "", site.file.empty() ? "defaults" : "ok",
             "what is true of this machine or centre"});
  if (site.launcher.slurm) return add_slurm(site, invocation, table);
  if (site.launcher.words.empty()) return true;
  const std::optional<fs::path> launcher = invocation.runner.find_program(site.launcher.words.front());
  table.add({"launcher", launcher ? launcher->string() : "-", site.launcher.words.front(),
             rating(launcher.has_value()), "starts each step"});
  return launcher.has_value();
}

// Empty, or what to do where no container can be made.
std::string bare_chroot(const FileSystem& files) {
  try {
    need_mounted_root(files);
    return "";
  } catch (const Error& error) {
    return error.hint();
  }
}

// `held`: the lock that another machine holds while it asks us; "": nobody does.
void run_doctor(const std::string& held, Invocation& invocation) {
  const Site site = invocation.site();
  Table table({"WHAT", "FOUND", "NEEDED", "", "FOR"});
  bool missing = false;
  for (const Tool& tool : tools()) {
    std::string found = found_version(tool, invocation);
    bool good = enough(found, tool.least);
    missing |= tool.required && !good;
    table.add({tool.name, found.empty() ? "-" : found, std::string(">=") + tool.least,
               rating(good, tool.required), tool.purpose});
  }
  missing |= !add_engines(site, invocation, table);
  if (site.engine == "docker" && invocation.runner.find_program("docker"))
    missing |= !add_docker_daemon(invocation, table);
  const std::string curl = http_version();
  table.add(
      {"libcurl", curl.empty() ? "-" : curl, "", rating(!curl.empty(), false), "publishes to registries"});
  table.add({"archspec tables", KILN_ARCHSPEC_VERSION, "", "ok",
             fmt::format("{} microarchitectures", invocation.cpus().names().size())});
  missing |= !add_user(invocation, table);
  missing |= !add_namespaces(site, invocation, table);
  add_memory(site, table);
  add_emulators(invocation, table);
  add_gpus(invocation, table);
  missing |= !add_site(site, invocation, table);
  if (!held.empty()) missing |= !add_locks(held, table);
  std::string remedy = bare_chroot(invocation.files);
  missing |= !remedy.empty();
  table.add({"root folder", remedy.empty() ? "mounted" : "bare chroot", "a mount point",
             rating(remedy.empty()), remedy.empty() ? "containers are made below it" : remedy});
  table.add(
      {"free space", free_space(invocation.state().root()), "", "", invocation.state().root().string()});
  print_text(table.text());
  if (missing)
    throw Error(ExitCode::tool_missing, "something that builds need is missing",
                "run ci/setup, or install it");
}

// With our folders and site file.
std::vector<std::string> doctor_elsewhere(const Site& site, const LockForNodes& lock,
                                          const Invocation& invocation) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(),
                                    "doctor",
                                    "--state",
                                    invocation.state().root().string(),
                                    "--engine",
                                    site.engine,
                                    "--held",
                                    lock.file()};
  if (!site.file.empty()) words.insert(words.end(), {"--site", fs::absolute(site.file).string()});
  return words;
}

// A job for this question alone.
void run_in_job(const Site& site, Invocation& invocation) {
  const SlurmSite& slurm = *site.launcher.slurm;
  const std::string& asked = site.launcher.asked;
  const SlurmPrograms programs{invocation.runner, invocation.clock,
                               slurm_environment(invocation.child_environment())};
  const LockForNodes lock(invocation.state());
  const NodeAnswer answer = answer_of_node(doctor_elsewhere(site, lock, invocation), slurm,
                                           asked.empty() ? slurm.standard : partition_named(slurm, asked),
                                           invocation.state().jobs(), invocation.files, programs);
  print_text(answer.output);
  invocation.exit_code = static_cast<ExitCode>(answer.status);
}

// The same on a machine of the launcher's. What it says goes through.
void run_on_node(Invocation& invocation) {
  const Site site = invocation.site();
  if (site.launcher.slurm) return run_in_job(site, invocation);
  if (site.launcher.words.empty())
    throw Error(ExitCode::usage, "the site file has no launcher, so there is no node to ask",
                "\"launcher\": [\"srun\", \"-n1\"] in the site file");
  const LockForNodes lock(invocation.state());
  Command command;
  command.argv = site.launcher.prefix();
  for (std::string& word : doctor_elsewhere(site, lock, invocation)) command.argv.push_back(std::move(word));
  command.environment = invocation.child_environment();
  command.interactive = true;
  const CommandResult result = invocation.runner.run(command);
  if (result.end != CommandEnd::exited)
    throw Error(ExitCode::images_failed, "the launcher was ended before it answered");
  invocation.exit_code = static_cast<ExitCode>(result.status);
}

}  // namespace

CLI::App* add_doctor(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_below(
      app, "doctor", "Check the site file, and the tools and features of this machine",
      "kiln doctor\nkiln doctor --node                  # checks the machine on which the launcher starts a "
      "step\nkiln doctor --node --partition zen4");
  auto on_node = std::make_shared<bool>(false);
  command->add_flag("--node", *on_node, "check a machine of the site's launcher instead of this one");
  auto held = std::make_shared<std::string>();
  command->add_option("--held", *held, "a lock that the asking machine holds")->group("");  // by --node alone
  add_value(*command, "--partition", invocation.options.partition, "NAME",
            "check a machine of this partition of the launcher (default: the site file's)");
  command->callback([on_node, held, &invocation] {
    if (*on_node)
      run_on_node(invocation);
    else
      run_doctor(*held, invocation);
  });
  return command;
}

}  // namespace kiln
