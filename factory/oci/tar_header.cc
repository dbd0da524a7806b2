#include "factory/oci/tar_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kXattrPrefix = "SCHILY.xattr.";

[[noreturn]] void bad_header(const std::string& what) { throw Error(ExitCode::input, what); }

// A field of text ends at its first NUL.
std::string_view text_at(std::string_view block, std::size_t at, std::size_t size) {
  std::string_view raw = block.substr(at, size);
  return raw.substr(0, raw.find('\0'));
}

std::int64_t octal(std::string_view field) {
  constexpr std::string_view kBlank(" \0", 2);
  std::size_t from = std::min(field.find_first_not_of(kBlank), field.size());
  field.remove_prefix(from);
  field = field.substr(0, field.find_last_not_of(kBlank) + 1);
  field = field.substr(0, field.find('\0'));
  if (field.empty()) return 0;
  const auto value = as_number<std::uint64_t>(field, 8);  // at most twelve digits
  if (!value) bad_header("has a damaged header: a field is no octal number");
  return static_cast<std::int64_t>(*value);
}

// Two's complement over 63 bits of the field, most significant first; the first bit says that it is one.
std::int64_t base_256(std::string_view field) {
  const bool negative = (field[0] & 0x40) != 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    auto byte = static_cast<unsigned char>(negative ? ~field[i] : field[i]);
    if (i == 0) byte &= 0x7f;
    if (value >> 55 != 0) bad_header("has a damaged header: a number is too large");
    value = value << 8 | byte;
  }
  return negative ? ~static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

// The sum of all bytes, those of the checksum itself taken as blanks; old programs added signed ones. It
// tells an archive from another file and a header from a member's bytes; it protects from nobody.
bool checksum_is_right(std::string_view block) {
  std::int64_t plain = 0;
  std::int64_t with_sign = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    char c = i >= 148 && i < 156 ? ' ' : block[i];
    plain += static_cast<unsigned char>(c);
    with_sign += static_cast<signed char>(c);
  }
  std::int64_t stated = octal(block.substr(148, 8));
  return stated == plain || stated == with_sign;
}

bool is_plain_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

// GNU's format has times where the other has a prefix; Go before 1.8 wrote prefixes into both.
std::string_view gnu_prefix(std::string_view block) {
  try {
    for (std::size_t at : {345, 357})
      if (block[at] != '\0') tar_number(block.substr(at, 12));
  } catch (const Error&) {
    std::string_view prefix = text_at(block, 345, 155);
    return is_plain_ascii(prefix) ? prefix : "";
  }
  return "";
}

bool is_known(std::string_view key) {
  for (std::string_view known : {"path", "linkpath", "uid", "gid", "size", "mtime", "atime", "ctime"})
    if (key == known) return true;
  return key.starts_with(kXattrPrefix) || key.starts_with("GNU.sparse.");
}

struct PaxRecord {
  std::string_view key;
  std::string_view value;
};

// "NN key=value\n", where NN counts the whole record in bytes, itself included. Takes it off `text`.
PaxRecord take_record(std::string_view& text) {
  std::size_t length = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
  auto used = static_cast<std::size_t>(end - text.data());
  if (problem != std::errc() || length > text.size() || length < used + 3 || *end != ' ' ||
      text[length - 1] != '\n')
    bad_header("has a damaged PAX header");
  std::string_view record = text.substr(used + 1, length - used - 2);
  std::size_t equals = record.find('=');
  if (equals == record.npos || equals == 0) bad_header("has a damaged PAX header");
  text.remove_prefix(length);
  return {record.substr(0, equals), record.substr(equals + 1)};
}

void check_nul(const PaxRecord& record) {
  bool is_text =
      record.key == "path" || record.key == "linkpath" || record.key == "uname" || record.key == "gname";
  if (!contains(is_text ? record.value : record.key, '\0')) return;
  bad_header(is_text ? fmt::format("has a PAX {} with a NUL inside", record.key)
                     : "has a PAX key with a NUL inside");
}

}  // namespace

bool is_zero_block(std::string_view block) { return block.find_first_not_of('\0') == block.npos; }

std::int64_t tar_number(std::string_view field) {
  return (field[0] & 0x80) != 0 ? base_256(field) : octal(field);
}

std::int64_t pax_number(std::string_view text) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto value = as_number<std::int64_t>(digits);
  if (!value || (digits != text && digits.starts_with('-')))
    bad_header("has a damaged PAX header: a value is no number");
  return *value;
}

std::int64_t pax_seconds(std::string_view text) {
  std::size_t point = std::min(text.find('.'), text.size());
  std::int64_t seconds = pax_number(text.substr(0, point));
  std::string_view rest = text.substr(std::min(point + 1, text.size()));
  if (!std::ranges::all_of(rest, is_digit)) bad_header("has a damaged PAX header: a value is no time");
  bool between = rest.find_first_not_of('0') != rest.npos;
  return text.starts_with('-') && between && seconds > std::numeric_limits<std::int64_t>::min() ? seconds - 1
                                                                                                : seconds;
}

TarHeader parse_tar_header(std::string_view block) {
  if (!checksum_is_right(block)) bad_header("has a damaged header: its checksum is wrong");
  TarHeader header;
  header.type = block[156];
  header.name = text_at(block, 0, 100);
  header.link = text_at(block, 157, 100);
  header.size = tar_number(block.substr(124, 12));
  header.mode = tar_number(block.substr(100, 8));
  header.uid = tar_number(block.substr(108, 8));
  header.gid = tar_number(block.substr(116, 8));
  header.mtime = tar_number(block.substr(136, 12));
  const std::string_view magic = block.substr(257, 8);
  header.is_gnu = magic == std::string_view("ustar  \0", 8);
  const bool is_posix = magic.starts_with(std::string_view("ustar\0", 6));
  if (!header.is_gnu && !is_posix) return header;
  for (std::size_t device : {329, 337}) tar_number(block.substr(device, 8));
  const bool is_star = is_posix && block.substr(508, 4) == std::string_view("tar\0", 4);
  if (is_star)
    for (std::size_t time : {476, 488}) tar_number(block.substr(time, 12));
  std::string_view prefix = header.is_gnu ? gnu_prefix(block) : text_at(block, 345, is_star ? 131 : 155);
  if (!prefix.empty()) header.name = fmt::format("{}/{}", prefix, header.name);
  return header;
}

PaxRecords parse_pax(std::string_view text) {
  constexpr std::string_view kOffset = "GNU.sparse.offset";
  constexpr std::string_view kSize = "GNU.sparse.numbytes";
  PaxRecords records;
  std::string map;
  for (std::size_t numbers = 0; !text.empty();) {
    PaxRecord record = take_record(text);
    check_nul(record);
    if (record.key == kOffset || record.key == kSize) {
      if (record.key != (numbers % 2 == 0 ? kOffset : kSize) || contains(record.value, ','))
        bad_header("has a damaged sparse map");
      if (numbers++ > 0) map += ',';
      map += record.value;
    } else if (is_known(record.key)) {
      records.insert_or_assign(std::string(record.key), std::string(record.value));
    }
  }
  if (!map.empty()) records["GNU.sparse.map"] = map;
  return records;
}

}  // namespace kiln
