// An index of many images, as a browser is to show it: make_catalogue STATE IMAGES. The second snapshot moves
// some tags, and leaves others stale.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "factory/night/night_files.h"
#include "factory/os/ignored_calls.h"
#include "night/night_values.h"
#include "pages/page_samples.h"

namespace kiln::testing {
namespace {

// One of two bills: older images have an older NumPy.
Descriptor bill_of(const ImageRecord& image, const BlobStore& store) {
  const std::string numpy = image.version < Version("2.6") ? "2.1.3" : "2.5.5";
  return store.put(R"({"packages": [{"name": "numpy", "versionInfo": ")" + numpy +
                       R"(", "licenseDeclared": "BSD-3-Clause"}, {"name": "zlib1g", "versionInfo": "1.3",
                       "licenseDeclared": "Zlib"}]})",
                   "application/spdx+json");
}

// With a manifest that is in the store, which `bits` make another one of.
ImageRecord stored(ImageRecord image, const BlobStore& store, const std::string& bits) {
  Manifest manifest;
  manifest.config = store.put("{\"" + image.key + bits + "\": 1}", std::string(media_type::kConfig));
  manifest.layers = {store.put("layer", std::string(media_type::kLayerZstd))};
  image.attachments = {{"spdx", bill_of(image, store), {}}};
  image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
  image.key = Digest::of(image.key + bits).hex();
  image.immutable_tag = image.tag + "-" + image.key.substr(0, 12);
  return image;
}

void make(const std::filesystem::path& state, std::size_t count) {
  stop_syncing();  // where the kernel lets us: it is made again at any time
  const BlobStore store(state / "store");
  Index index = Index::open(state, Index::Mode::write);
  std::vector<ImageRecord> images, moved;
  std::vector<std::string> failed;
  for (std::size_t number = 0; number < count; ++number) {
    images.push_back(stored(sample_image(number), store, ""));
    if (number % 40 == 0) moved.push_back(stored(sample_image(number), store, " again"));
    if (number % 90 == 7) failed.push_back(images.back().name());
  }
  index.publish(images, {}, "2026-11-20T04:00:00Z", "current");
  index.publish(moved, failed, "2026-11-21T04:00:00Z", "current");
  for (std::size_t number = 0; number < count; ++number)
    for (const Measurement& speed :
         sample_speeds(number % 40 == 0 ? moved[number / 40] : images[number], number))
      index.record(speed);
  index.retire({images[count / 2 + 1].manifest}, "wrong results on zen4", "2026-11-22T04:00:00Z");
}

// Three nights: green, red, green again.
void add_nights(const std::filesystem::path& folder) {
  const StatePaths state(folder);
  RealFileSystem files;
  NightFolder nights(state, "demo", files);
  for (std::int64_t number = 1; number <= 3; ++number) {
    std::vector<NightImage> images = {night_image("pytorch-2.6.0-pip", Verdict::built),
                                      night_image("jax-0.7.2-pip", Verdict::unchanged)};
    if (number == 2) images.push_back(failed_image("mxnet-1.9.1-pip", "no wheel of it for Python 3.13"));
    const NightReport report =
        night_report(number, std::move(images), number == 2 ? NightState::red : NightState::green);
    nights.begin(report.started, "make_catalogue");
    nights.write(report, "<!-- made anew -->", "");
  }
}

}  // namespace
}  // namespace kiln::testing

int main(int count, char** words) {
  if (count != 3) return 2;
  try {
    kiln::testing::make(words[1], static_cast<std::size_t>(std::atol(words[2])));
    kiln::testing::add_nights(words[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
