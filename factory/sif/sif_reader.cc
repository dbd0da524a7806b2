#include "factory/sif/sif_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"

namespace kiln::sif {
namespace {

// SquashFS 4.0's superblock (Linux, fs/squashfs/squashfs_fs.h, struct squashfs_super_block): 96 bytes,
// little-endian.
constexpr std::uint64_t kSuperblock = 96;
constexpr std::uint64_t kNoTable = ~std::uint64_t{0};  // where an optional table would start

// True when [offset, offset + size) lies inside [0, end), without overflow: all three may be anybody's
// numbers, and offset + size may be small again.
bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
  return offset <= end && size <= end - offset;
}

void check_header(const ReadOnlyFile& file, const SifHeader& header) {
  if (!header.launch.starts_with("#!") && !header.launch.empty())
    file.fail("header: the launch script does not start with '#!'");
  if (header.arch != "00" && sif_arch_name(header.arch) == "unknown")
    file.fail(fmt::format("header: unknown architecture code '{}'", header.arch));
  if (header.created < 0 || header.modified < 0) file.fail("header: a time before 1970");
  if (header.total == 0 || header.total > kMostSifDescriptors)
    file.fail(fmt::format("header: {} descriptors, expected 1 to {}", header.total, kMostSifDescriptors));
  if (header.free > header.total)
    file.fail(fmt::format("header: {} of {} descriptors free", header.free, header.total));
  if (header.descriptor_offset < kSifHeaderSize ||
      !inside(header.descriptor_offset, header.descriptor_length, file.size()))
    file.fail("header: the descriptors lie outside the file or over the header");
  if (header.descriptor_length != header.total * kSifDescriptorSize)
    file.fail(
        fmt::format("header: {} descriptors do not fill {} bytes", header.total, header.descriptor_length));
  if (header.data_offset < header.descriptor_offset + header.descriptor_length ||
      !inside(header.data_offset, header.data_length, file.size()))
    file.fail("header: the data lie outside the file or over the descriptors");
}

void check_type(const ReadOnlyFile& file, const SifObject& object) {
  if (object.type < SifType::definition_file || object.type > SifType::oci_blob)
    file.fail(
        fmt::format("object {}: unknown type {:#x}", object.id, static_cast<std::int32_t>(object.type)));
  if (object.type != SifType::partition) return;
  if (object.file_system() < SifFileSystem::squashfs ||
      object.file_system() > SifFileSystem::encrypted_squashfs)
    file.fail(fmt::format("object {}: unknown file system {}", object.id,
                          static_cast<std::int32_t>(object.file_system())));
  if (object.partition() < SifPartition::system || object.partition() > SifPartition::overlay)
    file.fail(fmt::format("object {}: unknown kind of partition {}", object.id,
                          static_cast<std::int32_t>(object.partition())));
  if (object.arch() != "00" && sif_arch_name(object.arch()) == "unknown")
    file.fail(fmt::format("object {}: unknown architecture code", object.id));
}

void check_object(const ReadOnlyFile& file, const SifHeader& header, const SifObject& object) {
  if (object.id == 0 || object.id > header.total)
    file.fail(fmt::format("object with id {}, expected 1 to {}", object.id, header.total));
  check_type(file, object);
  if (object.offset < header.data_offset ||
      !inside(object.offset - header.data_offset, object.size, header.data_length))
    file.fail(fmt::format("object {}: {} bytes at {} lie outside the data section", object.id, object.size,
                          object.offset));
  if (object.stored < object.size)
    file.fail(fmt::format("object {}: {} bytes stored for {}", object.id, object.stored, object.size));
  if ((object.group & kSifGroupBit) != kSifGroupBit)
    file.fail(fmt::format("object {}: group {:#x} is no group number", object.id, object.group));
  if (object.created < 0 || object.modified < 0)
    file.fail(fmt::format("object {}: a time before 1970", object.id));
  for (char c : object.name)
    if (is_control(c)) file.fail(fmt::format("object {}: control characters in its name", object.id));
}

// A link to what is not there would let a signature stand for nothing, or for an object that is added later.
void check_links(const ReadOnlyFile& file, const std::vector<SifObject>& objects) {
  std::set<std::uint32_t> known{0};
  for (const SifObject& object : objects) known.insert({object.id, object.group});
  for (const SifObject& object : objects)
    if (!known.contains(object.link) || object.link == object.id)
      file.fail(fmt::format("object {}: linked to {:#x}, which is missing", object.id, object.link));
}

// Two objects over the same bytes: what is checked as the one could be run as the other.
void check_overlaps(const ReadOnlyFile& file, const std::vector<SifObject>& objects) {
  std::vector<const SifObject*> sorted;
  std::set<std::uint32_t> ids;
  for (const SifObject& object : objects) {
    if (!ids.insert(object.id).second) file.fail(fmt::format("two objects have the id {}", object.id));
    if (object.size > 0) sorted.push_back(&object);
  }
  std::ranges::sort(sorted, {}, &SifObject::offset);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->offset + sorted[i - 1]->size > sorted[i]->offset)
      file.fail(fmt::format("objects {} and {} overlap", sorted[i - 1]->id, sorted[i]->id));
}

