// The entries of a layer's tar stream, checked by the rules of images.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/oci/layer_stream.h"

namespace kiln {

enum class EntryKind : std::uint8_t { file, folder, symlink, hard_link, fifo, device, whiteout, opaque };

using Xattrs = std::vector<std::pair<std::string, std::string>>;  // by name

// One entry. Paths are relative to the image's root: components of 1 to 255 bytes joined by "/", no "." or
// "..";
// "" is the root itself. A whiteout's path is what it removes; an opaque marker's is the folder that it
// empties.
struct LayerEntry {
  std::uint64_t number = 0;  // from 1, in the layer
  EntryKind kind = EntryKind::file;
  std::string path;
  std::string target;      // of a symlink: as written; of a hard link: a path as above
  std::uint16_t mode = 0;  // permission bits with set-id and sticky
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t mtime = 0;  // seconds
  std::uint64_t size = 0;  // of a file, holes included
  Xattrs xattrs;
};

struct EntryLimits {
  std::uint64_t entries = 5'000'000;  // of all layers
  std::size_t path = 4096;            // bytes
  std::size_t component = 255;
  std::size_t sparse_regions = 65'536;  // 1 MiB of map
  std::size_t xattr_value = 64u << 10;
  std::size_t xattrs = 128;  // of one entry
};

// Checks a path of a tar entry and takes "./", "//" and leading and trailing slashes away.
// Throws Error(input) for "..", too long paths and components.
std::string entry_path(std::string_view raw, const EntryLimits& limits);

// An entry's name for an error: its first 200 bytes, control characters made visible, since it goes to
// terminals and logs.
std::string shown_name(std::string_view raw);

// A layer's entries in its order, wherever they come from.
class LayerEntries {
 public:
  virtual ~LayerEntries() = default;
  // False at the end of the layer, whose digests were then right. Throws Error(input) that names the entry.
  virtual bool next(LayerEntry& entry) = 0;
  // The content of the file that next() gave, in order; holes come as zeros. Call at most once for an entry.
  virtual void read_content(const std::function<void(std::string_view)>& sink) = 0;
  // The kept extract of that content (layer_extract.h); nullopt if the content itself can be read.
  virtual std::optional<std::string_view> extract() const { return std::nullopt; }
  virtual std::uint64_t compressed_bytes_read() const = 0;
  // An error about the entry that next() gave: "entry #7 'a/b': …".
  [[noreturn]] virtual void refuse(const std::string& why) const = 0;
};

class LayerReader final : public LayerEntries {
 public:
  // `stream` outlives the reader.
  LayerReader(LayerStream& stream, const EntryLimits& limits, const LayerLimits& layer_limits);
  LayerReader(std::unique_ptr<LayerStream> stream, const EntryLimits& limits,
              const LayerLimits& layer_limits);
  ~LayerReader() override;

  bool next(LayerEntry& entry) override;
  void read_content(const std::function<void(std::string_view)>& sink) override;
  std::uint64_t compressed_bytes_read() const override;
  [[noreturn]] void refuse(const std::string& why) const override;

 private:
  struct State;
  std::unique_ptr<LayerStream> stream_;  // null: the caller's
  std::unique_ptr<State> state_;
};

}  // namespace kiln
