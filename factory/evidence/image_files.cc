#include "evidence/image_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "evidence/spool.h"

namespace kiln::evidence {
namespace {

constexpr std::size_t kTextLimit = 4096;          // of one file that may configure the loader
constexpr std::size_t kAllTextLimit = 64u << 20;  // of all of them
constexpr std::uint64_t kElfLimit = 16ull << 30;  // of one ELF file

// ld.so.conf includes files of any name, and which ones is known only when all layers are read: so every
// small text that could be such a file is kept, within kAllTextLimit.
bool may_configure_loader(std::string_view text) {
  bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '\n' || c == '\t' || c == '\r' || (c >= ' ' && c != 0x7f);
  });
  return plain && (text.find('/') != text.npos || text.find("include") != text.npos);
}

// Takes files as they stream by and examines each when it is whole.
class Examiner final : public ContentSink {
 public:
  explicit Examiner(const ReadOptions& options) : options_(options) {}

  std::uint32_t begin_file() override {
    contents_.emplace_back();
    spool_.clear();
    hasher_.reset();
    start_.clear();
    kind_ = Kind::undecided;
    return static_cast<std::uint32_t>(contents_.size() - 1);
  }

  void append(std::string_view bytes) override {
    contents_.back().size += bytes.size();
    if (kind_ == Kind::elf) return keep(bytes);
    if (kind_ == Kind::other) return;
    // A layer hands over files in pieces of any size: even the four bytes of the magic may come apart.
    start_.append(bytes.substr(0, kTextLimit + 1 - std::min(start_.size(), kTextLimit + 1)));
    if (start_.size() < 4) return;
    if (is_elf(start_)) {
      kind_ = Kind::elf;
      hasher_ = std::make_unique<Hasher>();
      // start_ holds all that came before and the beginning of these bytes.
      std::size_t before = static_cast<std::size_t>(contents_.back().size) - bytes.size();
      keep(std::string_view(start_).substr(0, before));
      keep(bytes);
    } else if (start_.size() > kTextLimit) {
      kind_ = Kind::other;
    }
  }

  void end_file() override {
    if (kind_ == Kind::elf) return examine_elf();
    if (kind_ == Kind::undecided && text_bytes_ < kAllTextLimit && may_configure_loader(start_)) {
      text_bytes_ += start_.size();
      contents_.back().text = start_;
    }
  }

  std::deque<Content> take() { return std::move(contents_); }
  std::size_t from_cache() const { return from_cache_; }

 private:
  enum class Kind { undecided, elf, other };

  void keep(std::string_view bytes) {
    if (spool_.size() + bytes.size() > kElfLimit)
      throw Error(ExitCode::input, fmt::format("an ELF file is larger than {} bytes", kElfLimit));
    hasher_->update(bytes);
    spool_.append(bytes);
  }

  void examine_elf() {
    Content& content = contents_.back();
    Digest digest = hasher_->finish();
    if (options_.cache != nullptr) content.facts = options_.cache->find(digest);
    if (content.facts) {
      ++from_cache_;
      return;
    }
    try {
      content.facts = examine(spool_.bytes(), options_.jobs);
      if (options_.cache != nullptr) options_.cache->keep(digest, *content.facts);
    } catch (const Error& error) {
      // One damaged file is a finding of its own, not the end of the report.
      if (error.code() != ExitCode::input) throw;
      content.damage = error.message();
    }
  }

  const ReadOptions& options_;
  std::deque<Content> contents_;
  Spool spool_;
  std::unique_ptr<Hasher> hasher_;
  std::string start_;
  Kind kind_ = Kind::undecided;
  std::size_t text_bytes_ = 0;
  std::size_t from_cache_ = 0;
};

// Hands everything on to two takers.
class BothSinks final : public ContentSink {
 public:
  BothSinks(ContentSink& first, ContentSink& second) : first_(first), second_(second) {}
  void next_file(const PathTable& paths, NodeId path) override {
    first_.next_file(paths, path);
    second_.next_file(paths, path);
  }
  std::uint32_t begin_file() override {
    second_.begin_file();
    return first_.begin_file();
  }
  void append(std::string_view bytes) override {
    first_.append(bytes);
    second_.append(bytes);
  }
  void end_file() override {
    first_.end_file();
    second_.end_file();
  }

 private:
  ContentSink& first_;
  ContentSink& second_;
};

