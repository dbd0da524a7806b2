// A file of lines which several processes add to: an end without the beginning, or half a line between two,
// is nowhere. Whoever makes it shorter puts another in its place (DurableFile), with the lock in hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace kiln {

// The file, made if need be, locked and the one of that name, for as long as this lives.
class LineFile {
 public:
  // Waits for the lock no longer than `patience`. A pipe, a link and a folder are never opened.
  LineFile(const std::filesystem::path& file, std::chrono::milliseconds patience);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }  // false: errno says why

  // All of it or nothing; what a writer that was killed left of its own gets its end first. False: errno says
  // why. REQUIRES: is_open().
  bool append(const std::string& lines);
  bool sync() const;                            // what was added is on the disk
  std::uint64_t size() const { return size_; }  // bytes, after an append

 private:
  void open(const std::filesystem::path& file);
  void close();

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace kiln
