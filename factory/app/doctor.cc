#include "factory/app/doctor.h"

#include <fmt/format.h>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/cluster/job_request.h"
#include "factory/distribution/http.h"
#include "factory/engine/architecture.h"
#include "factory/engine/engine.h"
#include "factory/engine/user_namespace.h"
#include "factory/os/cgroup.h"
#include "factory/os/file_lock.h"
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

std::string found_version(const Tool& tool, const DoctorSubject& subject) {
  if (!subject.runner.find_program(tool.name)) return "";
  Command command;
  command.argv = {tool.name};
  command.argv.insert(command.argv.end(), tool.version_arguments.begin(), tool.version_arguments.end());
  command.environment = subject.child_environment;
  command.limits.wall = std::chrono::seconds(10);
  return version_in(subject.runner.run(command).output);
}

bool enough(const std::string& found, const char* least) {
  return found != "?" && !found.empty() && Version(found) >= Version(least);
}

const char* rating(bool good, bool needed = true) {
  if (good) return "ok";
  return needed ? "MISSING" : "optional";
}

void add(DoctorReport part, DoctorReport& report) {
  for (DoctorRow& row : part.rows) report.rows.push_back(std::move(row));
  report.missing |= part.missing;
}

// As steps get them: without root inside a user namespace.
bool can_have_own_processes(const DoctorSubject& subject) {
  Command command;
  const std::string engine = subject.site.engine;
  if (subject.user != 0 && engine == "apptainer")
    command.argv = {"unshare", "--user", "--map-root-user", "--"};
  else if (subject.user != 0)
    command.argv = {engine, "unshare", "--"};
  command.argv.insert(command.argv.end(), {"unshare", "--pid", "--fork", "--mount-proc", "true"});
  command.environment = subject.child_environment;
  command.limits.wall = std::chrono::seconds(10);
  return subject.runner.find_program(command.argv.front()) && subject.runner.run(command).ok();
}

// Only Apptainer needs this from a user without root: buildah and podman have other ways.
void add_namespaces(const DoctorSubject& subject, DoctorReport& report) {
  const bool alone = can_have_own_processes(subject);
  const bool needed = subject.user != 0 && subject.site.engine == "apptainer";
  report.rows.push_back({"PID namespace", alone ? "yes" : "-", needed ? "user namespaces" : "",
                         rating(alone, needed), "nothing that a step starts outlives it (docs/site.md)"});
  report.missing |= needed && !alone;
}

// How this machine enforces limits.memory of the site file and measures the peak of each step.
void add_memory(const Site& site, DoctorReport& report) {
  const auto place = find_cgroup_path();
  const std::uint64_t limit = site.step_limits.memory;
  report.rows.push_back(
      {"memory of steps", place ? fmt::format("cgroup v{}", place->version) : "by watching", "",
       rating(place.has_value(), false),
       fmt::format("{}; this machine has {}",
                   limit > 0 ? "at most " + memory_text(limit) + " each" : "no limit of the site",
                   memory_text(usable_memory()))});
}

// Files of images belong to many users. A user without root needs subordinate ids for them.
void add_user(const DoctorSubject& subject, DoctorReport& report) {
  const std::string user = own_user(subject.environment);
  const std::string subuid = subject.files.read("/etc/subuid").value_or("");
  const std::string subgid = subject.files.read("/etc/subgid").value_or("");
  const bool good =
      subject.user == 0 || (has_range(subuid, user, subject.user) && has_range(subgid, user, subject.user));
  report.rows.push_back({"user", subject.user == 0 ? "root" : user, "root, or subordinate ids", rating(good),
                         good ? "files of images belong to many users"
                              : "files of images belong to many users; an administrator adds " +
                                    missing_ranges(subuid, subgid, user)});
  report.missing |= !good;
}

