#include "factory/evidence/image_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

namespace kiln::evidence {
namespace {

constexpr std::size_t kAllTextLimit = 64u << 20;  // of all texts that may configure the loader

// Takes files as they stream by, and keeps what is found in each.
class Examiner final : public ContentSink {
 public:
  explicit Examiner(const ReadOptions& options) : examiner_(options.jobs, options.cache) {}

  std::uint32_t begin_file() override {
    contents_.emplace_back();
    examiner_.begin();
    return static_cast<std::uint32_t>(contents_.size() - 1);
  }
  void append(std::string_view bytes) override { examiner_.append(bytes); }
  void end_file() override { keep(examiner_.end()); }
  void take_extract(std::string_view extract) override { keep(content_from_bytes(extract)); }

  std::deque<Content> contents() { return std::move(contents_); }

 private:
  // Of the texts no more than an image may have, whether they are read or come out of extracts.
  void keep(Content content) {
    if (text_bytes_ >= kAllTextLimit) content.text.clear();
    text_bytes_ += content.text.size();
    contents_.back() = std::move(content);
  }

  FileExaminer examiner_;
  std::deque<Content> contents_;
  std::size_t text_bytes_ = 0;
};

ImageFiles merge_layers(std::size_t count, const LayerMerge::OpenEntries& open, const ReadOptions& options) {
  Examiner examiner(options);
  std::optional<BothSinks> both;
  if (options.also != nullptr) both.emplace(examiner, *options.also);
  ContentSink& sink = both ? static_cast<ContentSink&>(*both) : examiner;
  LayerMerge merge(count, open, sink);
  merge.run();
  ImageFiles files;
  files.tree = std::move(merge.tree());
  files.contents = examiner.contents();
  files.layers = count;
  return files;
}

// Walks a folder on disk; nothing in it is followed.
class FolderReader {
 public:
  FolderReader(const fs::path& root, const ReadOptions& options) : root_(root), examiner_(options) {}

  ImageFiles run() {
    walk(root_, "");
    files_.contents = examiner_.contents();
    files_.layers = 1;
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

std::unique_ptr<LayerEntries> read_layer(const ReadOnlyFile& file, const LayerBlob& layer) {
  auto stream = std::make_unique<LayerStream>(BlobSection{&file, 0, file.size()}, layer.descriptor,
                                              layer.diff_id, LayerLimits{});
  return std::make_unique<LayerReader>(std::move(stream), EntryLimits{}, LayerLimits{});
}

}  // namespace

ImageFiles read_image(const SourceImage& image, const ReadOptions& options) {
  std::uint64_t done = 0;
  return merge_layers(
      image.layer_count(),
      [&](std::size_t layer) {
        if (options.progress) options.progress(done, image.compressed_size());
        done += image.layer_size(layer);
        return std::make_unique<LayerReader>(image.open_layer(layer, {}), EntryLimits{}, LayerLimits{});
      },
      options);
}

ImageFiles read_layers(const std::vector<LayerBlob>& layers, const ReadOptions& options) {
  std::deque<ReadOnlyFile> files;
  for (const LayerBlob& layer : layers) files.emplace_back(layer.file);
  return merge_layers(
      layers.size(),
      [&](std::size_t i) {
        auto extract = options.extracts != nullptr ? options.extracts->open(layers[i]) : nullptr;
        return extract ? std::move(extract) : read_layer(files[i], layers[i]);
      },
      options);
}

ImageFiles read_folder(const fs::path& folder, const ReadOptions& options) {
  if (!fs::is_directory(folder))
    throw Error(ExitCode::usage, fmt::format("'{}' is not a folder", folder.string()));
  return FolderReader(folder, options).run();
}

}  // namespace kiln::evidence
