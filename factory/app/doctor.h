// Examines what kiln needs and whether this machine has it, for `kiln doctor`: a row for each thing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/site/site.h"

namespace kiln {

// The machine and the user that are examined.
struct DoctorSubject {
  const Site& site;
  const FileSystem& files;
  CommandRunner& runner;
  const Microarchitectures& cpus;
  std::string archspec_version{};
  std::map<std::string, std::string> environment;        // kiln's own
  std::map<std::string, std::string> child_environment;  // of the programs that are asked
  unsigned user = 0;                                     // effective user id

  // What a program prints within ten seconds; nullopt: it is not here, or fails. Throws Error(interrupted).
  std::optional<std::string> output_of(std::vector<std::string> argv) const;
};

struct DoctorRow {
  std::string what, found, needed;
  std::string rating;  // "ok", "optional", "MISSING", "unknown"; "" for what is only told
  std::string purpose;
};

struct DoctorReport {
  std::vector<DoctorRow> rows{};
  bool missing = false;  // something that builds need
};

// `held`: the lock that another machine holds while it asks this one; "": none.
DoctorReport examine(const DoctorSubject& subject, const std::string& held);

// The programs that hand over jobs, and the partitions and accounts that the site file names. REQUIRES: the
// site's launcher is Slurm.
DoctorReport examine_slurm(const DoctorSubject& subject);

// The lock that another machine holds at `file`. It is rated MISSING if there is no such file, or if this
// machine sees no process that holds it.
DoctorReport examine_lock(const std::string& file);

// The first number with a point in the output of a program ("ip utility, iproute2-6.1.0"), else its first
// number; "?" if it has none.
std::string version_in(const std::string& output);

}  // namespace kiln