// Each engine with what it isolates. The site's is needed.
void add_engines(const DoctorSubject& subject, DoctorReport& report) {
  for (const EngineFacts& engine : engine_facts()) {
    const std::string name(engine.name);
    const std::string least(engine.least);
    const std::string program = program_of(engine, subject.runner).value_or(name);
    const std::string found =
        found_version({program.c_str(), {"--version"}, least.c_str(), false, ""}, subject);
    const bool is_chosen = name == subject.site.engine;
    const bool is_enough = enough(found, least.c_str());
    report.missing |= is_chosen && !is_enough;
    std::string purpose = fmt::format("{}: {}", is_chosen ? "runs the steps" : "an engine", engine.isolation);
    if (found.empty()) purpose += fmt::format(" (Debian's package {})", engine.package);
    if (!found.empty() && !engine.fault.empty()) purpose += fmt::format("; {}", engine.fault);
    report.rows.push_back(
        {name, found.empty() ? "-" : found, ">=" + least, rating(is_enough, is_chosen), purpose});
  }
}

// Docker's program needs a daemon, and kiln must be able to read the daemon's storage.
void add_docker_daemon(const DoctorSubject& subject, DoctorReport& report) {
  // Debian's 20.10.24 fails without a daemon, in words about its template.
  const auto output = subject.output_of({"docker", "info", "--format", "{{.ServerVersion}} {{.Driver}}"});
  const bool is_there = output.has_value();
  const std::string answer(is_there ? trimmed(*output) : "-");
  const bool good = is_there && answer.ends_with(" overlay2");
  report.rows.push_back({"docker's daemon", answer, "overlay2", rating(good),
                         good ? "answers"
                         : is_there
                             ? "kiln reads what changed from its overlays: set storage-driver in daemon.json"
                             : "does not answer: start dockerd, or name its socket in $DOCKER_HOST"});
  report.missing |= !good;
}

// Emulators, with which images for other processors are built and tested here.
void add_emulators(const DoctorSubject& subject, DoctorReport& report) {
  std::string found;
  for (const char* architecture : {"amd64", "arm64", "ppc64le", "riscv64", "s390x"}) {
    const std::string emulator =
        emulator_of(architecture, subject.files, subject.runner, subject.child_environment);
    if (!emulator.empty()) found += (found.empty() ? "" : ", ") + emulator;
  }
  report.rows.push_back(
      {"other processors", found.empty() ? "-" : found, "", rating(!found.empty(), false),
       found.empty() ? "emulates them (Debian's packages qemu-user-static and arch-test)" : "emulates them"});
}

// What tests of images for GPUs are given (run/gpu_access.h).
void add_gpus(const DoctorSubject& subject, DoctorReport& report) {
  const GpuAccess gpus = gpu_access(subject.files, subject.runner, subject.environment);
  const bool wants_driver = subject.files.exists("/proc/driver/nvidia/version");
  const bool lacks_driver = wants_driver && gpus.mounts.empty();
  std::string found = gpus.devices.empty() ? "-" : counted(gpus.devices.size(), "node");
  if (!gpus.mounts.empty()) found += ", " + counted(gpus.mounts.size(), "library", "libraries");
  report.rows.push_back({"GPUs", found, wants_driver ? "the driver's libraries" : "",
                         gpus.devices.empty() ? "optional"
                         : lacks_driver       ? "MISSING"
                                              : "ok",
                         lacks_driver ? "ldconfig -p knows no libcuda.so.1: images for GPUs are not tested"
                                      : "for tests and workloads of images for GPUs"});
}

