#include "factory/oci/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

[[noreturn]] void bad_map(const std::string& what) { throw Error(ExitCode::input, what); }

void check_count(std::uint64_t count, std::size_t most) {
  if (count > most) bad_map(fmt::format("has more than {} sparse regions", most));
}

std::uint64_t map_number(std::string_view text) {
  std::int64_t value = pax_number(text);
  if (value < 0) bad_map("has a damaged sparse map");
  return static_cast<std::uint64_t>(value);
}

std::vector<TarRegion> in_pairs(const std::vector<std::uint64_t>& numbers) {
  std::vector<TarRegion> regions(numbers.size() / 2);
  for (std::size_t i = 0; i < regions.size(); ++i) regions[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return regions;
}

// Lines of numbers out of whole blocks.
class MapLines {
 public:
  explicit MapLines(const std::function<void(std::string&)>& next_block) : next_block_(next_block) {}
  std::uint64_t number() {
    constexpr std::size_t kMostDigits = 20;
    std::string digits;
    for (char c = next(); c != '\n'; c = next()) {
      digits += c;
      if (digits.size() > kMostDigits) bad_map("has a damaged sparse map");
    }
    return map_number(digits);
  }

 private:
  char next() {
    if (at_ == block_.size()) {
      next_block_(block_);
      at_ = 0;
    }
    return block_[at_++];
  }
  const std::function<void(std::string&)>& next_block_;
  std::string block_;
  std::size_t at_ = 0;
};

}  // namespace

// The maps of sparse files in tar archives: which bytes are there, and which are holes. All readers throw
// Error(input) for a damaged map and for one of more than `most` regions, before it is in memory.

// GNU's own format: regions in the header, and in blocks behind it that `next_block` gives.
static std::vector<TarRegion> gnu_sparse_map(std::string block,
                                             const std::function<void(std::string&)>& next_block,
                                             std::size_t most) {
  constexpr std::size_t kNumber = 12;
  std::vector<TarRegion> regions;
  std::size_t from = 386;  // in the header; blocks behind it begin with the map
  std::size_t count = 4;
  while (true) {
    for (std::size_t i = 0; i < count && block[from + 2 * kNumber * i] != '\0'; ++i) {
      std::string_view pair = std::string_view(block).substr(from + 2 * kNumber * i, 2 * kNumber);
      std::int64_t offset = tar_number(pair.substr(0, kNumber));
      std::int64_t size = tar_number(pair.substr(kNumber));
      if (offset < 0 || size < 0) bad_map("has a damaged sparse map");
      regions.push_back({static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size)});
    }
    check_count(regions.size(), most);
    if (block[from + 2 * kNumber * count] == '\0') return regions;
    next_block(block);
    from = 0;
    count = 21;
  }
}

// GNU sparse 0.0 and 0.1: numbers in PAX records.
static std::vector<TarRegion> pax_sparse_map(const PaxRecords& records, std::size_t most) {
  auto count = records.find("GNU.sparse.numblocks");
  auto map = records.find("GNU.sparse.map");
  std::uint64_t expected = count == records.end() ? 0 : map_number(count->second);
  check_count(expected, most);
  std::vector<std::uint64_t> numbers;
  if (map != records.end() && !map->second.empty())
    for (std::string_view number : split(map->second, ',')) numbers.push_back(map_number(number));
  if (count == records.end() || numbers.size() != 2 * expected) bad_map("has a damaged sparse map");
  return in_pairs(numbers);
}

// GNU sparse 1.0: lines of numbers in the first blocks of the content.
static std::vector<TarRegion> content_sparse_map(const std::function<void(std::string&)>& next_block,
                                                 std::size_t most) {
  MapLines lines(next_block);
  std::uint64_t count = lines.number();
  check_count(count, most);
  std::vector<std::uint64_t> numbers(2 * count);
  for (std::uint64_t& number : numbers) number = lines.number();
  return in_pairs(numbers);
}

// Regions in order, inside of `size`, and `stored` bytes together. Throws Error(input).
static void check_sparse_map(const std::vector<TarRegion>& regions, std::uint64_t size,
                             std::uint64_t stored) {
  std::uint64_t end = 0;
  std::uint64_t sum = 0;
  for (const TarRegion& region : regions) {
    if (region.offset < end || region.offset > size || region.size > size - region.offset)
      bad_map("has sparse regions out of order or over its end");
    end = region.offset + region.size;
    sum += region.size;
  }
  if (sum != stored) bad_map(fmt::format("has {} bytes of sparse regions and {} of content", sum, stored));
}