ImageFiles merge_layers(std::size_t count, const LayerMerge::OpenLayer& open, const ReadOptions& options) {
  Examiner examiner(options);
  std::optional<BothSinks> both;
  if (options.also != nullptr) both.emplace(examiner, *options.also);
  ContentSink& sink = both ? static_cast<ContentSink&>(*both) : examiner;
  LayerMerge merge(count, open, sink);
  merge.run();
  ImageFiles files;
  files.tree = std::move(merge.tree());
  files.contents = examiner.take();
  files.layers = count;
  files.from_cache = examiner.from_cache();
  return files;
}

// Walks a folder on disk; nothing in it is followed.
class FolderReader {
 public:
  FolderReader(const fs::path& root, const ReadOptions& options) : root_(root), examiner_(options) {}

  ImageFiles run() {
    walk(root_, "");
    files_.contents = examiner_.take();
    files_.layers = 1;
    files_.from_cache = examiner_.from_cache();
    return std::move(files_);
  }

 private:
  // In the order of names: the numbers of contents must not depend on the file system.
  void walk(const fs::path& folder, const std::string& inside) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied))
      names.insert(entry.path().filename().string());
    for (const std::string& name : names) {
      if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
      std::string path = inside.empty() ? name : inside + "/" + name;
      struct stat status {};
      if (::lstat((folder / name).c_str(), &status) != 0) continue;
      add(folder / name, path, status);
      if (S_ISDIR(status.st_mode)) walk(folder / name, path);
    }
  }

  void add(const fs::path& file, const std::string& path, const struct stat& status) {
    Inode inode;
    inode.path = files_.tree.paths().insert_path(path);
    inode.mode = static_cast<std::uint16_t>(status.st_mode & 07777);
    if (S_ISDIR(status.st_mode)) {
      inode.kind = EntryKind::folder;
    } else if (S_ISLNK(status.st_mode)) {
      inode.kind = EntryKind::symlink;
      inode.payload = files_.tree.add_string(fs::read_symlink(file).string());
    } else if (S_ISREG(status.st_mode)) {
      inode.payload = read(file);
    } else {
      return;
    }
    files_.tree.apply(files_.tree.add_inode(inode));
  }

  std::uint32_t read(const fs::path& path) {
    ReadOnlyFile file(path);
    std::uint32_t content = examiner_.begin_file();
    std::string buffer(1u << 20, '\0');
    for (std::uint64_t done = 0; done < file.size();) {
      std::size_t got = file.read_at(done, buffer.data(), buffer.size());
      if (got == 0) break;
      examiner_.append(std::string_view(buffer).substr(0, got));
      done += got;
    }
    examiner_.end_file();
    return content;
  }

  fs::path root_;
  Examiner examiner_;
  ImageFiles files_;
};

}  // namespace

std::optional<FileFacts> FolderCache::find(const Digest& digest) {
  auto bytes = files_.read(file(digest));
  if (!bytes) return std::nullopt;
  try {
    JsonNode root = JsonDocument::parse(*bytes, file(digest).string()).root();
    if (root.at("version").string() != facts_version()) return std::nullopt;
    return file_facts_from_json(root.at("facts"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void FolderCache::keep(const Digest& digest, const FileFacts& facts) {
  if (facts.code_bytes < kCachedCode) return;
  files_.write(file(digest), Json{{"version", facts_version()}, {"facts", to_json(facts)}}.dump());
}

ImageFiles read_image(const SourceImage& image, const ReadOptions& options) {
  std::uint64_t done = 0;
  return merge_layers(
      image.layer_count(),
      [&](std::size_t layer) {
        if (options.progress) options.progress(done, image.compressed_size());
        done += image.layer_size(layer);
        return image.open_layer(layer, {});
      },
      options);
}

ImageFiles read_layers(const std::vector<LayerBlob>& layers, const ReadOptions& options) {
  std::deque<ReadOnlyFile> files;
  for (const LayerBlob& layer : layers) files.emplace_back(layer.file);
  return merge_layers(
      layers.size(),
      [&](std::size_t i) {
        BlobSection blob{&files[i], 0, files[i].size()};
        return std::make_unique<LayerStream>(blob, layers[i].descriptor, layers[i].diff_id, LayerLimits{});
      },
      options);
}

ImageFiles read_folder(const fs::path& folder, const ReadOptions& options) {
  if (!fs::is_directory(folder))
    throw Error(ExitCode::usage, fmt::format("'{}' is not a folder", folder.string()));
  return FolderReader(folder, options).run();
}

}  // namespace kiln::evidence