// What the site file says, and the programs that it names.
void add_site(const DoctorSubject& subject, DoctorReport& report) {
  const Site& site = subject.site;
  const bool is_given = !site.file.empty();
  report.rows.push_back({"site file", is_given ? site.file : "-", "", is_given ? "ok" : "defaults",
                         "what is true of this machine or centre"});
  if (site.launcher.slurm) return add(examine_slurm(subject), report);
  if (site.launcher.words.empty()) return;
  const std::string& name = site.launcher.words.front();
  const std::optional<fs::path> launcher = subject.runner.find_program(name);
  report.rows.push_back({"launcher", launcher ? launcher->string() : "-", name, rating(launcher.has_value()),
                         "starts each step"});
  report.missing |= !launcher;
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

void add_root(const FileSystem& files, DoctorReport& report) {
  const std::string remedy = bare_chroot(files);
  const bool good = remedy.empty();
  report.rows.push_back({"root folder", good ? "mounted" : "bare chroot", "a mount point", rating(good),
                         good ? "containers are made below it" : remedy});
  report.missing |= !good;
}

void add_tools(const DoctorSubject& subject, DoctorReport& report) {
  for (const Tool& tool : tools()) {
    const std::string found = found_version(tool, subject);
    const bool good = enough(found, tool.least);
    report.missing |= tool.required && !good;
    report.rows.push_back({tool.name, found.empty() ? "-" : found, std::string(">=") + tool.least,
                           rating(good, tool.required), tool.purpose});
  }
}

// `known`: those that Slurm has; empty = it does not say.
void add_names(const std::string& what, const std::set<std::string>& asked,
               const std::set<std::string>& known, DoctorReport& report) {
  for (const std::string& name : asked) {
    const bool is_known = known.contains(name);
    const bool is_missing = !known.empty() && !is_known;
    std::string purpose = is_known ? "jobs ask for it" : "Slurm does not say which there are";
    if (is_missing)
      purpose = fmt::format("Slurm has {}: mend \"slurm\" in the site file", fmt::join(known, ", "));
    report.rows.push_back({"slurm " + what, is_known ? name : "-", name,
                           is_known     ? "ok"
                           : is_missing ? "MISSING"
                                        : "unknown",
                           purpose});
    report.missing |= is_missing;
  }
}

}  // namespace

std::optional<std::string> DoctorSubject::output_of(std::vector<std::string> argv) const {
  return runner.answer(std::move(argv), child_environment, std::chrono::seconds(10));
}

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

DoctorReport examine_slurm(const DoctorSubject& subject) {
  DoctorReport report;
  for (const char* program : {"sbatch", "squeue", "scontrol", "scancel"}) {
    const std::optional<fs::path> found = subject.runner.find_program(program);
    report.rows.push_back(
        {"slurm", found ? found->string() : "-", program, rating(found.has_value()), "runs steps as jobs"});
    report.missing |= !found;
  }
  const SlurmNames asked = names_of(*subject.site.launcher.slurm);
  auto known = [&](std::vector<std::string> argv) { return subject.output_of(std::move(argv)).value_or(""); };
  if (!asked.partitions.empty())
    add_names("partition", asked.partitions,
              partitions_in(known({"scontrol", "--oneliner", "show", "partition"})), report);
  if (!asked.accounts.empty())
    add_names("account", asked.accounts,
              accounts_in(known({"sacctmgr", "--noheader", "--parsable2", "show", "associations",
                                 "user=" + own_user(subject.environment), "format=account"})),
              report);
  return report;
}

DoctorReport examine_lock(const std::string& file) {
  std::string found = "of all machines";
  std::string purpose = "one writer a state folder, and no step twice";
  if (!RealFileSystem().exists(file)) {
    found = "-";
    purpose = "the state folder is another one here: it must be shared (docs/cluster.md)";
  } else if (FileLock::of_the_dead(file)) {
    found = "of each machine";
    purpose = "this machine does not see what another has locked (docs/cluster.md)";
  }
  const bool good = found == "of all machines";
  return {{{"locks", found, "of all machines", rating(good), purpose}}, !good};
}

DoctorReport examine(const DoctorSubject& subject, const std::string& held) {
  DoctorReport report;
  add_tools(subject, report);
  add_engines(subject, report);
  if (subject.site.engine == "docker" && subject.runner.find_program("docker"))
    add_docker_daemon(subject, report);
  const std::string curl = http_version();
  report.rows.push_back(
      {"libcurl", curl.empty() ? "-" : curl, "", rating(!curl.empty(), false), "publishes to registries"});
  report.rows.push_back({"archspec tables", subject.archspec_version, "", "ok",
                         fmt::format("{} microarchitectures", subject.cpus.names().size())});
  add_user(subject, report);
  add_namespaces(subject, report);
  add_memory(subject.site, report);
  add_emulators(subject, report);
  add_gpus(subject, report);
  add_site(subject, report);
  if (!held.empty()) add(examine_lock(held), report);
  add_root(subject.files, report);
  return report;
}

}  // namespace kiln
