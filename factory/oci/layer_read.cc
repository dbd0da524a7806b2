#include "oci/layer_read.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <exception>

#include "base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

[[noreturn]] void bad_layer(const std::string& what) { throw Error(ExitCode::input, what); }

// libarchive converts names by the thread's locale; layers are UTF-8 whatever the user's locale is.
class Utf8Names {
 public:
  Utf8Names() : own_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (own_ != nullptr) before_ = ::uselocale(own_);
  }
  ~Utf8Names() {
    if (own_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(own_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t own_;
  locale_t before_ = nullptr;
};

// Makes control characters visible: names go to terminals and logs.
std::string printable(std::string_view raw) {
  std::string text;
  for (char c : raw.substr(0, 200)) {
    text += is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text;
}

EntryKind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return EntryKind::hard_link;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return EntryKind::file;
    case AE_IFDIR:
      return EntryKind::folder;
    case AE_IFLNK:
      return EntryKind::symlink;
    case AE_IFIFO:
      return EntryKind::fifo;
    case AE_IFCHR:
    case AE_IFBLK:
      return EntryKind::device;
    default:
      bad_layer(fmt::format("has the unknown file type {:o}", archive_entry_filetype(entry)));
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
  if (("/" + folder).find("/.wh.") != std::string::npos) bad_layer("lies below a whiteout");
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

// A value counts for each inode that has it until LayerMerge makes equal sets one, so both are bounded here.
void read_xattrs(archive_entry* source, const EntryLimits& limits, LayerEntry& entry) {
  entry.xattrs.clear();
  auto count = static_cast<std::size_t>(archive_entry_xattr_reset(source));
  if (count > limits.xattrs)
    bad_layer(fmt::format("has {} extended attributes, the limit is {}", count, limits.xattrs));
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (archive_entry_xattr_next(source, &name, &value, &size) == ARCHIVE_OK) {
    if (name == nullptr || *name == '\0') bad_layer("has an extended attribute without a name");
    if (std::string_view(name).size() > limits.component)
      bad_layer("has an extended attribute with too long a name");
    if (size > limits.xattr_value)
      bad_layer(
          fmt::format("has an extended attribute of {} bytes, the limit is {}", size, limits.xattr_value));
    entry.xattrs.emplace_back(name, std::string(static_cast<const char*>(value), size));
  }
  std::sort(entry.xattrs.begin(), entry.xattrs.end());
}

}  // namespace

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
  Utf8Names locale;
  std::unique_ptr<archive, int (*)(archive*)> owned{archive_read_new(), archive_read_free};
  archive* handle = owned.get();
  archive_entry* current = nullptr;  // owned by handle
  std::exception_ptr stream_failure;
  std::uint64_t number = 0;
  std::uint64_t unfolded = 0;  // bytes of content, holes included
  std::string raw_path;

  State(LayerStream& source, const EntryLimits& entry_limits, const LayerLimits& of_layer)
      : stream(source), limits(entry_limits), layer_limits(of_layer) {
    // Tar and nothing else: libarchive would also unpack what is compressed once more inside, beyond every
    // limit of LayerStream, and read a zip or an ISO image where others see a damaged layer.
    archive_read_support_filter_none(handle);
    archive_read_support_format_tar(handle);
    archive_read_support_format_empty(handle);
    if (archive_read_open(handle, this, nullptr, &State::read, nullptr) != ARCHIVE_OK) fail();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // C++ exceptions must not pass through libarchive: kept here, thrown again outside.
  static la_ssize_t read(archive* handle, void* self, const void** bytes) {
    auto* state = static_cast<State*>(self);
    try {
      std::string_view chunk = state->stream.next();
      *bytes = chunk.data();
      return static_cast<la_ssize_t>(chunk.size());
    } catch (...) {
      state->stream_failure = std::current_exception();
      archive_set_error(handle, EIO, "the layer cannot be read");
      return -1;
    }
  }

  [[noreturn]] void fail() {
    if (stream_failure) std::rethrow_exception(stream_failure);
    const char* text = archive_error_string(handle);
    refuse(text != nullptr ? text : "is damaged");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    bad_layer(fmt::format("entry #{} '{}': {}", number, printable(raw_path), why));
  }

  void fill(LayerEntry& entry) {
    const char* path = archive_entry_pathname(current);
    if (path == nullptr) bad_layer("has a name that is neither UTF-8 nor plain bytes");
    raw_path = path;
    entry.number = number;
    entry.kind = kind_of(current);
    entry.path = entry_path(raw_path, limits);
    entry.mode = static_cast<std::uint16_t>(archive_entry_perm(current) & 07777);
    entry.uid = checked_id(archive_entry_uid(current), "user id");
    entry.gid = checked_id(archive_entry_gid(current), "group id");
    entry.mtime = archive_entry_mtime_is_set(current) ? archive_entry_mtime(current) : 0;
    fill_target(entry);
    fill_size(entry);
    read_xattrs(current, limits, entry);
    read_whiteout(entry);
    if (entry.path.empty() && entry.kind != EntryKind::folder && entry.kind != EntryKind::opaque)
      bad_layer("names the root, which is a folder");
  }

  void fill_target(LayerEntry& entry) {
    entry.target.clear();
    if (entry.kind == EntryKind::symlink) {
      const char* target = archive_entry_symlink(current);
      if (target == nullptr || *target == '\0') bad_layer("is a symbolic link without a target");
      entry.target = target;
      if (entry.target.size() > limits.path) bad_layer("is a symbolic link with too long a target");
    } else if (entry.kind == EntryKind::hard_link) {
      entry.target = entry_path(archive_entry_hardlink(current), limits);
      if (archive_entry_size_is_set(current) && archive_entry_size(current) > 0)
        bad_layer("is a hard link with content of its own, which programs read in different ways");
    }
  }

  void fill_size(LayerEntry& entry) {
    entry.size = 0;
    if (entry.kind != EntryKind::file) return;
    if (archive_entry_size(current) < 0) bad_layer("has a negative size");
    entry.size = static_cast<std::uint64_t>(archive_entry_size(current));
    auto regions = static_cast<std::size_t>(std::max(0, archive_entry_sparse_count(current)));
    if (regions > limits.sparse_regions)
      bad_layer(fmt::format("has {} sparse regions, the limit is {}", regions, limits.sparse_regions));
    // A sparse file says its size in a few bytes of header, and its holes never pass through LayerStream's
    // count: without this, 1 KiB of layer is terabytes of zeros.
    if (entry.size > layer_limits.plain_bytes - unfolded)
      bad_layer(fmt::format("makes the layer larger than {} bytes", layer_limits.plain_bytes));
    unfolded += entry.size;
    if (regions == 0) return;
    if (unfolded > layer_limits.ratio_from && unfolded / layer_limits.ratio > stream.compressed_bytes_read())
      bad_layer(fmt::format("unfolds with its holes to {} bytes: a decompression bomb", entry.size));
  }
};

LayerReader::LayerReader(LayerStream& stream, const EntryLimits& limits, const LayerLimits& layer_limits)
    : state_(std::make_unique<State>(stream, limits, layer_limits)) {}
LayerReader::~LayerReader() = default;

bool LayerReader::next(LayerEntry& entry) {
  int status = archive_read_next_header(state_->handle, &state_->current);
  if (status == ARCHIVE_EOF) {
    state_->stream.drain();
    return false;
  }
  ++state_->number;
  if (status != ARCHIVE_OK) {
    const char* path = state_->current != nullptr ? archive_entry_pathname(state_->current) : nullptr;
    state_->raw_path = path != nullptr ? path : "";
    state_->fail();
  }
  try {
    state_->fill(entry);
  } catch (const Error& error) {
    state_->refuse(error.message());
  }
  return true;
}

void LayerReader::read_content(const std::function<void(std::string_view)>& sink) {
  static constexpr char kZeros[64 << 10] = {};
  auto fill_hole = [&sink](std::uint64_t size) {
    while (size > 0) {
      auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof kZeros));
      sink({kZeros, count});
      size -= count;
    }
  };
  auto size = static_cast<std::uint64_t>(archive_entry_size(state_->current));
  std::uint64_t done = 0;
  while (true) {
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    int status = archive_read_data_block(state_->handle, &bytes, &count, &offset);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) state_->fail();
    auto start = static_cast<std::uint64_t>(offset);
    // libarchive hands on the sparse map as the archive has it: regions may come twice or lie behind the end.
    if (offset < 0 || start < done || start > size || count > size - start)
      state_->refuse("has sparse regions out of order or over its end");
    fill_hole(start - done);
    if (count > 0) sink({static_cast<const char*>(bytes), count});
    done = start + count;
  }
  fill_hole(size - done);
}

void LayerReader::refuse(const std::string& why) const { state_->refuse(why); }

}  // namespace kiln
