// Commits that a matrix builds, and what its lockfile knows of them.
#include <fmt/format.h>

#include "factory/lint/check_cells.h"
#include "factory/recipe/parameters.h"

namespace kiln::lint {
namespace {

constexpr std::string_view kCommit = "git:";

bool is_looked_for(const Lockfile& lock, const CellPart& part) {
  const ComponentVersion& version = *part.version;
  auto entry = lock.entries.find(
      lock_id(part.component->kind, part.component->name, version.version.text(), part.method->name));
  return entry != lock.entries.end() && !entry->second.source_ref.empty() &&
         entry->second.source_url == version.source_url &&
         entry->second.source_checksum == version.source_checksum;
}

}  // namespace

void check_sources_of(const Cell& cell, const CellInput& input, CellReport& report) {
  if (input.lock == nullptr) return;
  for (const CellPart& part : cell.parts) {
    const std::string& checksum = part.version->source_checksum;
    if (!checksum.starts_with(kCommit) || !reads_source(*part.method) || is_looked_for(*input.lock, part))
      continue;
    const std::string commit = checksum.substr(kCommit.size(), 12);
    report.add("KL025", part.version->where,
               fmt::format("kiln has not checked whether a branch or tag of {} has {}",
                           part.version->source_url, commit),
               cell.id(), Severity::warning);
  }
}

}  // namespace kiln::lint
