// What a conversion to SIF cannot do without, alone: inflating the layers, and compressing the blocks of the
// files. CPU seconds of one thread, of those calls only; benchmarks/sif.sh sets the CPU time of `kiln sif`
// against their sum.
//
//   sif_parts LAYOUT      an OCI layout of one image
#include <fmt/format.h>
#include <time.h>
#include <zstd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "factory/oci/documents.h"
#include "factory/oci/image_source.h"
#include "factory/oci/inflate.h"
#include "factory/oci/layer_read.h"

namespace kiln::sif {
namespace {

constexpr std::size_t kBlock = 256u << 10;  // as kiln sif
constexpr int kLevel = 3;
constexpr const char* kArchitecture = "amd64";  // only an image index asks

// CPU time of this thread between start() and stop(), in all.
class Watch {
 public:
  void start() { start_ = now(); }
  void stop() { seconds_ += now() - start_; }
  double seconds() const { return seconds_; }

 private:
  static double now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  double start_ = 0;
  double seconds_ = 0;
};

std::string file_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path blob_path(const fs::path& layout, const Digest& digest) {
  return layout / "blobs" / "sha256" / digest.hex();
}

Manifest manifest_in(const fs::path& layout) {
  JsonDocument index = JsonDocument::parse(file_bytes(layout / "index.json"), "index.json");
  Descriptor found = descriptor_from_json(index.root().at("manifests").items().front());
  JsonDocument manifest = JsonDocument::parse(file_bytes(blob_path(layout, found.digest)), "manifest");
  return manifest_from_json(manifest.root());
}

double inflate_layers(const fs::path& layout) {
  Watch watch;
  std::string out(1u << 20, '\0');
  for (const Descriptor& layer : manifest_in(layout).layers) {
    std::string bytes = file_bytes(blob_path(layout, layer.digest));
    auto inflater = Inflater::create(layer_compression(layer.media_type, bytes));
    std::string_view rest = bytes;
    watch.start();
    while (!rest.empty()) inflater->inflate(rest, out.data(), out.size());
    while (inflater->inflate(rest, out.data(), out.size()) != 0) continue;
    watch.stop();
  }
  return watch.seconds();
}

// Whole blocks as they are, ends of files packed together, as SquashFS has them.
class Blocks {
 public:
  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t take = std::min(bytes.size(), kBlock - block_.size());
      block_.append(bytes.substr(0, take));
      bytes.remove_prefix(take);
      if (block_.size() == kBlock) compress(block_);
    }
  }
  void end_file() {
    if (fragments_.size() + block_.size() > kBlock) compress(fragments_);
    fragments_ += block_;
    block_.clear();
  }
  double finish() {
    compress(fragments_);
    return watch_.seconds();
  }

 private:
  void compress(std::string& block) {
    watch_.start();
    std::size_t size =
        ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(), block.data(), block.size(), kLevel);
    watch_.stop();
    if (ZSTD_isError(size) != 0) throw Error(ExitCode::store, "zstd refuses a block");
    block.clear();
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  std::string out_ = std::string(ZSTD_compressBound(kBlock), '\0');
  std::string block_;
  std::string fragments_;
  Watch watch_;
};

double compress_contents(const fs::path& layout) {
  SourceImage image = SourceImage::open({"oci", layout.string(), ""}, kArchitecture);
  Blocks blocks;
  for (std::size_t i = 0; i < image.layer_count(); ++i) {
    auto stream = image.open_layer(i, {});
    LayerReader reader(*stream, {}, {});
    LayerEntry entry;
    while (reader.next(entry)) {
      if (entry.kind != EntryKind::file) continue;
      reader.read_content([&](std::string_view bytes) { blocks.append(bytes); });
      blocks.end_file();
    }
  }
  return blocks.finish();
}

}  // namespace
}  // namespace kiln::sif

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: sif_parts LAYOUT\n");
    return 2;
  }
  try {
    fmt::print("{{\"inflate_cpu\": {:.2f}, \"compress_cpu\": {:.2f}}}\n", kiln::sif::inflate_layers(words[1]),
               kiln::sif::compress_contents(words[1]));
  } catch (const kiln::Error& error) {
    fmt::print(stderr, "{}\n", error.format());
    return 1;
  }
  return 0;
}
