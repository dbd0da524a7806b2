// Tar archives made by hand, so that tests can make what no tar program would.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::testing {

struct TarEntry {
  std::string name;
  char type = '0';
  std::string content = {};
  std::string link = {};
  unsigned mode = 0644;
  std::uint64_t uid = 0;
  std::uint64_t gid = 0;
  std::int64_t mtime = 1000;
  unsigned major = 0, minor = 0;
};

inline std::string octal(std::uint64_t value, int width) {
  return fmt::format("{:0{}o}", value, width - 1) + '\0';
}

inline std::string padded(std::string bytes, std::size_t block = 512) {
  bytes.resize((bytes.size() + block - 1) / block * block, '\0');
  return bytes;
}

inline void fix_checksum(std::string& header) {
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
}

// A ustar header. `size` may lie about the content that follows.
inline std::string tar_header(const TarEntry& entry, std::uint64_t size) {
  std::string header(512, '\0');
  header.replace(0, std::min<std::size_t>(entry.name.size(), 100), entry.name.substr(0, 100));
  header.replace(100, 8, octal(entry.mode, 8));
  header.replace(108, 8, octal(entry.uid & 07777777, 8));
  header.replace(116, 8, octal(entry.gid & 07777777, 8));
  header.replace(124, 12, octal(size, 12));
  header.replace(136, 12, octal(static_cast<std::uint64_t>(entry.mtime), 12));
  header[156] = entry.type;
  header.replace(157, std::min<std::size_t>(entry.link.size(), 100), entry.link.substr(0, 100));
  header.replace(257, 8, std::string("ustar\00000", 8));
  header.replace(329, 8, octal(entry.major, 8));
  header.replace(337, 8, octal(entry.minor, 8));
  fix_checksum(header);
  return header;
}

inline std::string pax_record(const std::string& key, const std::string& value) {
  std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) length = std::to_string(length).size() + rest;
  return fmt::format("{} {}={}\n", length, key, value);
}

inline std::string pax_header(const std::vector<std::pair<std::string, std::string>>& records) {
  std::string text;
  for (const auto& [key, value] : records) text += pax_record(key, value);
  TarEntry entry{"PaxHeader/x", 'x'};
  return tar_header(entry, text.size()) + padded(text);
}

inline std::string tar_entry(const TarEntry& entry) {
  std::string bytes;
  std::vector<std::pair<std::string, std::string>> pax;
  if (entry.name.size() > 100) pax.emplace_back("path", entry.name);
  if (entry.link.size() > 100) pax.emplace_back("linkpath", entry.link);
  if (entry.uid > 07777777) pax.emplace_back("uid", std::to_string(entry.uid));
  if (!pax.empty()) bytes = pax_header(pax);
  return bytes + tar_header(entry, entry.content.size()) + padded(entry.content);
}

inline std::string tar_end() { return std::string(1024, '\0'); }

inline std::string tar(const std::vector<TarEntry>& entries) {
  std::string bytes;
  for (const TarEntry& entry : entries) bytes += tar_entry(entry);
  return bytes + tar_end();
}

// Short forms: "d a/", "f a/b=content", "l a/s>target", "h a/h>a/b", "w a/b" (whiteout), "o a" (opaque).
inline TarEntry short_form(std::string_view text) {
  char kind = text[0];
  std::string rest(text.substr(2));
  auto split = [&rest](char at) {
    std::size_t place = rest.find(at);
    std::string right = place == rest.npos ? "" : rest.substr(place + 1);
    rest = rest.substr(0, place);
    return right;
  };
  auto whiteout = [](const std::string& path, const std::string& prefix) {
    std::size_t slash = path.rfind('/');
    return slash == path.npos ? prefix + path : path.substr(0, slash + 1) + prefix + path.substr(slash + 1);
  };
  if (kind == 'd') return {rest, '5', "", "", 0755};
  if (kind == 'f') {
    std::string content = split('=');
    return {rest, '0', content};
  }
  if (kind == 'l' || kind == 'h') {
    std::string target = split('>');
    return {rest, kind == 'l' ? '2' : '1', "", target};
  }
  if (kind == 'p') return {rest, '6'};
  if (kind == 'c') return {rest, '3', "", "", 0600, 0, 0, 0, 1, 3};
  if (kind == 'w') return {whiteout(rest, ".wh."), '0'};
  return {rest.empty() ? ".wh..wh..opq" : rest + "/.wh..wh..opq", '0'};  // 'o'
}

inline std::string short_tar(const std::vector<std::string>& entries) {
  std::vector<TarEntry> list;
  for (const std::string& text : entries) list.push_back(short_form(text));
  return tar(list);
}

}  // namespace kiln::testing
