#include "factory/oci/image_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/oci/layer_merge.h"

namespace kiln {
namespace {

constexpr auto kChanges = enum_names<FileChange>(
    {{FileChange::added, "added"}, {FileChange::removed, "removed"}, {FileChange::changed, "changed"}});

// Contents as digests, by content id.
class DigestSink final : public ContentSink {
 public:
  std::uint32_t begin_file() override {
    contents.push_back({});
    return static_cast<std::uint32_t>(contents.size() - 1);
  }
  void append(std::string_view bytes) override {
    hasher_.update(bytes.data(), bytes.size());
    contents.back().size += bytes.size();
  }
  void end_file() override {
    contents.back().digest = hasher_.finish();
    hasher_ = Hasher();
  }

  struct Content {
    Digest digest;
    std::uint64_t size = 0;
  };
  std::vector<Content> contents;

 private:
  Hasher hasher_;
};

struct Files {
  explicit Files(const SourceImage& source, const EntryLimits& entry_limits, const LayerLimits& layer_limits)
      : image(source),
        merge(
            image.layer_count(), [&](std::size_t layer) { return image.open_layer(layer, layer_limits); },
            sink, entry_limits, layer_limits) {
    merge.run();
    first_names.assign(merge.tree().inode_count(), kNoNode);
    merge.tree().each_node([&](NodeId node) {
      NodeId& first = first_names[merge.tree().inode_at(node)];
      if (first == kNoNode || path(node) < path(first)) first = node;
    });
  }

  std::string path(NodeId node) const { return "/" + merge.tree().path(node); }
  const Inode& inode(InodeId id) const { return merge.tree().inode(id); }
  const Inode& at(NodeId node) const { return inode(merge.tree().inode_at(node)); }
  std::string made_by(const Inode& of) const {
    std::size_t layer = of.layer;
    for (const HistoryEntry& entry : image.config().history) {
      if (entry.empty_layer) continue;
      if (layer-- == 0) return entry.created_by;
    }
    return "";
  }

  const SourceImage& image;
  DigestSink sink;
  LayerMerge merge;
  std::vector<NodeId> first_names;  // of inodes, which have several where there are hard links
};

std::string_view word(EntryKind kind) {
  switch (kind) {
    case EntryKind::file:
      return "file";
    case EntryKind::folder:
      return "folder";
    case EntryKind::symlink:
      return "symbolic link";
    case EntryKind::fifo:
      return "FIFO";
    default:
      return "other";
  }
}

std::map<std::string, std::string> xattrs_of(const Files& files, const Inode& inode) {
  if (inode.xattrs == kNone) return {};
  const Xattrs& set = files.merge.xattr_sets()[inode.xattrs];
  return {set.begin(), set.end()};
}

template <typename Value>
void names_that_differ(const std::map<std::string, Value>& before, const std::map<std::string, Value>& now,
                       const std::string& what, std::vector<std::string>& found) {
  std::map<std::string, int> names;
  for (const auto& [name, value] : before) {
    auto other = now.find(name);
    if (other == now.end() || other->second != value) names[name];
  }
  for (const auto& [name, value] : now)
    if (!before.contains(name)) names[name];
  for (const auto& [name, unused] : names) found.push_back(what + " " + name);
}

void compare_contents(const Files& before, const Inode& a, const Files& now, const Inode& b,
                      std::vector<std::string>& what) {
  if (a.kind == EntryKind::symlink) {
    const std::string& from = before.merge.tree().string(a.payload);
    const std::string& to = now.merge.tree().string(b.payload);
    if (from != to) what.push_back(fmt::format("target {} → {}", from, to));
  }
  if (a.kind != EntryKind::file) return;
  const auto& from = before.sink.contents[a.payload];
  const auto& to = now.sink.contents[b.payload];
  if (from.size != to.size)
    what.push_back(fmt::format("content ({} → {} bytes)", from.size, to.size));
  else if (from.digest != to.digest)
    what.emplace_back("content");
}

// REQUIRES: the nodes have the same path.
std::vector<std::string> compare_files(const Files& before, NodeId left, const Files& now, NodeId right) {
  const InodeId first = before.merge.tree().inode_at(left);
  const InodeId second = now.merge.tree().inode_at(right);
  const Inode& a = before.inode(first);
  const Inode& b = now.inode(second);
  if (a.kind != b.kind) return {fmt::format("{} → {}", word(a.kind), word(b.kind))};
  std::vector<std::string> what;
  compare_contents(before, a, now, b, what);
  if (a.mode != b.mode && a.kind != EntryKind::symlink)
    what.push_back(fmt::format("mode {:o} → {:o}", a.mode, b.mode));
  if (a.uid != b.uid || a.gid != b.gid)
    what.push_back(fmt::format("owner {}:{} → {}:{}", a.uid, a.gid, b.uid, b.gid));
  if (a.mtime != b.mtime) what.push_back(fmt::format("time {} → {}", a.mtime, b.mtime));
  names_that_differ(xattrs_of(before, a), xattrs_of(now, b), "xattr", what);
  NodeId was = before.first_names[first];
  NodeId is = now.first_names[second];
  bool alone = was == left && is == right;
  if (!alone && before.path(was) != now.path(is)) what.emplace_back("hard link");
  return what;
}

// Goes through both trees side by side: names are kept of what differs only.
class TreeComparison {
 public:
  TreeComparison(const Files& before, const Files& now, ImageDifference& difference)
      : before_(before), now_(now), difference_(difference) {}

