#include "factory/oci/layer_extract.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "factory/base/effects.h"
#include "factory/base/field_bytes.h"

namespace kiln {

// An entry but for its number, which is its place, and its path. What is added to entries does not compile
// until it is added here; then kFindings of package/kept_findings.cc is increased.
template <typename Bytes>
static void fields(Bytes& bytes, LayerEntry& entry) {
  [[maybe_unused]] auto& [number, kind, path, target, mode, uid, gid, mtime, size, xattrs] = entry;
  bytes(kind, target, mode, uid, gid, mtime, size, xattrs);
}

namespace {

constexpr std::uint64_t kEnd = 0;  // in the place of an entry

std::size_t common_start(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first - a.begin());
}

constexpr int kLevel = 3;  // of zstd

std::string packed(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0)
    throw Error(ExitCode::internal, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  frame.resize(size);
  return frame;
}

std::string unpacked(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size > kMostExtract + 64)  // with its end; errors are larger than all sizes
    throw Error(ExitCode::input, "is no extract of a layer");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size()) != bytes.size())
    throw Error(ExitCode::input, "a layer's extract is damaged");
  return bytes;
}

class ExtractWriter {
 public:
  // `compressed`: bytes of the layer that were read when the entry was.
  void add(LayerEntry& entry, std::uint64_t compressed) {
    bytes_.number(1);
    const std::size_t same = common_start(entry.path, path_);
    bytes_.number(same);
    bytes_.text(std::string_view(entry.path).substr(same));
    path_ = entry.path;
    bytes_(entry);
    count(compressed);
  }
  void add_content(std::string_view extract) { bytes_.text(extract); }
  std::size_t size() const { return bytes_.size(); }
  std::string finish(std::uint64_t compressed) {
    bytes_.number(kEnd);
    count(compressed);
    return packed(bytes_.finish());
  }

 private:
  void count(std::uint64_t compressed) {
    bytes_.number(compressed - compressed_);
    compressed_ = compressed;
  }
  ToBytes bytes_;
  std::string path_;
  std::uint64_t compressed_ = 0;
};

class ExtractReader final : public LayerEntries {
 public:
  explicit ExtractReader(std::string_view extract) : extract_(unpacked(extract)), bytes_(extract_) {}

  bool next(LayerEntry& entry) override {
    const bool more = bytes_.number() != kEnd;
    if (more) read(entry);
    compressed_ += bytes_.number();
    content_.reset();
    if (more && entry.kind == EntryKind::file) content_ = bytes_.text();
    if (!more && !bytes_.at_end()) throw Error(ExitCode::input, "bytes follow a layer's extract");
    return more;
  }
  void read_content(const std::function<void(std::string_view)>&) override {
    throw Error(ExitCode::internal, "an extract has no contents");
  }
  std::optional<std::string_view> extract() const override { return content_; }
  // As many as when the layer itself was read so far: limits that depend on them stay what they are.
  std::uint64_t compressed_bytes_read() const override { return compressed_; }
  [[noreturn]] void refuse(const std::string& why) const override {
    throw Error(ExitCode::input, fmt::format("entry #{} '{}': {}", number_, shown_name(path_), why));
  }

 private:
  void read(LayerEntry& entry) {
    path_.resize(std::min<std::uint64_t>(bytes_.number(), path_.size()));
    path_ += bytes_.text();
    bytes_(entry);
    entry.path = path_;
    entry.number = ++number_;
  }

  std::string extract_;
  FromBytes bytes_;
  std::string path_;
  std::uint64_t number_ = 0;
  std::uint64_t compressed_ = 0;
  std::optional<std::string_view> content_;
};

}  // namespace

std::optional<std::string> extract_of(LayerEntries& layer, ContentExtractor& contents, std::size_t most) {
  ExtractWriter writer;
  LayerEntry entry;
  while (layer.next(entry)) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    writer.add(entry, layer.compressed_bytes_read());
    if (entry.kind == EntryKind::file) {
      contents.begin_file(entry.path);
      layer.read_content([&](std::string_view bytes) {
        if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
        contents.append(bytes);
      });
      writer.add_content(contents.end_file());
    }
    if (writer.size() > most) return std::nullopt;
  }
  return writer.finish(layer.compressed_bytes_read());
}

std::unique_ptr<LayerEntries> read_extract(std::string_view extract) {
  return std::make_unique<ExtractReader>(extract);
}

void BothExtractors::begin_file(std::string_view path) {
  first_.begin_file(path);
  second_.begin_file(path);
}
void BothExtractors::append(std::string_view bytes) {
  first_.append(bytes);
  second_.append(bytes);
}
std::string BothExtractors::end_file() {
  ToBytes both;
  both.text(first_.end_file());
  both.text(second_.end_file());
  return both.finish();
}

void BothSinks::next_file(const PathTable& paths, NodeId path) {
  first_.next_file(paths, path);
  second_.next_file(paths, path);
}
std::uint32_t BothSinks::begin_file() {
  second_.begin_file();
  return first_.begin_file();
}
void BothSinks::append(std::string_view bytes) {
  first_.append(bytes);
  second_.append(bytes);
}
void BothSinks::end_file() {
  first_.end_file();
  second_.end_file();
}
void BothSinks::take_extract(std::string_view extract) {
  FromBytes both(extract);
  first_.take_extract(both.text());
  second_.take_extract(both.text());
}

}  // namespace kiln
