#include "factory/evidence/file_examiner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "factory/base/error.h"
#include "factory/base/field_bytes.h"
#include "factory/base/text.h"

namespace kiln::evidence {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ExitCode::store, fmt::format("cannot {} a temporary file: {}", what, std::strerror(errno)),
              "TMPDIR says where; it must hold the largest file of the image");
}

}  // namespace

void Spool::unmap() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
  mapped_ = nullptr;
}

void Spool::clear() {
  unmap();
  fd_.close();
  size_ = 0;
  memory_.clear();
}

void Spool::append(std::string_view bytes) {
  // Most files of an image are small. A large one goes to a file without a name, which is gone with the
  // process however it ends.
  if (fd_ < 0 && memory_.size() + bytes.size() > in_memory_) {
    fd_ = FileHandle(
        ::open(std::filesystem::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (fd_ < 0) fail("create");
    write(memory_);
    memory_ = {};
  }
  if (fd_ >= 0)
    write(bytes);
  else
    memory_.append(bytes);
  size_ += bytes.size();
}

void Spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view Spool::bytes() {
  if (fd_ < 0) return memory_;
  if (mapped_ == nullptr) {
    // Pages come as the scan reaches them, and may go again: files of several GiB need no memory of that
    // size.
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (mapped == MAP_FAILED) fail("map");
    mapped_ = mapped;
    mapped_size_ = size_;
  }
  return {static_cast<const char*>(mapped_), static_cast<std::size_t>(size_)};
}

// All that there is to each: what is added to one does not compile until it is added here. If a list changes,
// increase kFindings in package/kept_findings.cc.
template <typename Bytes>
static void fields(Bytes& bytes, Witness& witness) {
  auto& [symbol, address, instruction] = witness;
  bytes(symbol, address, instruction);
}

template <typename Bytes>
static void fields(Bytes& bytes, FeatureFacts& facts) {
  auto& [instructions, functions, unconditional, dispatched] = facts;
  bytes(instructions, functions, unconditional, dispatched);
}

template <typename Bytes>
static void fields(Bytes& bytes, DynamicFacts& facts) {
  auto& [soname, needed, rpath, runpath, init, fini, no_default_libraries] = facts;
  bytes(soname, needed, rpath, runpath, init, fini, no_default_libraries);
}

template <typename Bytes>
static void fields(Bytes& bytes, GpuCode& code) {
  auto& [sm, compute, gfx] = code;
  bytes(sm, compute, gfx);
}

template <typename Bytes>
static void fields(Bytes& bytes, FileFacts& facts) {
  auto& [machine, type, interpreter, dynamic, needs_glibc, provides_glibc, code_bytes, functions, boundaries,
         undecodable_bytes, features, queries, gpu, problems] = facts;
  bytes(machine, type, interpreter, dynamic, needs_glibc, provides_glibc, code_bytes, functions, boundaries,
        undecodable_bytes, features, queries, gpu, problems);
}

template <typename Bytes>
static void fields(Bytes& bytes, Content& content) {
  auto& [facts, damage, text, size] = content;
  bytes(facts, damage, text, size);
}

namespace {

constexpr std::size_t kTextLimit = 4096;          // of one file that may configure the loader
constexpr std::uint64_t kElfLimit = 16ull << 30;  // of one ELF file

// ld.so.conf includes files of any name, and which ones is known only when all layers are read: so every
// small text that could be such a file is kept.
bool may_configure_loader(std::string_view text) {
  bool plain = std::ranges::all_of(
      text, [](unsigned char c) { return c == '\n' || c == '\t' || c == '\r' || (c >= ' ' && c != 0x7f); });
  return plain && (contains(text, '/') || contains(text, "include"));
}

}  // namespace

std::string to_bytes(Content& content) {
  ToBytes bytes;
  bytes(content);
  return bytes.finish();
}

Content content_from_bytes(std::string_view bytes) {
  FromBytes from(bytes);
  Content content;
  from(content);
  return content;
}

std::optional<FileFacts> FolderCache::find(const Digest& digest) {
  const auto bytes = folder_.find("facts-" + digest.hex());
  return bytes ? content_from_bytes(*bytes).facts : std::nullopt;
}

void FolderCache::keep(const Digest& digest, const FileFacts& facts) {
  if (facts.code_bytes < kCachedCode) return;
  Content content;
  content.facts = facts;
  folder_.keep("facts-" + digest.hex(), to_bytes(content));
}

void FileExaminer::begin() {
  content_ = {};
  spool_.clear();
  hasher_.reset();
  start_.clear();
  kind_ = Kind::undecided;
}

void FileExaminer::append(std::string_view bytes) {
  content_.size += bytes.size();
  if (kind_ == Kind::elf) return keep(bytes);
  if (kind_ == Kind::other) return;
  // A layer hands over files in pieces of any size: even the four bytes of the magic may come apart.
  start_.append(bytes.substr(0, kTextLimit + 1 - std::min(start_.size(), kTextLimit + 1)));
  if (start_.size() < 4) return;
  if (is_elf(start_)) {
    kind_ = Kind::elf;
    hasher_ = std::make_unique<Hasher>();
    // start_ holds all that came before and the beginning of these bytes.
    std::size_t before = static_cast<std::size_t>(content_.size) - bytes.size();
    keep(std::string_view(start_).substr(0, before));
    keep(bytes);
  } else if (start_.size() > kTextLimit) {
    kind_ = Kind::other;
  }
}

Content FileExaminer::end() {
  if (kind_ == Kind::elf) examine_elf();
  if (kind_ == Kind::undecided && may_configure_loader(start_)) content_.text = start_;
  return std::move(content_);
}

std::string FileExaminer::end_file() {
  Content content = end();
  return to_bytes(content);
}

void FileExaminer::keep(std::string_view bytes) {
  if (spool_.size() + bytes.size() > kElfLimit)
    throw Error(ExitCode::input, fmt::format("an ELF file is larger than {} bytes", kElfLimit));
  hasher_->update(bytes);
  spool_.append(bytes);
}

void FileExaminer::examine_elf() {
  Digest digest = hasher_->finish();
  if (cache_ != nullptr) content_.facts = cache_->find(digest);
  if (content_.facts) return;
  try {
    content_.facts = examine(spool_.bytes(), jobs_);
    if (cache_ != nullptr) cache_->keep(digest, *content_.facts);
  } catch (const Error& error) {
    // One damaged file is a finding of its own, not the end of the report.
    if (error.code() != ExitCode::input) throw;
    content_.damage = error.message();
  }
}

}  // namespace kiln::evidence
