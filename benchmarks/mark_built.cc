// mark_built CATALOGUE STATE: leaves in STATE what tells kiln that every image of the catalogue is packaged,
// so that there is nothing to do: the records, and all blobs that they promise, with their sizes. Documents,
// layers and SIFs have a few bytes each; layouts are empty folders.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "catalogue.h"
#include "factory/oci/layout.h"
#include "factory/plan/build_plan.h"
#include "factory/state/record_store.h"

// Nothing waits for the disk: all of it can be made again.
extern "C" int fsync(int) { return 0; }
extern "C" int fdatasync(int) { return 0; }

namespace kiln::bench {
namespace {

class Marker {
 public:
  Marker(const BuildPlan& plan, const StatePaths& state)
      : plan_(plan), state_(state), store_(state.store()), writer_(state, files_) {}

  void mark(const ResolvedImage& image) {
    LayoutImage content;
    content.config.architecture = image.architecture();
    content.config.labels["org.opencontainers.image.title"] = image.reference();
    content.layers = layers_of(image);
    ImageRecord record;
    const Descriptor manifest =
        store_.put(to_json(manifest_of(content)).dump(), std::string(media_type::kManifest));
    store_.put(to_json(content.config).dump(), std::string(media_type::kConfig));
    record.repository = image.repository();
    record.tag = image.tag();
    record.immutable_tag = image.immutable_tag();
    record.key = image.key();
    record.cell = image.id();
    record.application = image.repository();
    record.manifest = manifest.digest;
    for (const char* kind : {"spdx", "cyclonedx", "provenance", "evidence"})
      record.attachments.push_back(
          attach({kind, "application/json", fmt::format(R"({{"{}": "{}"}})", kind, image.key())}, manifest, 0,
                 store_));
    record.attachments.push_back({"sif", store_.put("SIF of " + image.key(), "sif"), {}});
    const fs::path layout = state_.layout(image.repository(), image.immutable_tag());
    fs::create_directories(layout);
    record.layout = layout.lexically_relative(state_.root()).string();
    writer_.write_image(image.record_name(), record);
    for (StepTable::Number test : image.tests()) {
      TestRecord passed;
      passed.key = plan_.steps().hex(test);
      writer_.write(passed);
    }
  }

 private:
  // Of its last stage.
  std::vector<Descriptor> layers_of(const ResolvedImage& image) {
    for (StepTable::Number number : image.steps()) add(plan_.steps().hex(last_ = number), number);
    std::vector<Descriptor> layers;
    for (std::uint32_t layer : chains_.at(plan_.steps().hex(last_))) layers.push_back(layers_[layer]);
    return layers;
  }
  void add(const std::string& key, StepTable::Number number) {
    if (chains_.contains(key)) return;
    const Step step = plan_.steps().step(number);
    std::vector<std::uint32_t> chain =
        step.parent.empty() ? std::vector<std::uint32_t>{} : chains_.at(step.parent);
    chain.push_back(static_cast<std::uint32_t>(layers_.size()));
    layers_.push_back(store_.put("layer of " + key, std::string(media_type::kLayerZstd)));
    chains_[key] = std::move(chain);
  }

  const BuildPlan& plan_;
  const StatePaths& state_;
  RealFileSystem files_;
  BlobStore store_;
  RecordWriter writer_;
  StepTable::Number last_{};
  std::vector<Descriptor> layers_;
  std::map<std::string, std::vector<std::uint32_t>> chains_;  // of layers, by the step's key
};

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mark_built CATALOGUE STATE\n", stderr);
    return 2;
  }
  try {
    kiln::bench::Catalogue catalogue(argv[1]);
    const kiln::StatePaths state(kiln::fs::absolute(argv[2]));
    kiln::fs::create_directories(state.root());
    std::ofstream(state.formats()) << "oci sif\n";  // as they would all be there
    const kiln::BuildPlan plan = kiln::plan_matrix(catalogue.matrix, catalogue.input());
    kiln::bench::Marker marker(plan, state);
    for (std::size_t number = 0; number < plan.size(); ++number) marker.mark(plan.image(number));
    std::printf("%zu\n", plan.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
