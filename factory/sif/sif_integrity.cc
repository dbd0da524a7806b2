#include "factory/sif/sif_integrity.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/base/json.h"

namespace kiln::sif {
namespace {

constexpr std::size_t kMostMessage = 1u << 20;
constexpr std::size_t kArmourLine = 64;

[[noreturn]] void bad_message(const std::string& what) {
  throw Error(ExitCode::input, "not a clear-signed message as GnuPG writes it: " + what);
}

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::string_view next() {
    std::size_t end = text_.find('\n');
    if (end == std::string_view::npos) return std::exchange(text_, {});
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return line;
  }
  void expect(std::string_view line) {
    if (next() != line) bad_message(fmt::format("expected the line '{}'", line));
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// The checksum of ASCII armour, RFC 4880 section 6.1.
std::uint32_t crc24(std::string_view bytes) {
  std::uint32_t crc = 0xb704ce;
  for (char byte : bytes) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) << 16;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x800000) != 0 ? 0x864cfb : 0);
  }
  return crc & 0xffffff;
}

// Only the one spelling of the bytes: right padding, unused bits zero.
std::string from_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) bad_message("the signature is not base64");
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  if (base64_of(bytes) != text) bad_message("the signature's base64 is not spelled as it should be");
  return bytes;
}

std::string read_armour(Lines& lines) {
  lines.expect("-----BEGIN PGP SIGNATURE-----");
  lines.expect("");
  std::string base64;
  std::string_view line;
  constexpr std::string_view kEnd = "-----END PGP SIGNATURE-----";
  bool last = false;
  while (!(line = lines.next()).starts_with('=') && line != kEnd) {
    if (line.empty() || line.size() > kArmourLine || last)
      bad_message("the signature's lines are not of 64 characters");
    last = line.size() < kArmourLine;
    base64 += line;
  }
  std::string bytes = from_base64(base64);
  if (line == kEnd) return bytes;  // Apptainer's library writes no checksum
  std::uint32_t crc = crc24(bytes);
  std::string sum = {static_cast<char>(crc >> 16), static_cast<char>(crc >> 8), static_cast<char>(crc)};
  if (line != "=" + base64_of(sum)) bad_message("the signature's checksum is wrong");
  lines.expect(kEnd);
  return bytes;
}

}  // namespace

ClearSigned read_clear_signed(std::string_view message) {
  if (message.size() > kMostMessage) bad_message("it is longer than 1 MiB");
  Lines lines(message);
  lines.expect("-----BEGIN PGP SIGNED MESSAGE-----");
  ClearSigned read;
  std::string_view header = lines.next();
  for (std::string_view hash : {"SHA256", "SHA384", "SHA512"})
    if (header == fmt::format("Hash: {}", hash)) read.hash = hash;
  if (read.hash.empty()) bad_message("expected a header 'Hash: SHA256', SHA384 or SHA512");
  lines.expect("");
  read.text = lines.next();
  // White space at a line's end and an escaping "- " are left out of what is signed.
  if (read.text.empty() || read.text.starts_with('-') ||
      read.text.find_first_of(" \t\r") != std::string::npos)
    bad_message("the signed text is not one line of JSON without white space");
  read.signature = read_armour(lines);
  if (!lines.at_end()) bad_message("something follows the signature");
  return read;
}

namespace {

constexpr std::uint64_t kMostPadding = 65'536;  // the largest page size that a writer aligns to

// Places of a descriptor's fields, see sif_format.h.
constexpr std::size_t kIdAt = 5;
constexpr std::size_t kLinkAt = 13;
constexpr std::size_t kOffsetAt = 17;
constexpr std::size_t kSizeAt = 25;
constexpr std::size_t kStoredAt = 33;
constexpr std::size_t kCreatedAt = 41;
constexpr std::size_t kModifiedAt = 49;
constexpr std::size_t kUidAt = 57;

Digest digest_of_header(const SifHeader& header) {
  std::string bytes = encode(header);
  return Digest::of(bytes.substr(0, 45) + bytes.substr(48, 16));  // all but the architecture between them
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
  return bytes;
}

Digest digest_of_descriptor(const SifObject& object, std::uint32_t relative_id) {
  std::string bytes = encode(object);
  auto part = [&](std::size_t from, std::size_t to) { return bytes.substr(from, to - from); };
  return Digest::of(part(0, kIdAt) + little_endian(relative_id) + part(kLinkAt, kOffsetAt) +
                    part(kSizeAt, kStoredAt) + part(kCreatedAt, kModifiedAt) + part(kUidAt, bytes.size()));
}

Digest digest_of_content(const ReadOnlyFile& file, const SifObject& object) {
  Hasher hasher;
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(object.size, 1u << 20)), '\0');
  for (std::uint64_t done = 0; done < object.size;) {
    auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), object.size - done));
    std::size_t got = file.read_at(object.offset + done, buffer.data(), want);
    if (got == 0) file.fail(fmt::format("object {}: the file ends inside it", object.id));
    hasher.update(buffer.data(), got);
    done += got;
  }
  return hasher.finish();
}

// The group's objects by id.
std::vector<const SifObject*> members(const SifFile& sif, std::uint32_t number) {
  std::vector<const SifObject*> found;
  for (const SifObject& object : sif.objects)
    if (object.type != SifType::signature && object.group == (kSifGroupBit | number))
      found.push_back(&object);
  std::ranges::sort(found, {}, &SifObject::id);
  if (found.empty()) throw Error(ExitCode::input, fmt::format("the SIF has no objects in group {}", number));
  return found;
}

Digest digest_at(const JsonNode& node, std::string_view key) { return Digest::parse(node.at(key).string()); }

