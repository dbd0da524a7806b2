// The files of an image while its layers are put on one another: the rules of the OCI image-spec's layer.md
// on a tree in memory. Nothing here touches a disk; symbolic links resolve inside the tree only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "factory/oci/layer_read.h"

namespace kiln {

// Names of all layers, each path stored once: millions of paths in little memory, looked up by (parent,
// name).
using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr NodeId kNoNode = UINT32_MAX;

// A tree of names that only grows. A node says that a layer names this path, not that a file is there.
class PathTable {
 public:
  PathTable();
  NodeId find(NodeId parent, std::string_view name) const;  // kNoNode when absent
  // Throws Error(input) for a path over 4096 bytes (PATH_MAX) or more than 1024 folders deep.
  NodeId insert(NodeId parent, std::string_view name);
  NodeId insert_path(std::string_view path);  // components joined by "/"; "" is the root

  NodeId parent(NodeId node) const { return nodes_[node].parent; }
  NodeId first_child(NodeId node) const { return nodes_[node].first_child; }
  NodeId next_sibling(NodeId node) const { return nodes_[node].next_sibling; }
  std::string_view name(NodeId node) const;
  std::string path(NodeId node) const;
  std::size_t size() const { return nodes_.size(); }
  // Bytes that the table takes, and those of a list of all paths, which some readers of an image make.
  std::uint64_t memory() const;

 private:
  struct Node {
    NodeId parent = kRootNode;
    NodeId first_child = kNoNode;
    NodeId next_sibling = kNoNode;
    std::uint32_t name = 0;  // chunk number and offset of length byte and bytes
    std::uint16_t depth = 0;
    std::uint16_t length = 0;  // of the path, bytes
  };
  std::uint64_t hash(NodeId parent, std::string_view name) const;
  std::size_t bucket_of(NodeId parent,
                        std::string_view name) const;  // its node's, or the free one where it belongs
  std::uint32_t store_name(std::string_view name);
  void grow();

  std::deque<Node> nodes_;
  std::vector<NodeId> buckets_;  // open addressing, a power of two
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_used_ = 0;
  std::uint64_t path_bytes_ = 0;  // of all nodes
  std::uint64_t seed_;            // of the hash: layers cannot aim at collisions
};

inline constexpr std::uint32_t kNone = UINT32_MAX;

// The result of an entry of a layer: an inode of the image, or an instruction about paths. Small, because
// there are millions.
struct Inode {
  NodeId path = kRootNode;  // as the layer names it, symbolic links not followed
  std::uint32_t payload =
      kNone;  // file: content id; symlink: string id; hard link: NodeId of the target's path
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mtime = 0;       // seconds, clamped to what SquashFS holds
  std::uint32_t xattrs = kNone;  // set id
  std::uint32_t number = 0;      // of the entry in its layer
  std::uint16_t mode = 0;
  std::uint16_t layer = 0;  // from 0, the lowest
  EntryKind kind = EntryKind::file;
};

using InodeId = std::uint32_t;

class ImageTree {
 public:
  ImageTree();

  PathTable& paths() { return paths_; }
  InodeId add_inode(const Inode& inode);  // not yet in the tree
  Inode& inode(InodeId id) { return inodes_[id]; }
  const Inode& inode(InodeId id) const { return inodes_[id]; }
  std::size_t inode_count() const { return inodes_.size(); }
  std::size_t node_count() const { return paths_.size(); }
  // Bytes that the tree takes, and lists made of it may take (PathTable::memory).
  std::uint64_t memory() const;
  std::uint32_t add_string(std::string_view text);
  const std::string& string(std::uint32_t id) const { return strings_[id]; }

  // Does what the entry says to the tree as it stands. Entries come layer by layer, lowest first, in the
  // order of each layer; whiteouts spare what the same layer made. Throws Error(input), without the entry's
  // number and name.
  void apply(InodeId id);

  // The node at a path, links in its folders followed but not itself; nullopt when nothing is there.
  std::optional<NodeId> lookup(std::string_view path);
  // As lookup, and a link at the end is followed too.
  std::optional<NodeId> lookup_followed(std::string_view path);

  // For writers: what stands at a node that is in the tree.
  InodeId inode_at(NodeId node) const { return slots_[node].inode; }
  std::vector<NodeId> children(NodeId folder) const;  // sorted by the names' bytes
  std::string_view name(NodeId node) const { return paths_.name(node); }
  NodeId parent(NodeId node) const { return paths_.parent(node); }
  std::string path(NodeId node) const { return paths_.path(node); }
  // Calls `use` with every node below the root, in no order.
  template <typename Use>
  void each_node(Use use) const {
    std::vector<NodeId> folders{kRootNode};
    while (!folders.empty()) {
      const NodeId folder = folders.back();
      folders.pop_back();
      for (NodeId node : children(folder)) {
        if (is(node, EntryKind::folder)) folders.push_back(node);
        use(node);
      }
    }
  }

 private:
  // The contents of a node. A node is in the tree if it has an inode, its folder is in the tree, and the
  // folder was not emptied since. Removing a folder increases its epoch, which removes everything below at
  // once.
  struct Slot {
    InodeId inode = kNone;
    std::uint32_t epoch = 0;
    std::uint32_t parent_epoch = 0;
    std::uint16_t touched = 0;  // 1 + the last layer that put something here or below
    std::uint16_t swept = 0;    // 1 + the last layer whose whiteouts went through here
  };
  struct Place {
    NodeId node = kRootNode;
    unsigned missing = 0;  // number of missing components at the end of the path
    bool present() const { return missing == 0; }
    Place above(const PathTable& paths) const { return {paths.parent(node), missing == 0 ? 0 : missing - 1}; }
  };

  Slot& slot(NodeId node);
  bool present_in(NodeId node, NodeId folder) const;
  bool is(NodeId node, EntryKind kind) const { return inodes_[slots_[node].inode].kind == kind; }
  Place child(const Place& folder, std::string_view name);
  Place resolve(NodeId literal, unsigned& links);  // the last link is followed too
  Place follow(const Place& link, unsigned& links);
  Place walk(Place from, std::string_view path, unsigned& links);
  Place literal_child(const Place& folder, NodeId literal);

  void put(InodeId id);
  Place make_folders(Place folder, std::uint16_t layer);
  void place(NodeId node, InodeId id, std::uint16_t layer);
  void remove(NodeId node);
  void white_out(InodeId id);
  void sweep(NodeId node, std::uint16_t layer);
  void sweep_children(NodeId node, std::uint16_t layer);
  std::optional<InodeId> link_target(NodeId literal);
  bool is_left_out(const Place& place) const;

  PathTable paths_;
  std::deque<Inode> inodes_;
  std::deque<Slot> slots_;
  std::deque<std::string> strings_;
  std::uint64_t string_bytes_ = 0;
  std::uint64_t link_steps_ = 0;
  std::unordered_map<NodeId, std::uint32_t>
      left_out_;  // device nodes, and the epoch of their folder at the time
};

}  // namespace kiln
