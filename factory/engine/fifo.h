// A named pipe, for words between processes that share no more than a folder.
#pragma once

#include <filesystem>

namespace kiln {

class Fifo {
 public:
  // Makes it; its folder is to keep all others out, as everybody may write to it. Gone with the object.
  // Throws Error(store).
  explicit Fifo(std::filesystem::path path);
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  ~Fifo();

  const std::filesystem::path& path() const { return path_; }
  // Open at both ends, so that none of them ever ends; reading and writing do not wait.
  int end() const { return end_; }

 private:
  std::filesystem::path path_;
  int end_ = -1;
};

}  // namespace kiln
