// CUDA in planned cells: what it makes code for, which host compiler it takes, and that there is one CUDA
// only.
#include <fmt/format.h>

#include <algorithm>

#include "factory/lint/check_cells.h"
#include "factory/lint/release_facts.h"

namespace kiln::lint {
namespace {

std::string without_vendor(const std::string& accelerator) {
  return accelerator.substr(accelerator.find(':') + 1);
}

void check_capabilities(const Cell& cell, CellReport& report) {
  for (const CellPart& part : cell.parts) {
    const std::string cuda = part.version->fact("cuda");
    for (const std::string& accelerator : cell.spec->target.accelerators) {
      if (!accelerator.starts_with("nvidia:")) continue;
      const CapabilityGap gap = capability_gap(cuda, without_vendor(accelerator));
      if (gap.reason.empty()) continue;
      // What is installed ready-made may carry PTX, which a newer GPU's driver compiles.
      bool may_run = !gap.dropped && part.method->name != "source";
      report.add("KL030", part.version->where,
                 fmt::format("{} has CUDA {}, which makes no code for {}: {}", part.title(), cuda,
                             without_vendor(accelerator), gap.reason),
                 cell.id(), may_run ? std::optional(Severity::warning) : std::nullopt);
    }
  }
}

void check_family(const Cell& cell, const CellInput& input, CellReport& report) {
  const std::string family = input.cpus.family(cell.spec->target.cpu);
  auto last = last_cuda_for(family);
  if (!last || !cell.has_nvidia()) return;
  for (const CellPart& part : cell.parts) {
    const std::string cuda = part.version->fact("cuda");
    if (is_cuda_version(cuda) && Version(*last) < Version(cuda) && !Version(*last).covers(Version(cuda)))
      report.add("KL030", part.version->where,
                 fmt::format("{} has CUDA {}, and {} is the last for {}", part.title(), cuda, *last, family),
                 cell.id());
  }
}

// Releases of one major version work together from CUDA 11 on.
bool work_together(const std::string& one, const std::string& other) {
  const Version a(one);
  const Version b(other);
  if (a.covers(b) || b.covers(a)) return true;
  const std::string major = one.substr(0, one.find('.'));
  return Version("11") <= a && major == other.substr(0, other.find('.'));
}

void check_one_cuda(const Cell& cell, CellReport& report) {
  const CellPart* first = nullptr;
  for (const CellPart& part : cell.parts) {
    const std::string cuda = part.version->fact("cuda");
    if (part.component->kind == Kind::base && cuda == "none")
      report.add("KL021", part.version->where,
                 fmt::format("{} has no CUDA, and the target has a GPU", part.title()), cell.id());
    if (!is_cuda_version(cuda)) continue;
    if (first == nullptr)
      first = &part;
    else if (!work_together(first->version->fact("cuda"), cuda))
      report.add("KL033", part.version->where,
                 fmt::format("{} is for CUDA {}, and {} brings {}", part.title(), cuda, first->title(),
                             first->version->fact("cuda")),
                 cell.id());
  }
}

void check_host_compilers(const Cell& cell, const CellInput& input, CellReport& report) {
  for (const Stage& stage : cell.spec->stages) {
    const std::vector<Laid> laid = laid_in(stage, input.recipes);
    auto toolkit = std::ranges::find_if(
        laid, [](const Laid& one) { return is_cuda_version(one.version->fact("cuda")); });
    if (toolkit == laid.end()) continue;
    for (const Laid& one : laid) {
      const std::string version = one.version->fact("compiler_version");
      auto newest = newest_host_compiler(toolkit->version->fact("cuda"), one.version->fact("compiler"));
      if (!is_cuda_version(version) || !newest ||
          Version(version.substr(0, version.find('.'))) <= Version(*newest))
        continue;
      report.add(
          "KL031", one.version->where,
          fmt::format("CUDA {} takes {} up to {}, and stage '{}' has {}", toolkit->version->fact("cuda"),
                      one.version->fact("compiler"), *newest, stage.name, version),
          cell.id());
    }
  }
}

}  // namespace

void check_cuda_of(const Cell& cell, const CellInput& input, CellReport& report) {
  if (!cell.has_nvidia()) return;
  check_capabilities(cell, report);
  check_family(cell, input, report);
  check_one_cuda(cell, report);
  check_host_compilers(cell, input, report);
}

}  // namespace kiln::lint
