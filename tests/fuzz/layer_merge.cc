// Layers from anybody: the merge refuses them with an Error or gives a tree whose names are plain.
#include "factory/oci/layer_merge.h"

#include <fuzzer/FuzzedDataProvider.h>

#include "memory_file.h"
#include "support/tar_bytes.h"

namespace {

using namespace kiln;
using namespace kiln::sif;

class CountingSink final : public ContentSink {
 public:
  std::uint32_t begin_file() override { return files++; }
  void append(std::string_view bytes) override { size += bytes.size(); }
  void end_file() override {}
  std::uint32_t files = 0;
  std::uint64_t size = 0;
};

// A few names that meet again and again, so that layers have to do with one another.
std::string name(FuzzedDataProvider& data) {
  static constexpr const char* kParts[] = {"a", "b", "c", ".wh.a", ".wh..wh..opq", "..", ".", "", ".wh."};
  std::string text = data.PickValueInArray(kParts);
  for (int more = data.ConsumeIntegralInRange(0, 3); more > 0; --more)
    text += std::string("/") + data.PickValueInArray(kParts);
  return text;
}

// Headers that say something of the entry behind them; every third is damaged in its text.
std::string header_before(FuzzedDataProvider& data) {
  static constexpr const char* kKeys[] = {"path",
                                          "linkpath",
                                          "size",
                                          "mtime",
                                          "uid",
                                          "SCHILY.xattr.user.a",
                                          "GNU.sparse.major",
                                          "GNU.sparse.minor",
                                          "GNU.sparse.map",
                                          "GNU.sparse.numblocks",
                                          "GNU.sparse.offset",
                                          "GNU.sparse.numbytes",
                                          "GNU.sparse.realsize",
                                          "GNU.sparse.name"};
  static constexpr const char* kValues[] = {"0", "1", "2", "-1", "0,1", "0,1,5,2", "7", "9223372036854775807",
                                            "a", ""};
  char type = data.PickValueInArray({'x', 'x', 'x', 'L', 'K', 'g'});
  std::string text;
  if (type == 'L' || type == 'K') text = name(data);
  if (type == 'x' || type == 'g')
    for (int count = data.ConsumeIntegralInRange(0, 4); count > 0; --count)
      text += kiln::testing::pax_record(data.PickValueInArray(kKeys), data.PickValueInArray(kValues));
  if (!text.empty() && data.ConsumeIntegralInRange(0, 2) == 0)
    text[data.ConsumeIntegralInRange<std::size_t>(0, text.size() - 1)] = data.ConsumeIntegral<char>();
  return kiln::testing::tar_header({"before", type}, text.size()) + kiln::testing::padded(text);
}

// GNU's sparse file, its map and sizes at random.
std::string sparse_file(FuzzedDataProvider& data) {
  std::string block = kiln::testing::tar_header({"s", 'S'}, data.ConsumeIntegralInRange(0, 1024));
  block.replace(257, 8, std::string("ustar  \0", 8));
  std::string map = data.ConsumeRandomLengthString(109);  // to the real size's end
  block.replace(386, map.size(), map);
  kiln::testing::fix_checksum(block);
  return block + data.ConsumeRandomLengthString(600);
}

std::string structured_layer(FuzzedDataProvider& data) {
  std::string bytes;
  for (int count = data.ConsumeIntegralInRange(0, 12); count > 0; --count) {
    for (int more = data.ConsumeIntegralInRange(0, 3); more > 1; --more) bytes += header_before(data);
    if (data.ConsumeIntegralInRange(0, 9) == 0) bytes += sparse_file(data);
    kiln::testing::TarEntry entry;
    entry.name = name(data);
    entry.type = data.PickValueInArray({'0', '1', '2', '3', '5', '6'});
    if (entry.type == '0') entry.content = data.ConsumeRandomLengthString(40);
    if (entry.type == '1' || entry.type == '2') entry.link = name(data);
    bytes += kiln::testing::tar_entry(entry);
  }
  return bytes + kiln::testing::tar_end();
}

void check(const ImageTree& tree, NodeId folder, std::uint32_t files) {
  for (NodeId node : tree.children(folder)) {
    std::string_view text = tree.name(node);
    if (text.empty() || text == "." || text == ".." || text.find('/') != text.npos || text.size() > 255)
      __builtin_trap();
    const Inode& inode = tree.inode(tree.inode_at(node));
    if (inode.kind == EntryKind::file && inode.payload >= files) __builtin_trap();
    if (inode.kind == EntryKind::folder) check(tree, node, files);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  std::vector<std::string> layers;
  bool raw = data.ConsumeBool();
  for (int count = data.ConsumeIntegralInRange(1, 4); count > 0; --count)
    layers.push_back(raw ? data.ConsumeRandomLengthString(8192) : structured_layer(data));
  std::vector<std::unique_ptr<fuzz::MemoryFile>> memory;
  std::vector<std::unique_ptr<ReadOnlyFile>> files;
  for (const std::string& layer : layers) {
    memory.push_back(std::make_unique<fuzz::MemoryFile>(layer));
    files.push_back(std::make_unique<ReadOnlyFile>(memory.back()->path()));
  }
  LayerLimits limits;
  limits.plain_bytes = 1u << 20;
  auto open = [&](std::size_t i) {
    Descriptor descriptor{
        std::string(raw ? "application/vnd.docker.image.rootfs.diff.tar" : media_type::kLayerTar), {}, 0, {}};
    return std::make_unique<LayerStream>(BlobSection{files[i].get(), 0, files[i]->size()}, descriptor,
                                         Digest(), limits);
  };
  CountingSink sink;
  try {
    LayerMerge merge(layers.size(), open, sink, {}, limits);
    merge.run();
    check(merge.tree(), kRootNode, sink.files);
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
