#include "factory/oci/layer_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "factory/base/effects.h"

namespace kiln {
namespace {

constexpr std::uint32_t kSkipped = kNone - 1;         // a file's payload: not written yet
constexpr std::uint64_t kMostXattrBytes = 64u << 20;  // of all different sets together
// Bytes of memory that a set and an attribute of it take, with libsquashfs's copy, which is hexadecimal.
constexpr std::uint64_t kXattrSet = 300;
constexpr std::uint64_t kXattr = 250;

std::uint32_t squashfs_time(std::int64_t seconds) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<std::uint32_t>::max()));
}

bool kept_xattr(const std::string& name) {
  return (name.starts_with("user.") && name.size() > 5) || name == "security.capability";
}

Digest digest_of(const Xattrs& set) {
  Hasher hasher;
  for (const auto& [name, value] : set)
    for (const std::string* text : {&name, &value}) {
      const std::uint64_t size = text->size();
      hasher.update(&size, sizeof size);
      hasher.update(text->data(), text->size());
    }
  return hasher.finish();
}

}  // namespace

void ContentSink::take_extract(std::string_view) {
  throw Error(ExitCode::internal, "an extract was given to one who takes none");
}

LayerMerge::LayerMerge(std::size_t layer_count, OpenLayer open, ContentSink& sink, const EntryLimits& limits,
                       const LayerLimits& layer_limits)
    : LayerMerge(layer_count, OpenEntries([open = std::move(open), limits, layer_limits](std::size_t layer) {
                   return std::make_unique<LayerReader>(open(layer), limits, layer_limits);
                 }),
                 sink, limits, layer_limits) {}

LayerMerge::LayerMerge(std::size_t layer_count, OpenEntries open, ContentSink& sink,
                       const EntryLimits& limits, const LayerLimits& layer_limits)
    : layer_count_(layer_count),
      open_(std::move(open)),
      sink_(sink),
      limits_(limits),
      layer_limits_(layer_limits),
      first_inode_(layer_count),
      end_inode_(layer_count) {
  if (layer_count > kMostLayers)
    throw Error(ExitCode::input,
                fmt::format("the image has {} layers, the limit is {}", layer_count, kMostLayers));
}

void LayerMerge::run() {
  for (std::size_t layer = layer_count_; layer-- > 0;) read_layer(layer);
  hidden_ = {};
  merge_layers();
  read_skipped();
}

template <typename Use>
void LayerMerge::with_layer(std::size_t layer, Use use) {
  try {
    std::unique_ptr<LayerEntries> reader = open_(layer);
    LayerEntry entry;
    while (reader->next(entry)) {
      if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
      use(*reader, entry);
    }
    compressed_ += reader->compressed_bytes_read();
  } catch (Error& error) {
    error.while_doing(fmt::format("reading layer {} of {}", layer + 1, layer_count_));
    throw;
  }
}

void LayerMerge::read_layer(std::size_t layer) {
  first_inode_[layer] = static_cast<InodeId>(tree_.inode_count());
  with_layer(layer, [&](LayerEntries& reader, const LayerEntry& entry) {
    if (++report_.entries > limits_.entries)
      reader.refuse(fmt::format("the image has more than {} entries", limits_.entries));
    record(reader, entry, layer);
    try {
      check_memory(compressed_ + reader.compressed_bytes_read());
    } catch (const Error& error) {
      reader.refuse(error.message());
    }
  });
  end_inode_[layer] = static_cast<InodeId>(tree_.inode_count());
}

// What a layer makes kiln remember is bounded by what it cost to send.
void LayerMerge::check_memory(std::uint64_t compressed) const {
  std::uint64_t most = layer_limits_.tree_bytes + layer_limits_.tree_ratio * compressed;
  std::uint64_t taken = tree_.memory() + hidden_.size() * sizeof(Hidden) + xattr_memory_;
  if (taken > most)
    throw Error(
        ExitCode::input,
        fmt::format("the names and attributes of the image's files take over {} MB of memory, more than "
                    "its {} bytes of layers are good for",
                    most / 1'000'000, compressed));
}