void check_zeros(const ReadOnlyFile& file, std::uint64_t from, std::uint64_t to, std::string_view where) {
  std::string buffer(65'536, '\0');
  while (from < to) {
    auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), to - from));
    std::size_t got = file.read_at(from, buffer.data(), want);
    auto end = buffer.begin() + static_cast<std::ptrdiff_t>(got);
    auto other = std::find_if(buffer.begin(), end, [](char c) { return c != '\0'; });
    if (other != end)
      file.fail(fmt::format("byte {} {} is not zero",
                            from + static_cast<std::uint64_t>(other - buffer.begin()), where));
    if (got == 0) file.fail(fmt::format("the file ends {}", where));
    from += got;
  }
}

// Descriptors as we would write them, and those not in use empty.
void check_table(const ReadOnlyFile& file, const SifFile& sif) {
  const SifHeader& header = sif.header;
  if (encode(header) != file.section(0, kSifHeaderSize, kSifHeaderSize))
    file.fail("header: bytes after the end of a text field");
  check_zeros(file, kSifHeaderSize, header.descriptor_offset, "between header and descriptors");
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < header.total; ++i) {
    std::uint64_t at = header.descriptor_offset + i * kSifDescriptorSize;
    std::string bytes = file.section(at, kSifDescriptorSize, kSifDescriptorSize);
    if (next < sif.objects.size() && bytes == encode(sif.objects[next]))
      ++next;
    else
      check_zeros(file, at, at + kSifDescriptorSize, fmt::format("of the unused descriptor {}", i));
  }
  if (next != sif.objects.size()) file.fail("a descriptor has bytes after the end of its name");
  check_zeros(file, header.descriptor_offset + header.descriptor_length, header.data_offset,
              "between descriptors and data");
}

void check_places(const ReadOnlyFile& file, const SifFile& sif) {
  std::uint64_t end = sif.header.data_offset;
  std::uint32_t id = 0;
  for (const SifObject& object : sif.objects) {
    if (object.id != ++id) file.fail(fmt::format("object {}: expected the id {}", object.id, id));
    std::uint64_t padding = object.stored - object.size;
    if (padding >= kMostPadding || object.offset != end + padding)
      file.fail(fmt::format("object {}: it begins at {}, not at the end of the object before it", object.id,
                            object.offset));
    check_zeros(file, end, object.offset, fmt::format("before object {}", object.id));
    end = object.offset + object.size;
  }
  if (end != file.size() || end != sif.header.data_offset + sif.header.data_length)
    file.fail(fmt::format("the objects end at {}, the data at {}, the file at {}", end,
                          sif.header.data_offset + sif.header.data_length, file.size()));
}

void check_times(const ReadOnlyFile& file, const SifFile& sif) {
  std::int64_t first = sif.objects.front().created;
  std::int64_t last = first;
  for (const SifObject& object : sif.objects) {
    if (object.modified != object.created)
      file.fail(
          fmt::format("object {}: made at {}, changed at {}", object.id, object.created, object.modified));
    last = std::max(last, object.modified);
  }
  if (sif.header.created != first || sif.header.modified != last)
    file.fail("header: its times are not those of the first and the last object");
}

}  // namespace

std::string integrity_metadata(const ReadOnlyFile& file, const SifFile& sif, std::uint32_t number) {
  auto objects = members(sif, number);
  std::string list;
  for (const SifObject* object : objects) {
    std::uint32_t relative = object->id - objects.front()->id;
    list += fmt::format(R"({}{{"relativeId":{},"descriptorDigest":"{}","objectDigest":"{}"}})",
                        list.empty() ? "" : ",", relative, digest_of_descriptor(*object, relative).text(),
                        digest_of_content(file, *object).text());
  }
  return fmt::format(R"({{"version":1,"header":{{"digest":"{}"}},"objects":[{}]}})",
                     digest_of_header(sif.header).text(), list);
}

void check_integrity(const ReadOnlyFile& file, const SifFile& sif, std::uint32_t number,
                     std::string_view metadata) {
  auto document = JsonDocument::parse(std::string(metadata), "signature");
  JsonNode root = document.root();
  root.allow_only({"version", "header", "objects"});
  if (root.at("version").integer(1, INT32_MAX) != 1)
    file.fail("the signature is of a version that is not known");
  if (digest_at(root.at("header"), "digest") != digest_of_header(sif.header))
    file.fail("the header is not the one that was signed");
  auto objects = members(sif, number);
  auto signed_objects = root.at("objects").items();
  if (signed_objects.size() != objects.size())
    file.fail(fmt::format("{} objects were signed, {} are there", signed_objects.size(), objects.size()));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const JsonNode& node = signed_objects[i];
    const SifObject& object = *objects[i];
    std::uint32_t relative = object.id - objects.front()->id;
    node.allow_only({"relativeId", "descriptorDigest", "objectDigest"});
    if (node.at("relativeId").integer(0, INT32_MAX) != relative)
      file.fail(fmt::format("object {} was not signed", object.id));
    if (digest_at(node, "descriptorDigest") != digest_of_descriptor(object, relative))
      file.fail(fmt::format("object {}: its descriptor is not the one that was signed", object.id));
    if (digest_at(node, "objectDigest") != digest_of_content(file, object))
      file.fail(fmt::format("object {}: its content differs from the signed one", object.id));
  }
}

void check_canonical(const ReadOnlyFile& file, const SifFile& sif) {
  if (sif.objects.empty()) file.fail("there is no object");
  check_table(file, sif);
  check_places(file, sif);
  check_times(file, sif);
}

}  // namespace kiln::sif
