#include "factory/run/untrusted_steps.h"

#include <fmt/format.h>

#include "factory/oci/blob_damage.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

std::string described(const LayerChain& chain, std::size_t layer, const std::string& damage) {
  return fmt::format("layer {}, {}, {}", layer + 1, chain.layers[layer].blob.digest.text(), damage);
}

bool is_believable(StepRecord record, const BlobStore& store, bool whole_chain) {
  if (!whole_chain)
    std::erase_if(record.chain.layers, [&](const BuiltLayer& layer) { return layer.step != record.key; });
  return seen_damage(record.chain, store).empty();
}

bool can_be_read(const std::string& test, const RecordReader& reader) {
  try {
    reader.test(test);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// A damaged record is believed no more than one that lies.
bool is_believable(const std::string& key, const StatePaths& state, const FileSystem& files,
                   bool whole_chain) {
  try {
    auto record = RecordReader(state, files).step(key);
    return !record || is_believable(*record, BlobStore::reading(state.store()), whole_chain);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> untrusted_steps(const BuildPlan& plan, const ImageNumbers& images,
                                         const StatePaths& state, const FileSystem& files, bool whole_chain) {
  std::vector<std::string> found;
  for (StepTable::Number step : StepUses(plan, images).steps()) {
    const bool is_test = plan.steps().pattern(step).kind == StepKind::test;
    std::string key = plan.steps().hex(step);
    if (is_test ? !can_be_read(key, RecordReader(state, files))
                : !is_believable(key, state, files, whole_chain))
      found.push_back(std::move(key));
  }
  return found;
}

bool is_trusted(const std::string& key, const StatePaths& state, const FileSystem& files, bool whole_chain) {
  return is_believable(key, state, files, whole_chain) && can_be_read(key, RecordReader(state, files));
}

std::string seen_damage(const LayerChain& chain, const BlobStore& store) {
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    const Descriptor& blob = chain.layers[i].blob;
    std::string damage = seen_damage(store, blob.digest, blob.size);
    if (!damage.empty()) return described(chain, i, damage);
  }
  return "";
}

std::string take_damaged_layers(const LayerChain& chain, const BlobStore& store) {
  std::string taken;
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    const Descriptor& blob = chain.layers[i].blob;
    std::string damage = read_damage(store, blob.digest, blob.size);
    if (damage.empty()) continue;
    taken += (taken.empty() ? "" : "; ") + described(chain, i, damage);
    store.remove(blob.digest);
  }
  return taken;
}

}  // namespace kiln
