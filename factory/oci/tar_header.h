// One header block of a tar archive, and the PAX records that stand before one, as Go's archive/tar reads
// them: container engines are written in Go, and their way of unpacking defines an image.
//
// POSIX.1-2017, pax, "ustar Interchange Format". Places in the block, in bytes: name 0 (100), mode 100 (8),
// uid 108 (8), gid 116 (8), size 124 (12), time 136 (12), checksum 148 (8), type 156 (1), link 157 (100),
// magic 257 (8), device 329 (8) and 337 (8), prefix 345 (155). GNU has no prefix: times 345 (12) and 357
// (12), sparse map 386 (4 × 24), "more of it" 482 (1), real size 483 (12).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kiln {

inline constexpr std::size_t kTarBlock = 512;

struct TarHeader {
  char type = '0';
  std::string name;
  std::string link;
  std::int64_t size = 0;
  std::int64_t mode = 0;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::int64_t mtime = 0;  // seconds since 1970
  bool is_gnu = false;     // of the format that GNU tar wrote before POSIX's
};

// REQUIRES: a whole block. Throws Error(input) for a wrong checksum and for an invalid number.
TarHeader parse_tar_header(std::string_view block);
bool is_zero_block(std::string_view block);

// A number of a header: octal, blanks and zeros around it, or base 256 with its sign. Throws Error(input).
std::int64_t tar_number(std::string_view field);
// A decimal number of a PAX record. Throws Error(input).
std::int64_t pax_number(std::string_view text);
std::int64_t pax_seconds(std::string_view text);  // "1.5", rounded down

using PaxRecords = std::map<std::string, std::string, std::less<>>;

// The records that kiln has a use for, of equal keys the last; those of a sparse map written as single
// records (GNU sparse 0.0) are joined to one "GNU.sparse.map". Throws Error(input) for malformed records, and
// for NUL in any but an extended attribute, where some readers would stop and others go on.
PaxRecords parse_pax(std::string_view text);

}  // namespace kiln