// Of two primary partitions one runtime may take the first and another the last; the architecture is said
// twice.
void check_primary(const ReadOnlyFile& file, const SifFile& sif) {
  std::string arch = "00";
  unsigned count = 0;
  for (const SifObject& object : sif.objects)
    if (object.partition() == SifPartition::primary_system) {
      arch = object.arch();
      ++count;
    }
  if (count > 1) file.fail(fmt::format("{} primary partitions, expected one", count));
  if (arch != sif.header.arch)
    file.fail(
        fmt::format("header: architecture '{}', but '{}' in the primary partition", sif.header.arch, arch));
}

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

const SifObject& SifFile::primary() const {
  for (const SifObject& object : objects)
    if (object.partition() == SifPartition::primary_system) return object;
  throw Error(ExitCode::input, "the SIF has no primary system partition: there is nothing to run");
}

const SifObject& SifFile::object(std::uint32_t id) const {
  for (const SifObject& one : objects)
    if (one.id == id) return one;
  throw Error(ExitCode::input, fmt::format("the SIF has no object {}", id), "`kiln sif list` shows them");
}

SifFile read_sif(const ReadOnlyFile& file) {
  if (file.size() < kSifHeaderSize)
    file.fail(fmt::format("not a SIF file: {} bytes, the header alone has 128", file.size()));
  SifFile sif;
  try {
    sif.header = decode_sif_header(file.section(0, kSifHeaderSize, kSifHeaderSize));
  } catch (const Error& error) {
    throw Error(error.code(), SourceLocation{file.path().string(), 0, 0, ""}, error.message(), error.hint());
  }
  check_header(file, sif.header);
  std::string table = file.section(sif.header.descriptor_offset, sif.header.descriptor_length,
                                   kMostSifDescriptors * kSifDescriptorSize);
  for (std::uint64_t i = 0; i < sif.header.total; ++i) {
    bool used = false;
    SifObject object;
    try {
      object =
          decode_sif_object(std::string_view(table).substr(i * kSifDescriptorSize, kSifDescriptorSize), used);
    } catch (const Error& error) {
      file.fail(fmt::format("descriptor {}: {}", i, error.message()));
    }
    if (!used) continue;
    check_object(file, sif.header, object);
    sif.objects.push_back(std::move(object));
  }
  if (sif.objects.size() != sif.header.total - sif.header.free)
    file.fail(fmt::format("header: {} of {} descriptors free, but {} are in use", sif.header.free,
                          sif.header.total, sif.objects.size()));
  check_links(file, sif.objects);
  check_overlaps(file, sif.objects);
  check_primary(file, sif);
  return sif;
}

void check_primary_partition(const ReadOnlyFile& file, const SifFile& sif) {
  const SifObject& primary = sif.primary();
  if (primary.file_system() != SifFileSystem::squashfs) return;
  if (primary.size < kSuperblock) file.fail("the primary partition is too small for a SquashFS superblock");
  std::string super = file.section(primary.offset, kSuperblock, kSuperblock);
  if (!super.starts_with("hsqs"))  // 0x73717368; the other way round are big-endian images of 2.x and 3.x
    file.fail("the primary partition does not hold a SquashFS image");
  if (little_endian(super, 28, 2) != 4 || little_endian(super, 30, 2) != 0)
    file.fail("the primary partition's SquashFS is not of version 4.0");
  // What the kernel checks when it mounts the file system, before it gets the chance to.
  std::uint64_t block = little_endian(super, 12, 4);
  std::uint64_t log = little_endian(super, 22, 2);
  if (block < 4096 || block > (1u << 20) || log > 20 || block != 1ull << log)
    file.fail(fmt::format("the primary partition's SquashFS has the block size {}", block));
  std::uint64_t used = little_endian(super, 40, 8);
  if (used > primary.size)
    file.fail(fmt::format("the primary partition's SquashFS has {} bytes, of which {} are there", used,
                          primary.size));
  // Ids, extended attributes, inodes, folders, fragments, export table.
  for (std::size_t at : {48, 56, 64, 72, 80, 88}) {
    std::uint64_t table = little_endian(super, at, 8);
    bool optional = at == 56 || at == 80 || at == 88;
    if (table >= used && !(optional && table == kNoTable))
      file.fail(fmt::format("the primary partition's SquashFS has a table at {}, after its end", table));
  }
}

}  // namespace kiln::sif
