#include "factory/cli/lock_use.h"

#include <fmt/format.h>

#include <cstdio>

#include "factory/base/reading.h"
#include "factory/cli/print.h"

namespace kiln {

Lockfile read_lockfile_at(const fs::path& file, const FileSystem& files) {
  return read_lockfile(read_document(files, file));
}

std::optional<Lockfile> find_lockfile(const fs::path& matrix, const Invocation& invocation) {
  const GlobalOptions& options = invocation.options;
  if (!options.lockfile.empty()) return read_lockfile_at(options.lockfile, invocation.files);
  fs::path beside = lockfile_beside(matrix);
  if (invocation.files.exists(beside)) return read_lockfile_at(beside, invocation.files);
  if (options.locked)
    throw Error(ExitCode::locked, fmt::format("--locked, and there is no lockfile {}", beside.string()),
                fmt::format("kiln lock -f {} makes it", matrix.string()));
  return std::nullopt;
}

void check_lock(const LockNeeds& needs, const Lockfile& lock, const std::string& matrix,
                Invocation& invocation) {
  RecipeDigest recipe;  // an edit is nothing to warn of: `kiln plan` says what it changes
  if (invocation.options.locked)
    recipe = [&](const Recipe& edited) { return recipe_digest(edited, invocation.files); };
  auto gaps = lock_gaps(needs, lock, invocation.archspec_version(), recipe);
  if (gaps.empty()) return;
  std::string remedy = fmt::format("kiln lock -f {}", matrix);
  if (lock.file != lockfile_beside(matrix)) remedy += " -o " + lock.file;
  if (!invocation.options.locked) {
    for (const LockGap& gap : gaps)
      invocation.note(Error(ExitCode::locked, gap.where, gap.what).format("warning"));
    return invocation.note(
        fmt::format("warning: {} does not cover this plan; {} mends it", lock.file, remedy));
  }
  for (const LockGap& gap : gaps) tell(Error(ExitCode::locked, gap.where, gap.what).format());
  throw Error(ExitCode::locked,
              fmt::format("--locked: {} thing{} {} does not have so", gaps.size(),
                          gaps.size() == 1 ? " that" : "s that", lock.file),
              fmt::format("look at them, then {}", remedy));
}

}  // namespace kiln
