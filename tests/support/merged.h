// Layers in, a plain map of the merged image out. What is merged is merged through extracts as well, and has
// to be the same.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "factory/oci/layer_extract.h"
#include "support/tar_bytes.h"

namespace kiln::testing {

// A private folder for the length of a test.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-test.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() {
    constexpr int kTries = 20;  // GnuPG's agent takes its sockets away at the same time
    std::error_code problem;
    for (int number = 0; number < kTries; ++number)
      if (std::filesystem::remove_all(path_, problem); !problem) return;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Keeps contents in memory, by content id.
class MemorySink final : public ContentSink {
 public:
  std::uint32_t begin_file() override {
    contents.emplace_back();
    return static_cast<std::uint32_t>(contents.size() - 1);
  }
  void append(std::string_view bytes) override { contents.back() += bytes; }
  void end_file() override {}
  void take_extract(std::string_view extract) override { contents.back() = extract; }
  std::vector<std::string> contents;
};

// Leaves contents as they are.
class WholeContents final : public ContentExtractor {
 public:
  void begin_file(std::string_view) override { content_.clear(); }
  void append(std::string_view bytes) override { content_ += bytes; }
  std::string end_file() override { return content_; }

 private:
  std::string content_;
};

// Blobs as files, and streams of them; media type and digests can be made to lie.
class TestLayers {
 public:
  explicit TestLayers(const std::vector<std::string>& tars) {
    for (const std::string& bytes : tars)
      add(bytes, std::string(media_type::kLayerTar), Digest::of(bytes), Digest::of(bytes));
  }
  void add(const std::string& blob, const std::string& type, const Digest& digest, const Digest& diff_id) {
    files_.push_back(std::make_unique<ReadOnlyFile>(folder_.write(std::to_string(files_.size()), blob)));
    descriptors_.push_back({type, digest, blob.size(), {}});
    diff_ids_.push_back(diff_id);
  }
  std::unique_ptr<LayerStream> open(std::size_t layer, const LayerLimits& limits = {}) const {
    return std::make_unique<LayerStream>(BlobSection{files_[layer].get(), 0, files_[layer]->size()},
                                         descriptors_[layer], diff_ids_[layer], limits);
  }
  std::size_t count() const { return files_.size(); }

 private:
  TestFolder folder_;
  std::vector<std::unique_ptr<ReadOnlyFile>> files_;
  std::vector<Descriptor> descriptors_;
  std::vector<Digest> diff_ids_;
};

// "a/b" → "f content", "d", "l target", "p"; hard links get " #n" with n shared.
inline void describe(const ImageTree& tree, const MemorySink& sink, NodeId folder,
                     std::map<std::string, std::string>& out,
                     std::map<InodeId, std::vector<std::string>>& names) {
  for (NodeId node : tree.children(folder)) {
    const Inode& inode = tree.inode(tree.inode_at(node));
    std::string path = tree.path(node);
    switch (inode.kind) {
      case EntryKind::folder:
        out[path] = "d";
        describe(tree, sink, node, out, names);
        break;
      case EntryKind::symlink:
        out[path] = "l " + tree.string(inode.payload);
        break;
      case EntryKind::fifo:
        out[path] = "p";
        break;
      default:
        out[path] = "f " + sink.contents.at(inode.payload);
    }
    if (inode.kind != EntryKind::folder) names[tree.inode_at(node)].push_back(path);
  }
}

struct Merged {
  std::map<std::string, std::string> files;
  MergeReport report;
};

inline Merged merge(const TestLayers& layers, const LayerMerge::OpenEntries& open, const EntryLimits& limits,
                    const LayerLimits& layer_limits) {
  MemorySink sink;
  LayerMerge merge(layers.count(), open, sink, limits, layer_limits);
  merge.run();
  Merged merged;
  std::map<InodeId, std::vector<std::string>> names;
  describe(merge.tree(), sink, kRootNode, merged.files, names);
  for (const auto& [inode, paths] : names)
    if (paths.size() > 1)
      for (const std::string& path : paths) merged.files[path] += " =" + paths.front();
  merged.report = merge.report();
  return merged;
}

inline void expect_same_through_extracts(const TestLayers& layers, const LayerMerge::OpenEntries& read,
                                         const EntryLimits& limits, const LayerLimits& layer_limits,
                                         const Merged& direct, const std::string& refusal) {
  auto open = [&](std::size_t layer) -> std::unique_ptr<LayerEntries> {
    try {
      WholeContents contents;
      auto extract = extract_of(*read(layer), contents);
      if (extract) return read_extract(*extract);
    } catch (const Error&) {
    }
    return read(layer);
  };
  try {
    const Merged through = merge(layers, open, limits, layer_limits);
    EXPECT_EQ(refusal, "") << "but accepted through extracts";
    EXPECT_EQ(through.files, direct.files);
    EXPECT_EQ(through.report.entries, direct.report.entries);
    EXPECT_EQ(through.report.contents_skipped, direct.report.contents_skipped);
    EXPECT_EQ(through.report.layers_read_again, direct.report.layers_read_again);
    EXPECT_EQ(through.report.devices_dropped, direct.report.devices_dropped);
    EXPECT_EQ(through.report.xattrs_dropped, direct.report.xattrs_dropped);
  } catch (const Error& error) {
    EXPECT_EQ(error.format(), refusal);
  }
}

inline Merged merge(const TestLayers& layers, const EntryLimits& limits = {},
                    const LayerLimits& layer_limits = {}) {
  auto read = [&](std::size_t layer) {
    return std::make_unique<LayerReader>(layers.open(layer, layer_limits), limits, layer_limits);
  };
  try {
    Merged merged = merge(layers, read, limits, layer_limits);
    expect_same_through_extracts(layers, read, limits, layer_limits, merged, "");
    return merged;
  } catch (const Error& error) {
    expect_same_through_extracts(layers, read, limits, layer_limits, {}, error.format());
    throw;
  }
}

inline Merged merge_short(const std::vector<std::vector<std::string>>& layers) {
  std::vector<std::string> tars;
  for (const auto& layer : layers) tars.push_back(short_tar(layer));
  return merge(TestLayers(tars));
}

}  // namespace kiln::testing
