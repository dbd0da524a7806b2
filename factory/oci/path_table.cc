#include "factory/oci/path_table.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "factory/base/error.h"

namespace kiln {
namespace {

constexpr std::size_t kChunkBits = 20;
constexpr std::size_t kChunkSize = 1u << kChunkBits;
constexpr std::uint16_t kMostPathDepth = 1024;
constexpr std::size_t kMostPath = 4096;

}  // namespace

PathTable::PathTable() : nodes_(1), buckets_(1024, kNoNode) {
  std::random_device random;
  seed_ = (static_cast<std::uint64_t>(random()) << 32) | random();
  nodes_[kRootNode].name = store_name("");
}

std::string_view PathTable::name(NodeId node) const {
  std::uint32_t at = nodes_[node].name;
  const char* stored = chunks_[at >> kChunkBits].get() + (at & (kChunkSize - 1));
  return {stored + 1, static_cast<unsigned char>(*stored)};
}

std::string PathTable::path(NodeId node) const {
  std::vector<NodeId> chain;
  for (; node != kRootNode; node = parent(node)) chain.push_back(node);
  std::string text;
  for (auto id = chain.rbegin(); id != chain.rend(); ++id) {
    if (!text.empty()) text += '/';
    text += name(*id);
  }
  return text;
}

std::uint64_t PathTable::hash(NodeId parent, std::string_view name) const {
  std::uint64_t value = std::hash<std::string_view>{}(name) ^ seed_;
  value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9ull + parent * 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 32)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

std::size_t PathTable::bucket_of(NodeId parent, std::string_view wanted) const {
  std::size_t mask = buckets_.size() - 1;
  std::size_t bucket = hash(parent, wanted) & mask;
  while (buckets_[bucket] != kNoNode) {
    NodeId node = buckets_[bucket];
    if (nodes_[node].parent == parent && name(node) == wanted) break;
    bucket = (bucket + 1) & mask;
  }
  return bucket;
}

NodeId PathTable::find(NodeId parent, std::string_view name) const {
  return buckets_[bucket_of(parent, name)];
}

NodeId PathTable::insert(NodeId parent, std::string_view name) {
  std::size_t bucket = bucket_of(parent, name);
  if (buckets_[bucket] != kNoNode) return buckets_[bucket];
  if (nodes_[parent].depth >= kMostPathDepth)
    throw Error(ExitCode::input, "folders are nested deeper than " + std::to_string(kMostPathDepth));
  const std::size_t length = nodes_[parent].length + (parent == kRootNode ? 0 : 1) + name.size();
  if (length > kMostPath)
    throw Error(ExitCode::input, "a path is longer than " + std::to_string(kMostPath) + " bytes");
  auto node = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({parent, kNoNode, nodes_[parent].first_child, store_name(name),
                    static_cast<std::uint16_t>(nodes_[parent].depth + 1),
                    static_cast<std::uint16_t>(length)});
  path_bytes_ += length;
  nodes_[parent].first_child = node;
  buckets_[bucket] = node;
  if (nodes_.size() * 4 > buckets_.size() * 3) grow();
  return node;
}

std::uint64_t PathTable::memory() const {
  return nodes_.size() * sizeof(Node) + buckets_.size() * sizeof(NodeId) + chunks_.size() * kChunkSize +
         path_bytes_;
}

NodeId PathTable::insert_path(std::string_view path) {
  NodeId node = kRootNode;
  while (!path.empty()) {
    std::string_view component = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), component.size() + 1));
    node = insert(node, component);
  }
  return node;
}

std::uint32_t PathTable::store_name(std::string_view name) {
  if (chunks_.empty() || chunk_used_ + name.size() + 1 > kChunkSize) {
    if (chunks_.size() == 1u << (32 - kChunkBits))
      throw Error(ExitCode::input, "the names fill more than 4 GiB");
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunkSize));
    chunk_used_ = 0;
  }
  char* place = chunks_.back().get() + chunk_used_;
  *place = static_cast<char>(static_cast<unsigned char>(name.size()));
  std::memcpy(place + 1, name.data(), name.size());
  auto at = static_cast<std::uint32_t>(((chunks_.size() - 1) << kChunkBits) | chunk_used_);
  chunk_used_ += name.size() + 1;
  return at;
}

void PathTable::grow() {
  std::vector<NodeId> old(buckets_.size() * 2, kNoNode);
  old.swap(buckets_);
  for (NodeId node : old)
    if (node != kNoNode) buckets_[bucket_of(nodes_[node].parent, name(node))] = node;
}

}  // namespace kiln
