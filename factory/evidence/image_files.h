// The files of an image that evidence is about, read out of its layers as they stream by: nothing is unpacked
// and nothing is run. ELF files are examined on the way; small texts are kept where they may configure the
// loader.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/effects.h"
#include "evidence/file_facts.h"
#include "oci/image_source.h"
#include "oci/image_tree.h"
#include "oci/layer_merge.h"

namespace kiln::evidence {

// Facts found before, by the digest of the file's bytes.
class FactsCache {
 public:
  virtual ~FactsCache() = default;
  virtual std::optional<FileFacts> find(const Digest& digest) = 0;
  virtual void keep(const Digest& digest, const FileFacts& facts) = 0;
};

// A cache in a folder, one file for each ELF file with at least kCachedCode bytes of code: less is scanned
// faster than read. Damaged and older files are as good as absent.
class FolderCache final : public FactsCache {
 public:
  static constexpr std::uint64_t kCachedCode = 4u << 20;
  FolderCache(fs::path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}
  std::optional<FileFacts> find(const Digest& digest) override;
  void keep(const Digest& digest, const FileFacts& facts) override;

 private:
  fs::path file(const Digest& digest) const { return folder_ / (digest.hex() + ".json"); }
  fs::path folder_;
  FileSystem& files_;
};

struct ReadOptions {
  unsigned jobs = 1;
  FactsCache* cache = nullptr;
  ContentSink* also = nullptr;  // takes the same contents, with the same ids: one pass for two readers
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;  // compressed bytes
};

// What a regular file holds.
struct Content {
  std::optional<FileFacts> facts;  // of an ELF file
  std::string damage;              // of a file that begins like ELF and is none
  std::string text;                // of a small text file
  std::uint64_t size = 0;
};

struct ImageFiles {
  ImageTree tree;
  std::deque<Content> contents;  // by the payload of a file's inode
  std::size_t layers = 0;
  std::size_t from_cache = 0;
};

// One layer of an image, lowest first.
struct LayerBlob {
  fs::path file;
  Descriptor descriptor;
  Digest diff_id;
};

// Throw Error(input) for damaged layers, as LayerMerge does.
ImageFiles read_image(const SourceImage& image, const ReadOptions& options);
ImageFiles read_layers(const std::vector<LayerBlob>& layers, const ReadOptions& options);
// A plain folder as an image of one layer: links are kept as they are, other file systems are not entered.
ImageFiles read_folder(const fs::path& folder, const ReadOptions& options);

}  // namespace kiln::evidence
