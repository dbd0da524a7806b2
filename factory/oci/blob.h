// Bytes of a blob: a section of a file that was opened once and is never written.
#pragma once

#include <cstdint>
#include <string>

#include "factory/base/effects.h"
#include "factory/base/file_handle.h"

namespace kiln {

// A read-only file. Owns the descriptor. Throws Error(input) when the path is not a regular file.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const fs::path& path);
  // Takes an open descriptor over. `path`: for messages.
  ReadOnlyFile(int descriptor, fs::path path) : path_(std::move(path)), fd_(descriptor) {}

  const fs::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  void look_again();  // at the size, of a descriptor that was taken over. Throws Error(store).
  // Up to `size` bytes from `offset`; fewer only at the end of the file. Throws Error(store).
  std::size_t read_at(std::uint64_t offset, char* bytes, std::size_t size) const;
  // The bytes of a section. Throws Error(input) when the section leaves the file or is over `limit`.
  std::string section(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) const;
  // Throws Error(input) in the file's name.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;

 private:
  fs::path path_;
  FileHandle fd_;
  std::uint64_t size_ = 0;
};

// Location of a blob: a separate file (an OCI layout) or a part of an archive. `file` outlives the blob.
struct BlobSection {
  const ReadOnlyFile* file = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  std::string bytes(std::uint64_t limit) const { return file->section(offset, size, limit); }
};

}  // namespace kiln