  // Of a folder that one of the two may lack (kNoNode).
  void compare_folders(NodeId left, NodeId right) {
    const std::vector<NodeId> a = children(before_, left);
    const std::vector<NodeId> b = children(now_, right);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
      int order = i == a.size() ? 1 : j == b.size() ? -1 : name(before_, a[i]).compare(name(now_, b[j]));
      compare(order <= 0 ? a[i++] : kNoNode, order >= 0 ? b[j++] : kNoNode);
    }
  }

 private:
  static std::vector<NodeId> children(const Files& files, NodeId folder) {
    bool is_folder = folder != kNoNode && files.at(folder).kind == EntryKind::folder;
    return is_folder ? files.merge.tree().children(folder) : std::vector<NodeId>();
  }
  static std::string_view name(const Files& files, NodeId node) { return files.merge.tree().name(node); }

  void compare(NodeId left, NodeId right) {
    ++difference_.compared;
    if (left == kNoNode || right == kNoNode) {
      const Files& files = left == kNoNode ? now_ : before_;
      NodeId node = left == kNoNode ? right : left;
      add(files, node, left == kNoNode ? FileChange::added : FileChange::removed, {});
    } else {
      auto what = compare_files(before_, left, now_, right);
      if (!what.empty()) add(now_, right, FileChange::changed, std::move(what));
    }
    compare_folders(left, right);
  }

  void add(const Files& files, NodeId node, FileChange change, std::vector<std::string> what) {
    difference_.files.push_back({files.path(node), change, std::move(what), files.made_by(files.at(node))});
  }

  const Files& before_;
  const Files& now_;
  ImageDifference& difference_;
};

std::map<std::string, std::string> variables(const ImageConfig& config) {
  std::map<std::string, std::string> result;
  for (const std::string& entry : config.env) {
    std::size_t equals = std::min(entry.find('='), entry.size());
    result[entry.substr(0, equals)] = entry.substr(std::min(equals + 1, entry.size()));
  }
  return result;
}

std::vector<std::string> compare_configurations(const ImageConfig& a, const ImageConfig& b) {
  std::vector<std::string> found;
  auto note = [&](bool differs, const char* what) {
    if (differs) found.emplace_back(what);
  };
  note(a.os != b.os || a.architecture != b.architecture || a.variant != b.variant, "platform");
  note(a.created != b.created, "created");
  note(a.entrypoint != b.entrypoint, "entrypoint");
  note(a.cmd != b.cmd, "command");
  note(a.working_dir != b.working_dir, "working directory");
  note(a.user != b.user, "user");
  names_that_differ(variables(a), variables(b), "env", found);
  names_that_differ(a.labels, b.labels, "label", found);
  return found;
}

}  // namespace

std::string_view name_of(FileChange change) { return kChanges.of(change); }

ImageDifference compare_images(const SourceImage& before, const SourceImage& now,
                               const EntryLimits& entry_limits, const LayerLimits& layer_limits) {
  ImageDifference difference;
  difference.configuration = compare_configurations(before.config(), now.config());
  Files first(before, entry_limits, layer_limits);
  Files second(now, entry_limits, layer_limits);
  TreeComparison(first, second, difference).compare_folders(kRootNode, kRootNode);
  std::ranges::sort(difference.files, {}, &FileDifference::path);
  return difference;
}

Json to_json(const ImageDifference& difference) {
  Json files = Json::array();
  for (const FileDifference& file : difference.files) {
    Json json{{"path", file.path}, {"change", name_of(file.change)}};
    if (!file.what.empty()) json["what"] = file.what;
    if (!file.made_by.empty()) json["made_by"] = file.made_by;
    files.push_back(std::move(json));
  }
  return {{"configuration", difference.configuration},
          {"files", std::move(files)},
          {"compared", difference.compared}};
}

}  // namespace kiln
