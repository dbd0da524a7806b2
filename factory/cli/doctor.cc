// kiln doctor: what this machine has of what kiln needs.
#include "factory/app/doctor.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cluster/compute_node.h"
#include "factory/os/file_lock.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

std::string free_space(const fs::path& folder) {
  fs::path existing = folder;
  while (!fs::exists(existing) && existing.has_parent_path()) existing = existing.parent_path();
  struct statvfs space {};
  if (::statvfs(existing.c_str(), &space) != 0) return "?";
  return fmt::format("{} GB", space.f_bavail * space.f_frsize / 1'000'000'000);
}

void run_doctor(const std::string& held, Invocation& invocation) {
  const Site site = invocation.site();
  const DoctorReport report =
      examine({site, invocation.files, invocation.runner, invocation.cpus(), KILN_ARCHSPEC_VERSION,
               invocation.environment, invocation.child_environment(), ::geteuid()},
              held);
  Table table({"WHAT", "FOUND", "NEEDED", "", "FOR"});
  for (const DoctorRow& row : report.rows)
    table.add({row.what, row.found, row.needed, row.rating, row.purpose});
  const std::string state = invocation.state().root().string();
  table.add({"free space", free_space(state), "", "", state});
  print_text(table.text());
  if (report.missing)
    throw Error(ExitCode::tool_missing, "something that builds need is missing",
                "run ci/setup, or install it");
}

// Held here while a node is asked whether it sees that.
class LockForNodes {
 public:
  // Throws Error(store).
  explicit LockForNodes(const StatePaths& state) : file_(made_in(state)), lock_(file_) {}
  const std::string& file() const { return file_; }

 private:
  static std::string made_in(const StatePaths& state) {
    follow_permissions(state);
    return (state.root() / "doctor.lock").string();
  }
  std::string file_;
  PassingLock lock_;
};

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
