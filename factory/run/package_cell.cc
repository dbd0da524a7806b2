#include "factory/run/package_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/engine/private_folder.h"
#include "factory/os/processors.h"
#include "factory/package/package.h"
#include "factory/run/damaged_steps.h"
#include "factory/run/failure.h"
#include "factory/run/step.h"

namespace kiln {
namespace {

constexpr std::string_view kApplication = "application";

// Both hold a component: what decides the bits is equal already, as keys are.
bool has_component(const ImageRecord& record, const ComponentUse& use) {
  return std::any_of(
      record.components.begin(), record.components.end(), [&](const ComponentRecord& component) {
        return component.kind == name_of(use.kind) && component.name == use.name &&
               component.version.text() == use.version.text() && component.method == use.method;
      });
}

bool is_below(const ImageRecord& record, const ImageSpec& derived) {
  if (record.cpu != derived.target.cpu || record.accelerators != derived.target.accelerators) return false;
  std::size_t below = 0;
  for (const ComponentUse& use : derived.components) {
    if (use.kind == Kind::application) continue;
    if (!has_component(record, use)) return false;
    ++below;
  }
  return below == record.components.size() &&
         std::ranges::count(record.components, kApplication, &ComponentRecord::kind) == 0;
}

class StateConversions final : public Conversions {
 public:
  StateConversions(const StatePaths& state, FileSystem& files)
      : reader_(state, files), writer_(state, files) {}
  std::optional<Descriptor> find(const std::string& key) const override { return reader_.conversion(key); }
  void keep(const std::string& key, const Descriptor& sif) override { writer_.write_conversion(key, sif); }

 private:
  RecordReader reader_;
  RecordWriter writer_;
};

// The record is written last: it promises everything before it.
void keep_artifact(Artifact artifact, const BlobStore& store, const PackageSetup& setup) {
  RecordWriter writer(setup.state, setup.files);
  const std::string name = record_name(setup.image);
  fs::path layout = setup.state.layout(artifact.record.repository, artifact.record.immutable_tag);
  writer.remove_image(name);  // nothing may promise a layout while it is replaced
  write_layout(layout, artifact.image, store, setup.files);
  artifact.record.layout = layout.lexically_relative(setup.state.root()).string();
  writer.write_image(name, artifact.record);
}

void package_built(const LayerChain& built, const PackageSetup& setup) {
  const StatePaths& state = setup.state;
  BlobStore store(state.store());
  PrivateFolder scratch(setup.files, state.temporary());
  StateConversions conversions(state, setup.files);
  sbom::RecipeOrigin origin = RecordReader(state, setup.files).recipe_origin(setup.plan);
  DocumentFacts facts{source_date_epoch(setup.environment), setup.tool, setup.flag_table, setup.site.builder};
  const ImageSpec image = with_parent_labels(setup.image, RecordReader(state, setup.files));
  PackageRequest request{image,
                         setup.plan,
                         built,
                         origin,
                         setup.cpus,
                         facts,
                         usable_processors(),
                         setup.site.evidence_fails,
                         setup.site.sif,
                         state.evidence(),
                         state.log(setup.image.key),
                         scratch.path()};
  keep_artifact(package(request, store, setup.files, conversions), store, setup);
}

std::string name_of(const ImageSpec& image) { return image.repository + ":" + image.tag; }

FailureRecord record_failure(const Error& error, double seconds, const PackageSetup& setup) {
  const std::string& key = setup.image.key;
  FailureRecord failure = failure_record(key, error, seconds, setup.state.log(key));
  if (!setup.files.exists(failure.log)) setup.files.write(failure.log, error.format() + "\n");
  RecordWriter(setup.state, setup.files).write(failure);
  return failure;
}

}  // namespace

std::optional<ImageRecord> packaged_parent(const ImageSpec& derived, const std::string& parent_key,
                                           const RecordReader& reader) {
  std::vector<ImageRecord> records = reader.images_of(parent_key);
  if (records.empty()) return std::nullopt;
  const auto found =
      std::ranges::find_if(records, [&](const ImageRecord& record) { return is_below(record, derived); });
  return std::move(found == records.end() ? records.front() : *found);
}

ImageSpec with_parent_labels(const ImageSpec& derived, const RecordReader& reader) {
  ImageSpec labelled = derived;
  const auto key = derived.labels.find(kParentKeyLabel);
  if (key == derived.labels.end()) return labelled;
  if (const auto parent = packaged_parent(derived, key->second, reader)) {
    labelled.labels["org.opencontainers.image.base.name"] = parent->name();
    labelled.labels["org.opencontainers.image.base.digest"] = parent->manifest.text();
  }
  return labelled;
}

std::optional<FailureRecord> package_cell(const PackageSetup& setup) {
  double start = setup.clock.monotonic_seconds();
  const std::string& last = setup.image.last_step().key;
  auto record = RecordReader(setup.state, setup.files).step(last);
  if (!record)
    throw Error(ExitCode::store, "the image's last step has no record: " + setup.state.step(last).string());
  try {
    package_built(record->chain, setup);
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    const double seconds = setup.clock.monotonic_seconds() - start;
    const bool may_be_damage = error.code() == ExitCode::input || error.code() == ExitCode::store;
    std::string damage =
        may_be_damage ? take_damaged_layers(record->chain, BlobStore(setup.state.store())) : "";
    if (damage.empty()) return record_failure(error, seconds, setup);
    return record_failure(
        Error(ExitCode::store, fmt::format("{} is damaged: {}", name_of(setup.image), damage), kDamageRemedy),
        seconds, setup);
  }
}

}  // namespace kiln
