#include "factory/oci/archive_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/oci/tar_reader.h"

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
  std::string_view take(std::size_t most) override {
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
      plain.resize(plain.find('/') == plain.npos ? 0 : plain.rfind('/'));
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

}  // namespace kiln
