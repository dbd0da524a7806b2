#include "oci/archive_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace kiln {
namespace {

// POSIX.1-2017, pax, "ustar Interchange Format": a header of one block, its member's bytes in whole blocks
// behind it. Places in the header, in bytes: name 0 (100), size 124 (12), checksum 148 (8), type 156 (1),
// link 157 (100), magic 257 (6), prefix 345 (155).
constexpr std::uint64_t kBlock = 512;
// An image has a few members for each of at most 512 layers. A header costs its writer 512 bytes, us a
// node of a map.
constexpr std::size_t kMostMembers = 100'000;
constexpr std::uint64_t kMostRecords = 1u << 20;  // bytes of one PAX header or long name, read into memory

[[noreturn]] void bad_archive(const ReadOnlyFile& file, std::uint64_t offset, const std::string& what) {
  throw Error(ExitCode::input, fmt::format("{}: {} at byte {}", file.path().string(), what, offset));
}

std::string field(std::string_view header, std::size_t at, std::size_t size) {
  std::string_view raw = header.substr(at, size);
  return std::string(raw.substr(0, raw.find('\0')));
}

// Octal with blanks and zeros around, or GNU's big-endian binary. nullopt for anything else.
std::optional<std::uint64_t> number(std::string_view raw) {
  if ((static_cast<unsigned char>(raw[0]) & 0x80) != 0) {
    std::uint64_t value = static_cast<unsigned char>(raw[0]) & 0x7f;
    for (char c : raw.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;  // eight more bits would not fit 63
      value = (value << 8) | static_cast<unsigned char>(c);
    }
    return value;
  }
  std::size_t from = raw.find_first_not_of(' ');
  std::size_t to = raw.find_first_of(std::string_view(" \0", 2), from == raw.npos ? 0 : from);
  if (from == raw.npos) return std::nullopt;
  std::string_view digits = raw.substr(from, to == raw.npos ? to : to - from);
  std::uint64_t value = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> decimal(std::string_view digits) {
  std::uint64_t value = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The sum of all bytes, those of the checksum itself taken as blanks. It tells an archive from another file
// and a header from a member's bytes; it protects from nobody.
bool checksum_is_right(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  return number(header.substr(148, 8)) == sum;
}

// "NN key=value\n" records, where NN counts the whole record in bytes, itself included: it must leave room
// for a blank, an equals sign and the newline, and end inside the header. Throws the text of what is wrong.
std::map<std::string, std::string> pax_records(std::string_view text) {
  std::map<std::string, std::string> records;
  while (!text.empty()) {
    std::size_t length = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
    auto used = static_cast<std::size_t>(end - text.data());
    if (problem != std::errc() || length > text.size() || length < used + 3 || *end != ' ' ||
        text[length - 1] != '\n')
      throw Error(ExitCode::input, "a damaged PAX header");
    std::string_view record = text.substr(used + 1, length - used - 2);
    std::size_t equals = record.find('=');
    if (equals == record.npos) throw Error(ExitCode::input, "a damaged PAX header");
    records[std::string(record.substr(0, equals))] = std::string(record.substr(equals + 1));
    text.remove_prefix(length);
  }
  return records;
}

// "./a//b/" and "a/b" are one name; ".." goes up and stays inside. A name is looked up here and never on a
// disk.
std::string plain_name(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      plain.resize(plain.find('/') == plain.npos ? 0 : plain.rfind('/'));
      continue;
    }
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

}  // namespace

ArchiveIndex::ArchiveIndex(const ReadOnlyFile& file) : file_(file) {
  std::map<std::string, std::string> pax;  // of the next member
  std::string long_name;
  std::size_t members = 0;
  for (std::uint64_t at = 0; at + kBlock <= file.size();) {
    std::string header = file.section(at, kBlock, kBlock);
    if (header.find_first_not_of('\0') == header.npos) return;  // the first of the two that end an archive
    if (!checksum_is_right(header))
      bad_archive(file, at, at == 0 ? "not a tar archive" : "a damaged tar header");
    if (++members > kMostMembers) bad_archive(file, at, fmt::format("more than {} members", kMostMembers));
    auto size = number(std::string_view(header).substr(124, 12));
    if (pax.contains("size")) size = decimal(pax["size"]);  // over the header's, which holds 8 GiB
    char type = header[156];
    if (!size || *size > file.size() - at - kBlock) bad_archive(file, at, "a member that leaves the archive");
    BlobSection section{&file, at + kBlock, *size};
    at += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
    if (type == 'x' || type == 'L') {
      std::string text = file.section(section.offset, section.size, kMostRecords);
      if (type == 'x')
        pax = pax_records(text);
      else
        long_name = text.substr(0, text.find('\0'));
      continue;
    }
    std::string prefix = header.compare(257, 6, "ustar\0", 6) == 0 ? field(header, 345, 155) : "";
    std::string name = prefix.empty() ? field(header, 0, 100) : prefix + "/" + field(header, 0, 100);
    if (!long_name.empty()) name = long_name;
    if (pax.contains("path")) name = pax["path"];
    std::string link = pax.contains("linkpath") ? pax["linkpath"] : field(header, 157, 100);
    add(plain_name(name), type, link, section);
    pax.clear();
    long_name.clear();
  }
}

void ArchiveIndex::add(std::string name, char type, const std::string& link, const BlobSection& section) {
  files_.erase(name);  // of two members of one name the later counts, as when the archive is unpacked
  links_.erase(name);
  if (type == '0' || type == '\0') {
    files_.emplace(std::move(name), section);
  } else if (type == '1') {
    links_.emplace(std::move(name), plain_name(link));
  } else if (type == '2') {
    std::size_t slash = name.rfind('/');
    std::string folder = slash == name.npos ? "" : name.substr(0, slash + 1);
    links_.emplace(std::move(name), plain_name(link.starts_with('/') ? link : folder + link));
  }
}

bool ArchiveIndex::contains(std::string_view name) const {
  return files_.find(name) != files_.end() || links_.find(name) != links_.end();
}

BlobSection ArchiveIndex::find(std::string_view name) const {
  std::string at = plain_name(name);
  for (int links = 0; links < 8; ++links) {  // one is usual; more may go round in circles
    if (auto found = files_.find(at); found != files_.end()) return found->second;
    auto link = links_.find(at);
    if (link == links_.end()) break;
    at = link->second;
  }
  throw Error(ExitCode::input,
              fmt::format("{}: no file '{}' inside", file_.path().string(), std::string(name)));
}

}  // namespace kiln
