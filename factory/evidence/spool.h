// The bytes of one file, in memory while small, else in an unnamed temporary file that is mapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::evidence {

class Spool {
 public:
  explicit Spool(std::size_t in_memory = 64u << 20) : in_memory_(in_memory) {}
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void clear();
  void append(std::string_view bytes);  // throws Error(store) when the temporary folder is full
  std::uint64_t size() const { return size_; }
  // All of it; valid until the next append() or clear(). Throws Error(store).
  std::string_view bytes();

 private:
  void write(std::string_view bytes);
  void unmap();
  std::size_t in_memory_;
  std::string memory_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
};

}  // namespace kiln::evidence
