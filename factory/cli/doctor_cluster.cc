#include "factory/cli/doctor_cluster.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cluster/job_request.h"
#include "factory/engine/own_ids.h"
#include "factory/state/access.h"

namespace kiln {

namespace {

// `known`: those that Slurm has; empty = it does not say.
bool add_names(const std::string& what, const std::set<std::string>& asked,
               const std::set<std::string>& known, Table& table) {
  bool all = true;
  for (const std::string& name : asked) {
    const bool is_known = known.contains(name);
    const bool is_missing = !known.empty() && !is_known;
    table.add({"slurm " + what, is_known ? name : "-", name,
               is_known     ? "ok"
               : is_missing ? "MISSING"
                            : "unknown",
               is_missing
                   ? fmt::format("Slurm has {}: mend \"slurm\" in the site file", fmt::join(known, ", "))
               : is_known ? "jobs ask for it"
                          : "Slurm does not say which there are"});
    all &= !is_missing;
  }
  return all;
}

}  // namespace

bool add_slurm(const Site& site, Invocation& invocation, Table& table) {
  bool all = true;
  for (const char* program : {"sbatch", "squeue", "scontrol", "scancel"}) {
    const std::optional<fs::path> found = invocation.runner.find_program(program);
    table.add(
        {"slurm", found ? found->string() : "-", program, found ? "ok" : "MISSING", "runs steps as jobs"});
    all &= found.has_value();
  }
  const SlurmNames asked = names_of(*site.launcher.slurm);
  if (!asked.partitions.empty())
    all &= add_names(
        "partition", asked.partitions,
        partitions_in(invocation.output_of({"scontrol", "--oneliner", "show", "partition"}).value_or("")),
        table);
  if (!asked.accounts.empty())
    all &=
        add_names("account", asked.accounts,
                  accounts_in(invocation
                                  .output_of({"sacctmgr", "--noheader", "--parsable2", "show", "associations",
                                              "user=" + own_user(invocation.environment), "format=account"})
                                  .value_or("")),
                  table);
  return all;
}

namespace {

std::string made_in(const StatePaths& state) {
  follow_permissions(state);
  return (state.root() / "doctor.lock").string();
}

}  // namespace

LockForNodes::LockForNodes(const StatePaths& state) : file_(made_in(state)), lock_(file_) {}

bool add_locks(const std::string& file, Table& table) {
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
  table.add({"locks", found, "of all machines", good ? "ok" : "MISSING", purpose});
  return good;
}

}  // namespace kiln
