// Names of all layers, each path stored once: millions of paths in little memory, looked up by (parent,
// name).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr NodeId kNoNode = UINT32_MAX;

// A tree of names that only grows. A node says that somebody named this path, not that a file is there.
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
  // Bytes that the table takes, and those that a list of all paths would: some who read an image make one.
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

}  // namespace kiln
