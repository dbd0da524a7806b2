#include "factory/cli/doctor_locks.h"

#include "factory/state/access.h"

namespace kiln {
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
