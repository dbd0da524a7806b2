#include "factory/oci/image_tree.h"

#include <fmt/format.h>

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

namespace {

constexpr unsigned kMostLinks = 255;  // followed on one way
// Components of link targets walked for one image: so many, and so many more for each of its entries.
constexpr std::uint64_t kLinkSteps = 1'000'000;
constexpr std::uint64_t kLinkStepsOfAnEntry = 64;
constexpr std::uint64_t kLeftOut = 48;  // bytes of memory that one of a hash table takes

[[noreturn]] void bad_tree(const std::string& what) { throw Error(ExitCode::input, what); }

}  // namespace

ImageTree::ImageTree() {
  Inode root;
  root.kind = EntryKind::folder;
  root.mode = 0755;
  inodes_.push_back(root);
  slot(kRootNode).inode = 0;
}

InodeId ImageTree::add_inode(const Inode& inode) {
  inodes_.push_back(inode);
  return static_cast<InodeId>(inodes_.size() - 1);
}

std::uint32_t ImageTree::add_string(std::string_view text) {
  strings_.emplace_back(text);
  string_bytes_ += sizeof(std::string) + text.size();
  return static_cast<std::uint32_t>(strings_.size() - 1);
}

std::uint64_t ImageTree::memory() const {
  return paths_.memory() + inodes_.size() * sizeof(Inode) + slots_.size() * sizeof(Slot) + string_bytes_ +
         left_out_.size() * kLeftOut;
}

ImageTree::Slot& ImageTree::slot(NodeId node) {
  if (node >= slots_.size()) slots_.resize(std::max<std::size_t>(paths_.size(), node + 1));
  return slots_[node];
}

// REQUIRES: `folder` is in the tree.
bool ImageTree::present_in(NodeId node, NodeId folder) const {
  if (node >= slots_.size()) return false;
  const Slot& here = slots_[node];
  return here.inode != kNone && here.parent_epoch == slots_[folder].epoch;
}

ImageTree::Place ImageTree::child(const Place& folder, std::string_view name) {
  return literal_child(folder, paths_.insert(folder.node, name));
}

// The node of `literal`'s name below `folder`, mostly `literal` itself.
ImageTree::Place ImageTree::literal_child(const Place& folder, NodeId literal) {
  if (folder.node != paths_.parent(literal)) return child(folder, paths_.name(literal));
  slot(literal);
  bool present = folder.present() && present_in(literal, folder.node);
  return {literal, present ? 0 : folder.missing + 1};
}

ImageTree::Place ImageTree::resolve(NodeId literal, unsigned& links) {
  if (literal == kRootNode) return {};
  Place folder = resolve(paths_.parent(literal), links);
  return follow(literal_child(folder, literal), links);
}

ImageTree::Place ImageTree::follow(const Place& link, unsigned& links) {
  if (!link.present() || !is(link.node, EntryKind::symlink)) return link;
  if (++links > kMostLinks) bad_tree(fmt::format("leads through more than {} symbolic links", kMostLinks));
  const std::string& target = strings_[inodes_[slots_[link.node].inode].payload];
  return walk(target.starts_with('/') ? Place{} : link.above(paths_), target, links);
}

// Lexical where nothing is there, so that a dangling link names the place where its target would be.
ImageTree::Place ImageTree::walk(Place from, std::string_view path, unsigned& links) {
  while (!path.empty()) {
    std::string_view component = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), component.size() + 1));
    if (++link_steps_ > kLinkSteps + kLinkStepsOfAnEntry * inodes_.size())
      bad_tree("leads through too many symbolic links, with those before it");
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      from = from.above(paths_);
      continue;
    }
    if (component.size() > 255)
      bad_tree("leads through a symbolic link whose target has too long a component");
    from = follow(child(from, component), links);
  }
  return from;
}

std::optional<NodeId> ImageTree::lookup(std::string_view path) {
  unsigned links = 0;
  NodeId literal = paths_.insert_path(path);
  if (literal == kRootNode) return kRootNode;
  Place place = literal_child(resolve(paths_.parent(literal), links), literal);
  return place.present() ? std::optional(place.node) : std::nullopt;
}

std::optional<NodeId> ImageTree::lookup_followed(std::string_view path) {
  unsigned links = 0;
  Place place = resolve(paths_.insert_path(path), links);
  return place.present() ? std::optional(place.node) : std::nullopt;
}

std::vector<NodeId> ImageTree::children(NodeId folder) const {
  std::vector<NodeId> found;
  for (NodeId node = paths_.first_child(folder); node != kNoNode; node = paths_.next_sibling(node))
    if (present_in(node, folder)) found.push_back(node);
  std::ranges::sort(found, [this](NodeId a, NodeId b) { return name(a) < name(b); });
  return found;
}

