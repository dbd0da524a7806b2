// A file that appears under its name complete or not: written under a temporary name in the same folder,
// synced, renamed.
#pragma once

#include <cstdint>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/base/file_handle.h"

namespace kiln::sif {

class OutputFile {
 public:
  explicit OutputFile(const fs::path& path);  // throws Error(store)
  ~OutputFile();                              // without commit() the temporary file is removed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write_at(std::uint64_t offset, std::string_view bytes);
  std::size_t read_at(std::uint64_t offset, char* bytes, std::size_t size) const;
  void truncate(std::uint64_t size);
  std::uint64_t size() const { return size_; }
  const fs::path& temporary() const { return temporary_; }  // its name until commit()
  // fsync, rename over `path`, fsync of the folder. The mode is 0755 less the umask, as Apptainer's: a SIF
  // can be run.
  void commit();

 private:
  [[noreturn]] void fail(const char* verb) const;
  fs::path path_;
  fs::path temporary_;
  FileHandle fd_;
  std::uint64_t size_ = 0;
};

}  // namespace kiln::sif
