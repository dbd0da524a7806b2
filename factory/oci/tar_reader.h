// The members of a tar stream, one after the other: the headers that belong together made one, as Go's
// archive/tar does, and nothing read into memory but headers of bounded size.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/oci/tar_header.h"

namespace kiln {

// Bytes in order, read once.
class TarInput {
 public:
  virtual ~TarInput() = default;
  // The next bytes, at most `most` and valid until the next call; empty at the end.
  virtual std::string_view next_bytes(std::size_t most) = 0;
  // Skips the next `size` bytes. False when the input ends before.
  virtual bool skip(std::uint64_t size);
};

struct TarLimits {
  std::size_t sparse_regions = 65'536;  // of one member
  std::size_t xattrs = 128;             // of one member
  std::uint64_t records = 1u << 20;     // bytes of one PAX header or long name
};

struct TarRegion {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct TarMember {
  char type = '0';           // of POSIX's, and 'S' for GNU's sparse file; '\0' appears as '0' or '5'
  std::string name;          // as written, over 100 bytes from the headers before it
  std::string link;          // of types '1' and '2'
  std::uint64_t size = 0;    // of its content, holes included
  std::uint64_t stored = 0;  // bytes of content in the archive
  std::int64_t mode = 0;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::int64_t mtime = 0;  // seconds since 1970
  bool is_sparse = false;
  std::vector<TarRegion> regions;                           // of a sparse file: what is not a hole, in order
  std::vector<std::pair<std::string, std::string>> xattrs;  // by name
};

class TarReader {
 public:
  // `input` outlives the reader.
  explicit TarReader(TarInput& input, const TarLimits& limits = {}) : input_(input), limits_(limits) {}

  // False at the end of the archive; later bytes stay unread. Skips the rest of the content before. Throws
  // Error(input), and then `member` has the name if it is known.
  bool next(TarMember& member);
  // The content of the member that next() gave, in order; holes come as zeros. Call at most once for a
  // member. False where the archive ends before.
  bool read_content(const TarMember& member, const std::function<void(std::string_view)>& sink);

 private:
  bool read_block(std::string& block);  // false at the end of the input
  void read_whole_block(std::string& block);
  bool read_header(std::string& block);  // false at the end of the archive
  std::string read_special(const TarHeader& header);
  void begin_content(std::uint64_t size);
  void fill(TarMember& member, const TarHeader& header, const std::string& block);
  void fill_from_pax(TarMember& member);
  void read_sparse_map(TarMember& member, const TarHeader& header, std::string block);

  TarInput& input_;
  TarLimits limits_;
  std::uint64_t rest_ = 0;     // of the content, bytes not yet read
  std::uint64_t padding_ = 0;  // after the content, up to a whole block
  PaxRecords pax_;             // of the next member
  std::string long_name_;
  std::string long_link_;
};

}  // namespace kiln