void ImageTree::apply(InodeId id) {
  EntryKind kind = inodes_[id].kind;
  if (kind == EntryKind::whiteout || kind == EntryKind::opaque)
    white_out(id);
  else
    put(id);
}

void ImageTree::put(InodeId id) {
  const Inode& entry = inodes_[id];
  std::uint16_t layer = entry.layer;
  if (entry.path == kRootNode) {  // the reader lets only folders name the root
    slot(kRootNode).inode = id;
    return;
  }
  unsigned links = 0;
  Place folder = make_folders(resolve(paths_.parent(entry.path), links), layer);
  Place here = literal_child(folder, entry.path);
  left_out_.erase(here.node);
  bool merges = here.present() && entry.kind == EntryKind::folder && is(here.node, EntryKind::folder);
  if (here.present() && !merges) remove(here.node);
  // Apptainer binds the host's /dev: device nodes are left out, and with them their hard links.
  const std::optional<InodeId> what =
      entry.kind == EntryKind::hard_link ? link_target(entry.payload) : std::optional(id);
  if (entry.kind == EntryKind::device || !what)
    left_out_[here.node] = slots_[folder.node].epoch;
  else
    place(here.node, *what, layer);
}

// nullopt: of a device node, which was left out.
std::optional<InodeId> ImageTree::link_target(NodeId literal) {
  unsigned links = 0;
  if (literal == kRootNode) bad_tree("is a hard link to a folder");
  Place target = literal_child(resolve(paths_.parent(literal), links), literal);
  if (!target.present() && is_left_out(target)) return std::nullopt;
  if (!target.present())
    bad_tree(fmt::format("is a hard link to '{}', which is missing", paths_.path(literal)));
  if (is(target.node, EntryKind::folder)) bad_tree("is a hard link to a folder");
  return slots_[target.node].inode;
}

bool ImageTree::is_left_out(const Place& place) const {
  auto found = left_out_.find(place.node);
  const bool folder_is_there = place.missing == 1;
  return folder_is_there && found != left_out_.end() &&
         found->second == slots_[paths_.parent(place.node)].epoch;
}

// A layer may leave out folders that it did not change; where nobody made them they are root's, mode 0755.
ImageTree::Place ImageTree::make_folders(Place folder, std::uint16_t layer) {
  if (folder.present()) {
    if (!is(folder.node, EntryKind::folder))
      bad_tree(fmt::format("lies below '{}', which is not a folder", paths_.path(folder.node)));
    return folder;
  }
  make_folders(folder.above(paths_), layer);
  Inode implied;
  implied.kind = EntryKind::folder;
  implied.mode = 0755;
  implied.path = folder.node;
  implied.layer = layer;
  place(folder.node, add_inode(implied), layer);
  return {folder.node, 0};
}

void ImageTree::place(NodeId node, InodeId id, std::uint16_t layer) {
  Slot& here = slot(node);
  NodeId above = paths_.parent(node);
  bool was_present = present_in(node, above);
  if (!was_present) ++here.epoch;  // what was below it in an earlier life stays away
  here.inode = id;
  here.parent_epoch = slots_[above].epoch;
  auto mark = static_cast<std::uint16_t>(layer + 1);
  for (NodeId up = node;; up = paths_.parent(up)) {
    if (slots_[up].touched == mark && up != node) break;
    slots_[up].touched = mark;
    if (up == kRootNode) break;
  }
}

void ImageTree::remove(NodeId node) {
  Slot& here = slot(node);
  here.inode = kNone;
  here.touched = 0;
  ++here.epoch;
}

void ImageTree::white_out(InodeId id) {
  const Inode& entry = inodes_[id];
  unsigned links = 0;
  if (entry.kind == EntryKind::opaque) {
    Place folder = resolve(entry.path, links);
    if (folder.present() && is(folder.node, EntryKind::folder)) sweep_children(folder.node, entry.layer);
    return;
  }
  if (entry.path == kRootNode) return;
  Place folder = resolve(paths_.parent(entry.path), links);
  Place here = literal_child(folder, entry.path);
  left_out_.erase(here.node);
  if (here.present()) sweep(here.node, entry.layer);
}

// Removes what lower layers left at a node and below it, and keeps what `layer` made.
void ImageTree::sweep(NodeId node, std::uint16_t layer) {
  if (slots_[node].touched != layer + 1)
    remove(node);
  else if (is(node, EntryKind::folder))
    sweep_children(node, layer);
}

void ImageTree::sweep_children(NodeId node, std::uint16_t layer) {
  Slot& here = slot(node);
  if (here.swept == layer + 1) return;  // whatever is below now, this layer made
  here.swept = static_cast<std::uint16_t>(layer + 1);
  if (here.touched != layer + 1) {
    ++here.epoch;
    return;
  }
  for (NodeId below = paths_.first_child(node); below != kNoNode; below = paths_.next_sibling(below))
    if (present_in(below, node)) sweep(below, layer);
}

}  // namespace kiln
