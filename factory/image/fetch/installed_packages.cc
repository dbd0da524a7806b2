#include "image/fetch/installed_packages.h"

#include <fmt/format.h>

#include "oci/layer_read.h"
#include "sbom/control_file.h"

namespace kiln {
namespace {

constexpr std::size_t kMostStatus = 64u << 20;

}  // namespace

AptPackages packages_in_status(std::string_view status) {
  AptPackages packages;
  sbom::ControlReader reader(status);
  while (const auto paragraph = reader.next()) {
    const std::string& state = paragraph->at("Status");
    if (!state.ends_with(" installed")) continue;
    const std::string& architecture = paragraph->at("Architecture");
    const std::string suffix = architecture == "all" ? "" : ":" + architecture;
    packages.insert(fmt::format("{}{}={}", paragraph->at("Package"), suffix, paragraph->at("Version")));
  }
  return packages;
}

AptPackages packages_of(const StepRecord& step, const BlobStore& store) {
  if (step.chain.layers.empty()) return {};
  const BuiltLayer& layer = step.chain.layers.back();
  const ReadOnlyFile file(store.path(layer.blob.digest));
  LayerStream stream(BlobSection{&file, 0, file.size()}, layer.blob, layer.diff_id, LayerLimits{});
  LayerReader reader(stream, EntryLimits{}, LayerLimits{});
  std::string status;
  for (LayerEntry entry; reader.next(entry);) {
    if (entry.path != "var/lib/dpkg/status" || entry.kind != EntryKind::file) continue;
    if (entry.size > kMostStatus) reader.refuse("it is too long");
    status.clear();
    reader.read_content([&](std::string_view bytes) { status += bytes; });
  }
  return packages_in_status(status);
}

}  // namespace kiln
