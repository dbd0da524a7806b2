#include "factory/oci/archive_index.h"

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "factory/base/text.h"
#include "factory/oci/layer_stream.h"
#include "factory/oci/sparse_write.h"

namespace kiln {
namespace {

// An image has a few members for each of at most 512 layers. A header costs its writer 512 bytes, us a
// node of a map.
constexpr std::size_t kMostMembers = 100'000;
constexpr std::size_t kPiece = 64u << 10;

// `what` is said of the member that begins at `offset`.
[[noreturn]] void bad_member(const ReadOnlyFile& file, std::uint64_t offset, const std::string& what) {
  file.fail(fmt::format("the member at byte {} {}", offset, what));
}

// Headers are read, contents passed over.
class FileBytes final : public TarInput {
 public:
  explicit FileBytes(const ReadOnlyFile& file) : file_(file) {}
  std::string_view next_bytes(std::size_t most) override {
    buffer_.resize(std::min(most, kPiece));
    std::size_t got = file_.read_at(offset_, buffer_.data(), buffer_.size());
    offset_ += got;
    return std::string_view(buffer_).substr(0, got);
  }
  bool skip(std::uint64_t size) override {
    bool fits = size <= file_.size() - std::min(offset_, file_.size());
    if (fits) offset_ += size;
    return fits;
  }
  std::uint64_t offset() const { return offset_; }

 private:
  const ReadOnlyFile& file_;
  std::uint64_t offset_ = 0;
  std::string buffer_;
};

// "./a//b/" and "a/b" are one name; ".." goes up and stays inside. A name is looked up here and never on a
// disk.
std::string plain_name(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      plain.resize(!contains(plain, '/') ? 0 : plain.rfind('/'));
      continue;
    }
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

}  // namespace

ArchiveIndex::ArchiveIndex(const ReadOnlyFile& file) : file_(file) {
  FileBytes bytes(file);
  TarReader reader(bytes);
  TarMember member;
  std::uint64_t at = 0;
  auto next = [&] {
    try {
      return reader.next(member);
    } catch (const Error& error) {
      if (at == 0) file.fail("not a tar archive");
      bad_member(file, at, error.message());
    }
  };
  for (std::size_t members = 0; next(); at = bytes.offset() + member.stored) {
    if (++members > kMostMembers) file.fail(fmt::format("more than {} members", kMostMembers));
    if (member.stored > file.size() - bytes.offset()) bad_member(file, at, "leaves the archive");
    add(member, {&file, bytes.offset(), member.stored});
  }
}

void ArchiveIndex::add(const TarMember& member, const BlobSection& section) {
  std::string name = plain_name(member.name);
  files_.erase(name);  // of two members of one name the later counts, as when the archive is unpacked
  links_.erase(name);
  if (member.type == '0' && !member.is_sparse) {
    files_.emplace(std::move(name), section);
  } else if (member.type == '1') {
    links_.emplace(std::move(name), plain_name(member.link));
  } else if (member.type == '2') {
    std::size_t slash = name.rfind('/');
    std::string folder = slash == name.npos ? "" : name.substr(0, slash + 1);
    links_.emplace(std::move(name),
                   plain_name(member.link.starts_with('/') ? member.link : folder + member.link));
  }
}

bool ArchiveIndex::contains(std::string_view name) const {
  return files_.find(name) != files_.end() || links_.find(name) != links_.end();
}

BlobSection ArchiveIndex::find(std::string_view name) const {
  std::string at = plain_name(name);
  for (int links = 0; links < 8; ++links) {  // one is usual; more may go round in circles
    if (auto found = files_.find(at); found != files_.end()) return found->second;
    auto link = links_.find(at);
    if (link == links_.end()) break;
    at = link->second;
  }
  throw Error(ExitCode::input,
              fmt::format("{}: no file '{}' inside", file_.path().string(), std::string(name)));
}

namespace {

constexpr std::size_t kArchivePiece = 1u << 20;
constexpr std::array<std::string_view, 4> kMagics = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh"};

bool is_compressed(const ReadOnlyFile& file) {
  std::array<char, 5> first{};
  const std::string_view bytes(first.data(), file.read_at(0, first.data(), first.size()));
  return std::ranges::any_of(kMagics, [&](std::string_view magic) { return bytes.starts_with(magic); });
}

[[noreturn]] void fail_to_write(const std::string& folder, int problem) {
  throw Error(ExitCode::store,
              fmt::format("cannot decompress an archive in {}: {}", folder, std::strerror(problem)),
              "TMPDIR says where");
}

// Has no name, so that nobody finds it and nothing of it stays.
int open_nameless(const fs::path& folder) {
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = (folder / "kiln.archive-XXXXXX").string();
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

// The plain bytes of a compressed file, by libarchive.
class PlainBytes {
 public:
  explicit PlainBytes(const ReadOnlyFile& file)
      : file_(file), archive_(archive_read_new(), &archive_read_free), buffer_(kArchivePiece, '\0') {
    check(archive_read_support_filter_gzip(archive_.get()));
    check(archive_read_support_filter_zstd(archive_.get()));
    check(archive_read_support_filter_xz(archive_.get()));
    check(archive_read_support_filter_bzip2(archive_.get()));
    check(archive_read_support_format_raw(archive_.get()));  // no format: just what comes out of the filter
    check(archive_read_open_filename(archive_.get(), file.path().c_str(), kArchivePiece));
    archive_entry* entry = nullptr;
    check(archive_read_next_header(archive_.get(), &entry));
  }

  // Empty at the end.
  std::string_view next() {
    const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
    check(got);
    plain_ += static_cast<std::uint64_t>(got);
    const LayerLimits limits;
    const auto compressed =
        static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_.get(), -1), 1));
    if (plain_ > limits.plain_bytes || (plain_ > limits.ratio_from && plain_ / limits.ratio > compressed))
      file_.fail(
          fmt::format("decompresses {} bytes to more than {}: a decompression bomb", compressed, plain_));
    return {buffer_.data(), static_cast<std::size_t>(got)};
  }

 private:
  void check(la_ssize_t result) const {
    if (result >= 0) return;
    const char* said = archive_error_string(archive_.get());
    file_.fail(
        fmt::format("a compressed archive that cannot be read: {}", said == nullptr ? "damaged" : said));
  }

  const ReadOnlyFile& file_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::string buffer_;
  std::uint64_t plain_ = 0;
};

}  // namespace

std::unique_ptr<ReadOnlyFile> open_archive(const fs::path& path) {
  auto file = std::make_unique<ReadOnlyFile>(path);
  if (!is_compressed(*file)) return file;
  const fs::path folder = fs::temp_directory_path();
  const int plain = open_nameless(folder);
  if (plain < 0) fail_to_write(folder.string(), errno);
  auto owned = std::make_unique<ReadOnlyFile>(plain, path);
  PlainBytes bytes(*file);
  for (std::string_view piece = bytes.next(); !piece.empty(); piece = bytes.next()) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    if (const int problem = write_sparse(plain, piece); problem != 0) fail_to_write(folder.string(), problem);
  }
  if (const int problem = finish_sparse(plain); problem != 0) fail_to_write(folder.string(), problem);
  owned->look_again();
  return owned;
}

}  // namespace kiln