namespace {

constexpr std::string_view kXattrKey = "SCHILY.xattr.";

[[noreturn]] void bad_member(const std::string& what) { throw Error(ExitCode::input, what); }

// Links, devices, folders and FIFOs have no content, whatever their size says.
bool is_header_only(char type) { return type >= '1' && type <= '6'; }

std::uint64_t checked_size(std::int64_t size) {
  if (size < 0) bad_member("has a negative size");
  return static_cast<std::uint64_t>(size);
}

// The value of a record, "" where there is none: an empty value is as none.
std::string_view value_of(const PaxRecords& records, std::string_view key) {
  auto found = records.find(key);
  return found == records.end() ? std::string_view() : std::string_view(found->second);
}

// A header for all members that follow. Some engines pass over it, some refuse it, and umoci removes what it
// is named after like a whiteout: so it may say nothing that counts.
void check_global(const TarHeader& header, const PaxRecords& records) {
  constexpr std::string_view kDiffers = "which programs read in different ways";
  for (const auto& [key, value] : records)
    if (!value.empty() && key != "atime" && key != "ctime")
      bad_member(fmt::format("follows a global PAX header with '{}', {}", key.substr(0, 40), kDiffers));
  if (contains("/" + header.name, "/.wh."))
    bad_member(fmt::format("follows a global PAX header that is named like a whiteout, {}", kDiffers));
}

enum class SparseFormat { none, records, content };

SparseFormat sparse_format(const PaxRecords& records) {
  std::string_view major = value_of(records, "GNU.sparse.major");
  std::string_view minor = value_of(records, "GNU.sparse.minor");
  if (major == "0" && (minor == "0" || minor == "1")) return SparseFormat::records;
  if (major == "1" && minor == "0") return SparseFormat::content;
  bool has_version = !major.empty() || !minor.empty();
  return !has_version && !value_of(records, "GNU.sparse.map").empty() ? SparseFormat::records
                                                                      : SparseFormat::none;
}

}  // namespace

bool TarInput::skip(std::uint64_t size) {
  while (size > 0) {
    std::size_t got = next_bytes(size).size();
    if (got == 0) return false;
    size -= got;
  }
  return true;
}

bool TarReader::read_block(std::string& block) {
  block.clear();
  while (block.size() < kTarBlock) {
    std::string_view bytes = input_.next_bytes(kTarBlock - block.size());
    if (bytes.empty()) break;
    block += bytes;
  }
  if (!block.empty() && block.size() < kTarBlock) bad_member("is truncated in its header");
  return !block.empty();
}

void TarReader::read_whole_block(std::string& block) {
  if (!read_block(block)) bad_member("is truncated");
}

// An archive ends with two blocks of zeros, or with its input.
bool TarReader::read_header(std::string& block) {
  if (!input_.skip(rest_ + padding_)) bad_member("is truncated: the archive ends in the content before");
  rest_ = padding_ = 0;
  if (!read_block(block)) return false;
  if (!is_zero_block(block)) return true;
  if (read_block(block) && !is_zero_block(block))
    bad_member("follows a single block of zeros, where some programs end and others go on");
  return false;
}

void TarReader::begin_content(std::uint64_t size) {
  constexpr std::uint64_t kMostSize = std::uint64_t{1} << 62;  // sums of sizes do not overflow
  if (size > kMostSize) bad_member("has an impossible size");
  rest_ = size;
  padding_ = (kTarBlock - size % kTarBlock) % kTarBlock;
}

std::string TarReader::read_special(const TarHeader& header) {
  std::uint64_t size = checked_size(header.size);
  if (size > limits_.records)
    bad_member(fmt::format("has a header of {} bytes before it, the limit is {}", size, limits_.records));
  begin_content(size);
  std::string text;
  while (rest_ > 0) {
    std::string_view bytes = input_.next_bytes(rest_);
    if (bytes.empty()) bad_member("is truncated in a header before it");
    rest_ -= bytes.size();
    text += bytes;
  }
  return text;
}

bool TarReader::next(TarMember& member) {
  member = {};
  pax_.clear();
  long_name_.clear();
  long_link_.clear();
  std::string block;
  while (read_header(block)) {
    TarHeader header = parse_tar_header(block);
    if (header.type == 'x') {
      pax_ = parse_pax(read_special(header));  // in place of one before it
    } else if (header.type == 'g') {
      check_global(header, parse_pax(read_special(header)));
      pax_.clear();
      long_name_.clear();
      long_link_.clear();
    } else if (header.type == 'L' || header.type == 'K') {
      std::string text = read_special(header);
      (header.type == 'L' ? long_name_ : long_link_) = text.substr(0, text.find('\0'));
    } else {
      fill(member, header, block);
      return true;
    }
  }
  return false;
}

