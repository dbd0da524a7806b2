// Puts the layers of an image on one another while reading each of them once, the uppermost first.
//
// An upper layer decides what of a lower one is seen, so contents that a layer further up replaces or removes
// are skipped and all others are handed on as they stream by; none is kept in memory. Afterwards kiln
// computes the tree from the entries alone, lowest layer first, as the OCI image-spec defines it (ImageTree).
// If a skipped content turns out to be visible, through a hard link or a symbolic link, its layer is read a
// second time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "factory/oci/image_tree.h"
#include "factory/oci/layer_read.h"

namespace kiln {

// Takes the contents of files, one after the other.
class ContentSink {
 public:
  virtual ~ContentSink() = default;
  // Called before begin_file: where the layer puts the file, symbolic links not followed. For sinks that read
  // only some files.
  virtual void next_file(const PathTable&, NodeId) {}
  virtual std::uint32_t begin_file() = 0;  // its content id, counted from 0
  virtual void append(std::string_view bytes) = 0;
  virtual void end_file() = 0;
  // Takes the kept extract of a content. Called instead of append() and end_file(), only on sinks that read
  // extracts (layer_extract.h).
  virtual void take_extract(std::string_view extract);
};

// Results of a conversion that the user may need to know.
struct MergeReport {
  std::uint64_t entries = 0;
  std::uint64_t contents_skipped = 0;
  std::uint64_t layers_read_again = 0;
  std::uint64_t devices_dropped = 0;
  std::uint64_t xattrs_dropped = 0;  // others than user.* and security.capability
};

inline constexpr std::size_t kMostLayers = 512;

class LayerMerge {
 public:
  using OpenLayer = std::function<std::unique_ptr<LayerStream>(std::size_t layer)>;
  using OpenEntries = std::function<std::unique_ptr<LayerEntries>(std::size_t layer)>;

  LayerMerge(std::size_t layer_count, OpenLayer open, ContentSink& sink, const EntryLimits& limits = {},
             const LayerLimits& layer_limits = {});
  // For layers whose entries are not all read from a stream; those that are, by the same limits.
  LayerMerge(std::size_t layer_count, OpenEntries open, ContentSink& sink, const EntryLimits& limits = {},
             const LayerLimits& layer_limits = {});

  // Reads all layers and works out the tree. Throws Error(input) naming layer, entry number and name.
  void run();

  ImageTree& tree() { return tree_; }
  const ImageTree& tree() const { return tree_; }
  const std::vector<Xattrs>& xattr_sets() const { return xattr_sets_; }
  const MergeReport& report() const { return report_; }

 private:
  struct Hidden {
    std::uint16_t itself = 0;    // entries of layers below this one are hidden here and below
    std::uint16_t children = 0;  // … below this node
    std::uint16_t file = 0;      // … here, if they are no folders
  };

  template <typename Use>
  void with_layer(std::size_t layer, Use use);
  void read_layer(std::size_t layer);
  void record(LayerEntries& reader, const LayerEntry& entry, std::size_t layer);
  void check_memory(std::uint64_t compressed) const;
  bool is_hidden(NodeId node, std::size_t layer) const;
  void hide_below(const Inode& inode);
  Hidden& hidden(NodeId node);
  std::uint32_t xattr_set(const LayerEntry& entry);
  std::uint32_t write_content(LayerEntries& reader, NodeId path);
  void merge_layers();
  void read_skipped();

  std::size_t layer_count_;
  OpenEntries open_;
  ContentSink& sink_;
  EntryLimits limits_;
  LayerLimits layer_limits_;
  ImageTree tree_;
  std::deque<Hidden> hidden_;
  std::vector<InodeId> first_inode_;  // of each layer, and the end of its entries
  std::vector<InodeId> end_inode_;
  std::vector<Xattrs> xattr_sets_;
  std::map<std::string, std::uint32_t> xattr_ids_;  // by digest
  std::uint64_t xattr_bytes_ = 0;
  std::uint64_t xattr_memory_ = 0;
  std::uint64_t compressed_ = 0;  // bytes of the layers that were read to their ends
  MergeReport report_;
};

}  // namespace kiln
