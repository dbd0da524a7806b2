// The Singularity Image Format, version 01, as Apptainer and Singularity read it. All numbers are
// little-endian.
//
//          0 ┌───────────────────────────────────────────────────────────┐
//            │ launch     32 bytes  "#!/usr/bin/env run-singularity\n"   │
//            │ magic      10        "SIF_MAGIC\0"                        │
//            │ version     3        "01\0"                               │
//            │ arch        3        of the primary partition: "02\0"     │
//            │ uuid       16                                             │
//            │ created     8        seconds since 1970                   │  header,
//            │ modified    8                                             │  128 bytes
//            │ free        8        unused descriptors                   │
//            │ total       8        descriptors                          │
//            │ desc offset 8        ────────────────────────────┐        │
//            │ desc length 8                                    │        │
//            │ data offset 8        ────────────────────────────┼──┐     │
//            │ data length 8                                    │  │     │
//            ├──────────────────────────────────────────────────│──│─────┤
//       4096 │ descriptor 0                           ◀─────────┘  │     │
//            │   type      4   0x4001 definition file, 0x4004 partition, │
//            │                 0x4005 signature, 0x4006 JSON, …    │     │
//            │   used      1                                       │     │
//            │   id        4   from 1                              │     │  descriptors,
//            │   group     4   0xf0000000 + number, or without     │     │  585 bytes
//            │   link      4   id, or group, that this belongs to  │     │  each
//            │   offset    8   ─────────────────────────────────┐  │     │
//            │   size      8                                    │  │     │
//            │   stored    8   size with the padding before it  │  │     │
//            │   created, modified, uid, gid   8 each           │  │     │
//            │   name    128                                    │  │     │
//            │   extra   384   partition: file system, kind, arch  │     │
//            │ descriptor 1 …                                   │  │     │
//            ├──────────────────────────────────────────────────│──│─────┤
//      32176 │ definition file, JSON objects          ◀─────────┴──┘     │
//            ├───────────────────────────────────────────────────────────┤
//   k × 4096 │ SquashFS: the primary system partition                    │
//            └───────────────────────────────────────────────────────────┘
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "factory/oci/blob.h"
#include "factory/sif/output_file.h"

namespace kiln::sif {

inline constexpr std::uint64_t kSifHeaderSize = 128;
inline constexpr std::uint64_t kSifDescriptorSize = 585;
inline constexpr std::uint64_t kSifDescriptorOffset = 4096;
inline constexpr std::uint32_t kSifDescriptors = 48;  // made by default
inline constexpr std::uint64_t kSifDataOffset = kSifDescriptorOffset + kSifDescriptors * kSifDescriptorSize;
inline constexpr std::uint64_t kSifPartitionAlignment = 4096;
inline constexpr std::uint32_t kSifGroupBit = 0xf0000000;
inline constexpr std::string_view kSifLaunch = "#!/usr/bin/env run-singularity\n";

enum class SifType : std::int32_t {
  definition_file = 0x4001,
  environment = 0x4002,
  labels = 0x4003,
  partition = 0x4004,
  signature = 0x4005,
  json = 0x4006,
  generic = 0x4007,
  crypto_message = 0x4008,
  sbom = 0x4009,
  oci_root_index = 0x400a,
  oci_blob = 0x400b,
};
enum class SifFileSystem : std::int32_t {
  none = 0,
  squashfs = 1,
  ext3 = 2,
  archive = 3,
  raw = 4,
  encrypted_squashfs = 5
};
enum class SifPartition : std::int32_t { none = 0, system = 1, primary_system = 2, data = 3, overlay = 4 };

std::string sif_type_name(SifType type);  // as siftool prints them: "Def.FILE"

// A data object and what its descriptor says of it.
struct SifObject {
  SifType type = SifType::generic;
  std::uint32_t id = 0;
  std::uint32_t group = kSifGroupBit | 1;  // kSifGroupBit alone: in no group
  std::uint32_t link = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t stored = 0;
  std::int64_t created = 0;
  std::int64_t modified = 0;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string name;
  std::string extra;  // 384 bytes

  SifFileSystem file_system() const;  // of a partition, else `none`
  SifPartition partition() const;
  std::string arch() const;  // of a partition, SIF's code: "02"
};

struct SifHeader {
  std::string launch;
  std::string arch;  // SIF's code
  std::array<unsigned char, 16> uuid{};
  std::int64_t created = 0;
  std::int64_t modified = 0;
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  std::uint64_t descriptor_offset = 0;
  std::uint64_t descriptor_length = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t data_length = 0;
};

std::string sif_arch_code(
    std::string_view oci_architecture);            // "amd64" → "02"; throws Error(input) for an unknown one
std::string sif_arch_name(std::string_view code);  // "02" → "amd64", "unknown"
std::string uuid_text(const std::array<unsigned char, 16>& uuid);

// The bytes of the header and of one descriptor, 128 and 585.
std::string encode(const SifHeader& header);
std::string encode(const SifObject& object);
SifHeader decode_sif_header(std::string_view bytes);
// nullopt-like: `used`: whether the descriptor is in use.
SifObject decode_sif_object(std::string_view bytes, bool& used);
// The 384 bytes of a partition.
std::string partition_extra(SifFileSystem file_system, SifPartition partition, std::string_view arch_code);

}  // namespace kiln::sif