// A long name counts over PAX's path, whichever comes first.
void TarReader::fill(TarMember& member, const TarHeader& header, const std::string& block) {
  member.type = header.type;
  member.name = header.name;
  member.link = header.link;
  member.mode = header.mode;
  member.uid = header.uid;
  member.gid = header.gid;
  member.mtime = header.mtime;
  std::int64_t size = header.size;
  fill_from_pax(member);
  if (auto stated = value_of(pax_, "size"); !stated.empty()) size = pax_number(stated);
  if (!long_name_.empty()) member.name = long_name_;
  if (!long_link_.empty()) member.link = long_link_;
  if (header.type == '\0') member.type = member.name.ends_with('/') ? '5' : '0';
  member.size = is_header_only(member.type) ? 0 : checked_size(size);
  begin_content(member.size);
  read_sparse_map(member, header, block);
  member.stored = rest_;
}

void TarReader::fill_from_pax(TarMember& member) {
  auto number = [&](std::string_view key, std::int64_t& to, std::int64_t (*read)(std::string_view)) {
    if (auto value = value_of(pax_, key); !value.empty()) to = read(value);
  };
  std::int64_t ignored = 0;
  number("uid", member.uid, &pax_number);
  number("gid", member.gid, &pax_number);
  number("mtime", member.mtime, &pax_seconds);
  number("atime", ignored, &pax_seconds);
  number("ctime", ignored, &pax_seconds);
  if (auto path = value_of(pax_, "path"); !path.empty()) member.name = path;
  if (auto link = value_of(pax_, "linkpath"); !link.empty()) member.link = link;
  for (auto at = pax_.lower_bound(kXattrKey); at != pax_.end() && at->first.starts_with(kXattrKey); ++at) {
    member.xattrs.emplace_back(at->first.substr(kXattrKey.size()), at->second);
    if (member.xattrs.size() > limits_.xattrs)
      bad_member(fmt::format("has more than {} extended attributes", limits_.xattrs));
  }
}

void TarReader::read_sparse_map(TarMember& member, const TarHeader& header, std::string block) {
  const SparseFormat format = header.type == 'S' ? SparseFormat::none : sparse_format(pax_);
  member.is_sparse = header.type == 'S' || format != SparseFormat::none;
  if (!member.is_sparse) return;
  if (is_header_only(member.type)) bad_member("has a sparse map and no content");
  if (header.type == 'S') {
    if (!header.is_gnu) bad_member("has a sparse map that is not GNU's");
    member.size = checked_size(tar_number(std::string_view(block).substr(483, 12)));
    member.regions = gnu_sparse_map(
        std::move(block), [this](std::string& next) { read_whole_block(next); }, limits_.sparse_regions);
  } else {
    if (auto name = value_of(pax_, "GNU.sparse.name"); !name.empty()) member.name = name;
    std::string_view size = value_of(pax_, "GNU.sparse.size");
    if (size.empty()) size = value_of(pax_, "GNU.sparse.realsize");
    if (!size.empty()) member.size = checked_size(pax_number(size));
    auto next_block = [this](std::string& next) {
      if (rest_ < kTarBlock) bad_member("has a damaged sparse map");
      rest_ -= kTarBlock;
      read_whole_block(next);
    };
    member.regions = format == SparseFormat::content ? content_sparse_map(next_block, limits_.sparse_regions)
                                                     : pax_sparse_map(pax_, limits_.sparse_regions);
  }
  check_sparse_map(member.regions, member.size, rest_);
}

bool TarReader::read_content(const TarMember& member, const std::function<void(std::string_view)>& sink) {
  static constexpr char kZeros[64u << 10] = {};
  auto fill_hole = [&](std::uint64_t size) {
    while (size > 0) {
      std::size_t count = std::min<std::size_t>(size, sizeof kZeros);
      sink({kZeros, count});
      size -= count;
    }
  };
  auto pass_on = [&](std::uint64_t size) {
    while (size > 0) {
      std::string_view bytes = input_.next_bytes(size);
      if (bytes.empty()) return false;
      size -= bytes.size();
      rest_ -= bytes.size();
      sink(bytes);
    }
    return true;
  };
  if (!member.is_sparse) return pass_on(rest_);
  std::uint64_t done = 0;
  for (const TarRegion& region : member.regions) {
    fill_hole(region.offset - done);
    if (!pass_on(region.size)) return false;
    done = region.offset + region.size;
  }
  fill_hole(member.size - done);
  return true;
}

}  // namespace kiln
