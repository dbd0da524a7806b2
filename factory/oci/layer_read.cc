#include "factory/oci/layer_read.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/oci/tar_reader.h"

namespace kiln {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

[[noreturn]] void bad_layer(const std::string& what) { throw Error(ExitCode::input, what); }

EntryKind kind_of(char type) {
  switch (type) {
    case '0':
    case 'S':
      return EntryKind::file;
    case '1':
      return EntryKind::hard_link;
    case '2':
      return EntryKind::symlink;
    case '3':
    case '4':
      return EntryKind::device;
    case '5':
      return EntryKind::folder;
    case '6':
      return EntryKind::fifo;
    default:
      bad_layer(fmt::format("has the unknown type '{}'", shown_name({&type, 1})));
  }
}

// 2^32-1 means "no id" to chown(2), and from 2^31 on programs do not agree about the sign.
std::uint32_t checked_id(std::int64_t id, const char* what) {
  if (id < 0 || id > INT32_MAX) bad_layer(fmt::format("has the {} {}, outside 0 … 2147483647", what, id));
  return static_cast<std::uint32_t>(id);
}

// ".wh.x" removes x, ".wh..wh..opq" empties its folder; everything else under that prefix has no meaning.
void read_whiteout(LayerEntry& entry) {
  std::size_t slash = entry.path.rfind('/');
  std::string folder = slash == std::string::npos ? "" : entry.path.substr(0, slash);
  std::string name = slash == std::string::npos ? entry.path : entry.path.substr(slash + 1);
  if (contains("/" + folder, "/.wh.")) bad_layer("lies below a whiteout");
  if (!name.starts_with(kWhiteout)) return;
  if (name == kOpaque) {
    entry.kind = EntryKind::opaque;
    entry.path = folder;
    return;
  }
  std::string removed = name.substr(kWhiteout.size());
  if (removed.empty() || removed == "." || removed == "..") bad_layer("is a whiteout without a name");
  entry.kind = EntryKind::whiteout;
  entry.path = folder.empty() ? removed : folder + "/" + removed;
}

// A value counts for each inode that has it until LayerMerge makes equal sets one, so it is bounded here.
void check_xattrs(const Xattrs& xattrs, const EntryLimits& limits) {
  for (const auto& [name, value] : xattrs) {
    if (name.empty()) bad_layer("has an extended attribute without a name");
    if (name.size() > limits.component) bad_layer("has an extended attribute with too long a name");
    if (value.size() > limits.xattr_value)
      bad_layer(fmt::format("has an extended attribute of {} bytes, the limit is {}", value.size(),
                            limits.xattr_value));
  }
}

// A layer's plain bytes in the pieces that a tar reader asks for.
class LayerBytes final : public TarInput {
 public:
  explicit LayerBytes(LayerStream& stream) : stream_(stream) {}
  std::string_view next_bytes(std::size_t most) override {
    if (chunk_.empty()) {
      failed_ = true;  // unless it returns
      chunk_ = stream_.next();
      failed_ = false;
    }
    std::string_view taken = chunk_.substr(0, most);
    chunk_.remove_prefix(taken.size());
    return taken;
  }
  bool failed() const { return failed_; }

 private:
  LayerStream& stream_;
  std::string_view chunk_;
  bool failed_ = false;
};

}  // namespace