void LayerMerge::record(LayerEntries& reader, const LayerEntry& entry, std::size_t layer) {
  Inode inode;
  inode.kind = entry.kind;
  inode.layer = static_cast<std::uint16_t>(layer);
  inode.number = static_cast<std::uint32_t>(entry.number);
  inode.mode = entry.mode;
  inode.uid = entry.uid;
  inode.gid = entry.gid;
  inode.mtime = squashfs_time(entry.mtime);
  try {
    inode.path = tree_.paths().insert_path(entry.path);
    if (entry.kind == EntryKind::hard_link) inode.payload = tree_.paths().insert_path(entry.target);
    inode.xattrs = xattr_set(entry);
  } catch (const Error& error) {
    reader.refuse(error.message());
  }
  if (entry.kind == EntryKind::symlink) inode.payload = tree_.add_string(entry.target);
  if (entry.kind == EntryKind::device) ++report_.devices_dropped;
  if (entry.kind == EntryKind::file) {
    bool skipped = entry.size > 0 && is_hidden(inode.path, layer);
    inode.payload = skipped ? kSkipped : write_content(reader, inode.path);
    if (skipped) ++report_.contents_skipped;
  }
  hide_below(inode);
  tree_.add_inode(inode);
}

std::uint32_t LayerMerge::write_content(LayerEntries& reader, NodeId path) {
  sink_.next_file(tree_.paths(), path);
  std::uint32_t content = sink_.begin_file();
  if (auto extract = reader.extract()) {
    sink_.take_extract(*extract);
    return content;
  }
  reader.read_content([this](std::string_view bytes) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    sink_.append(bytes);
  });
  sink_.end_file();
  return content;
}

LayerMerge::Hidden& LayerMerge::hidden(NodeId node) {
  if (node >= hidden_.size()) hidden_.resize(tree_.paths().size());
  return hidden_[node];
}

// By the paths as they are written: only ever a guess, since links may lead elsewhere.
bool LayerMerge::is_hidden(NodeId node, std::size_t layer) const {
  if (node < hidden_.size() && std::max(hidden_[node].itself, hidden_[node].file) > layer) return true;
  for (NodeId up = node; up != kRootNode;) {
    up = tree_.parent(up);
    if (up < hidden_.size() && std::max(hidden_[up].itself, hidden_[up].children) > layer) return true;
  }
  return false;
}

void LayerMerge::hide_below(const Inode& inode) {
  Hidden& here = hidden(inode.path);
  std::uint16_t& mark = inode.kind == EntryKind::folder   ? here.file
                        : inode.kind == EntryKind::opaque ? here.children
                                                          : here.itself;
  mark = std::max(mark, inode.layer);
}

std::uint32_t LayerMerge::xattr_set(const LayerEntry& entry) {
  Xattrs kept;
  for (const auto& pair : entry.xattrs)
    if (kept_xattr(pair.first))
      kept.push_back(pair);
    else
      ++report_.xattrs_dropped;
  if (kept.empty()) return kNone;
  auto [found, is_new] =
      xattr_ids_.emplace(digest_of(kept).hex(), static_cast<std::uint32_t>(xattr_sets_.size()));
  if (!is_new) return found->second;
  xattr_memory_ += kXattrSet;
  for (const auto& [name, value] : kept) {
    xattr_bytes_ += name.size() + value.size();
    xattr_memory_ += kXattr + 3 * (name.size() + value.size());
  }
  if (xattr_bytes_ > kMostXattrBytes)
    throw Error(ExitCode::input,
                fmt::format("the image's extended attributes fill more than {} bytes", kMostXattrBytes));
  xattr_sets_.push_back(std::move(kept));
  return found->second;
}

void LayerMerge::merge_layers() {
  for (std::size_t layer = 0; layer < layer_count_; ++layer)
    for (InodeId id = first_inode_[layer]; id < end_inode_[layer]; ++id) try {
        tree_.apply(id);
        check_memory(compressed_);
      } catch (const Error& error) {
        const Inode& inode = tree_.inode(id);
        Error named(error.code(),
                    fmt::format("entry #{} '{}': {}", inode.number, tree_.path(inode.path), error.message()));
        named.while_doing(fmt::format("merging layer {} of {}", layer + 1, layer_count_));
        throw named;
      }
}

void LayerMerge::read_skipped() {
  std::vector<std::map<std::uint32_t, InodeId>> wanted(layer_count_);  // by entry number
  tree_.each_node([&](NodeId node) {
    const Inode& inode = tree_.inode(tree_.inode_at(node));
    if (inode.kind == EntryKind::file && inode.payload == kSkipped)
      wanted[inode.layer].emplace(inode.number, tree_.inode_at(node));
  });
  for (std::size_t layer = layer_count_; layer-- > 0;) {
    if (wanted[layer].empty()) continue;
    ++report_.layers_read_again;
    with_layer(layer, [&](LayerEntries& reader, const LayerEntry& entry) {
      auto found = wanted[layer].find(static_cast<std::uint32_t>(entry.number));
      if (found == wanted[layer].end()) return;
      Inode& inode = tree_.inode(found->second);
      inode.payload = write_content(reader, inode.path);
    });
  }
}

}  // namespace kiln
