#include "factory/collect/disk_need.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "factory/state/record_store.h"

namespace kiln {
namespace {

// An engine keeps a layer unpacked, beside the compressed one of the store: zstd and gzip make a third to a
// half of programs and libraries.
constexpr std::uint64_t kUnpacked = 3;

std::string first_word(const std::string& title) { return title.substr(0, title.find(' ')); }

void add_step(const StepRecord& step, KnownSizes& sizes) {
  std::uint64_t bytes = 0;
  std::string title;
  for (const BuiltLayer& layer : step.chain.layers) {
    if (layer.step != step.key) continue;  // of a step below
    bytes += layer.blob.size;
    title = layer.created_by;
  }
  if (title.empty()) return;
  sizes.steps[title].push_back(bytes);
  if (first_word(title) != title) sizes.steps[first_word(title)].push_back(bytes);
}

void add_image(const ImageRecord& image, KnownSizes& sizes) {
  const Attachment* sif = image.attachment("sif");
  if (sif != nullptr) sizes.images[image.repository].push_back(sif->blob.size);
}

template <typename Read>
void each_record(const fs::path& folder, const FileSystem& files, Read read) {
  for (const std::string& name : files.stems(folder)) {
    try {
      read(name);
    } catch (const Error&) {
      // Damaged: whoever builds on it says so.
    }
  }
}

std::uint64_t median(std::vector<std::uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<std::uint64_t> guess(const std::map<std::string, std::vector<std::uint64_t>>& known,
                                   const std::string& name) {
  auto found = known.find(name);
  if (found == known.end()) found = known.find(first_word(name));
  return found == known.end() ? std::nullopt : std::optional(median(found->second));
}

// 0 when anything of it is of an unknown kind.
std::uint64_t least_of(const ImageToMake& image, const KnownSizes& sizes) {
  std::optional<std::uint64_t> sum = image.sif ? guess(sizes.images, image.repository) : 0;
  for (const std::string& title : image.steps) {
    const auto bytes = guess(sizes.steps, title);
    if (!bytes || !sum) return 0;
    *sum += *bytes;
  }
  return sum.value_or(0);
}

}  // namespace

KnownSizes known_sizes(const StatePaths& state, const FileSystem& files) {
  const RecordReader records(state, files);
  KnownSizes sizes;
  each_record(state.step_folder(), files, [&](const std::string& key) {
    if (auto step = records.step(key)) add_step(*step, sizes);
  });
  each_record(state.built_folder(), files, [&](const std::string& record) {
    if (auto image = records.image(record)) add_image(*image, sizes);
  });
  return sizes;
}

DiskNeed disk_need(const std::vector<std::string>& steps, const std::vector<ImageToMake>& images,
                   const KnownSizes& sizes) {
  DiskNeed need;
  auto take = [&](const std::optional<std::uint64_t>& bytes, std::uint64_t times) {
    need.bytes += bytes.value_or(0) * times;
    ++(bytes ? need.known : need.unknown);
  };
  for (const std::string& title : steps) take(guess(sizes.steps, title), 1 + kUnpacked);
  for (const ImageToMake& image : images)
    if (image.sif) take(guess(sizes.images, image.repository), 1);
  if (images.empty()) return need;
  need.least = std::numeric_limits<std::uint64_t>::max();
  for (const ImageToMake& image : images) need.least = std::min(need.least, least_of(image, sizes));
  return need;
}

}  // namespace kiln