std::string shown_name(std::string_view raw) {
  std::string text;
  for (char c : raw.substr(0, 200)) {
    text += is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text;
}

std::string entry_path(std::string_view raw, const EntryLimits& limits) {
  if (raw.size() > limits.path)
    bad_layer(fmt::format("has a path of {} bytes, the limit is {}", raw.size(), limits.path));
  std::string path;
  while (!raw.empty()) {
    std::string_view component = raw.substr(0, raw.find('/'));
    raw.remove_prefix(std::min(raw.size(), component.size() + 1));
    if (component.empty() || component == ".") continue;
    if (component == "..") bad_layer("has '..' in its path");
    if (component.size() > limits.component)
      bad_layer(fmt::format("has a path component of {} bytes, the limit is {}", component.size(),
                            limits.component));
    if (!path.empty()) path += '/';
    path += component;
  }
  return path;
}

struct LayerReader::State {
  LayerStream& stream;
  EntryLimits limits;
  LayerLimits layer_limits;
  LayerBytes bytes;
  TarReader tar;
  TarMember member;
  std::uint64_t number = 0;
  std::uint64_t decompressed = 0;  // bytes of content, holes included

  State(LayerStream& source, const EntryLimits& entry_limits, const LayerLimits& of_layer)
      : stream(source),
        limits(entry_limits),
        layer_limits(of_layer),
        bytes(source),
        tar(bytes, {.sparse_regions = limits.sparse_regions, .xattrs = limits.xattrs}) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void refuse(const std::string& why) const {
    bad_layer(fmt::format("entry #{} '{}': {}", number, shown_name(member.name), why));
  }

  // What is wrong with the entry is told with its number and name; the stream's own errors name the layer.
  template <typename Use>
  auto named(Use use) {
    try {
      return use();
    } catch (const Error& error) {
      if (error.code() != ExitCode::input || bytes.failed()) throw;
      refuse(error.message());
    }
  }

  void fill(LayerEntry& entry) {
    entry.number = number;
    entry.kind = kind_of(member.type);
    entry.path = entry_path(member.name, limits);
    entry.mode = static_cast<std::uint16_t>(member.mode & 07777);
    entry.uid = checked_id(member.uid, "user id");
    entry.gid = checked_id(member.gid, "group id");
    entry.mtime = member.mtime;
    fill_target(entry);
    fill_size(entry);
    check_xattrs(member.xattrs, limits);
    entry.xattrs = std::move(member.xattrs);
    read_whiteout(entry);
    if (entry.path.empty() && entry.kind != EntryKind::folder && entry.kind != EntryKind::opaque)
      bad_layer("names the root, which is a folder");
  }

  void fill_target(LayerEntry& entry) const {
    entry.target.clear();
    if (entry.kind == EntryKind::symlink) {
      if (member.link.empty()) bad_layer("is a symbolic link without a target");
      entry.target = member.link;
      if (entry.target.size() > limits.path) bad_layer("is a symbolic link with too long a target");
    } else if (entry.kind == EntryKind::hard_link) {
      entry.target = entry_path(member.link, limits);
    }
  }

  void fill_size(LayerEntry& entry) {
    entry.size = member.size;
    // A sparse file says its size in a few bytes of header, and its holes never pass through LayerStream's
    // count: without this, 1 KiB of layer is terabytes of zeros.
    if (entry.size > layer_limits.plain_bytes - decompressed)
      bad_layer(fmt::format("makes the layer larger than {} bytes", layer_limits.plain_bytes));
    decompressed += entry.size;
    if (!member.is_sparse) return;
    if (decompressed > layer_limits.ratio_from &&
        decompressed / layer_limits.ratio > stream.compressed_bytes_read())
      bad_layer(fmt::format("decompresses with its holes to {} bytes: a decompression bomb", entry.size));
  }
};

LayerReader::LayerReader(LayerStream& stream, const EntryLimits& limits, const LayerLimits& layer_limits)
    : state_(std::make_unique<State>(stream, limits, layer_limits)) {}
LayerReader::LayerReader(std::unique_ptr<LayerStream> stream, const EntryLimits& limits,
                         const LayerLimits& layer_limits)
    : stream_(std::move(stream)), state_(std::make_unique<State>(*stream_, limits, layer_limits)) {}
LayerReader::~LayerReader() = default;

bool LayerReader::next(LayerEntry& entry) {
  State& state = *state_;
  ++state.number;
  bool found = state.named([&] { return state.tar.next(state.member); });
  if (found)
    state.named([&] { state.fill(entry); });
  else
    state.stream.drain();
  return found;
}

void LayerReader::read_content(const std::function<void(std::string_view)>& sink) {
  if (!state_->tar.read_content(state_->member, sink)) refuse("is truncated");
}

std::uint64_t LayerReader::compressed_bytes_read() const { return state_->stream.compressed_bytes_read(); }

void LayerReader::refuse(const std::string& why) const { state_->refuse(why); }

}  // namespace kiln
