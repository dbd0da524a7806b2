#include "factory/sif/sif_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "factory/base/enum_names.h"

namespace kiln::sif {
namespace {

// As siftool prints them.
constexpr auto kTypeNames = enum_names<SifType>({{SifType::definition_file, "Def.FILE"},
                                                 {SifType::environment, "Env.Vars"},
                                                 {SifType::labels, "JSON.Labels"},
                                                 {SifType::partition, "FS"},
                                                 {SifType::signature, "Signature"},
                                                 {SifType::json, "JSON.Generic"},
                                                 {SifType::generic, "Generic/Raw"},
                                                 {SifType::crypto_message, "Cryptographic Message"},
                                                 {SifType::sbom, "SBOM"},
                                                 {SifType::oci_root_index, "OCI.RootIndex"},
                                                 {SifType::oci_blob, "OCI.Blob"}});

constexpr std::size_t kExtraSize = 384;
constexpr std::size_t kName = 128;

constexpr std::pair<std::string_view, std::string_view> kArchitectures[] = {
    {"386", "01"},    {"amd64", "02"},    {"arm", "03"},   {"arm64", "04"},
    {"ppc64", "05"},  {"ppc64le", "06"},  {"mips", "07"},  {"mipsle", "08"},
    {"mips64", "09"}, {"mips64le", "10"}, {"s390x", "11"}, {"riscv64", "12"},
};

// Fields stand one behind the other without padding, little-endian: Apptainer writes its structs with Go's
// binary.Write (github.com/apptainer/sif, descriptor.go, load.go).
class Encoder {
 public:
  template <typename Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_ += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  // Exactly `size` bytes, zeros at the end. REQUIRES: the text fits.
  void text(std::string_view value, std::size_t size) {
    bytes_ += value;
    bytes_.append(size - value.size(), '\0');
  }
  std::string finish() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// REQUIRES: the bytes are as many as are asked for. Both callers read whole headers and descriptors.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}
  template <typename Number>
  Number number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    bytes_.remove_prefix(sizeof(Number));
    return static_cast<Number>(value);
  }
  std::string raw(std::size_t size) {
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  std::string text(std::size_t size) {
    std::string value = raw(size);
    value.resize(std::min(value.find('\0'), value.size()));
    return value;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string sif_type_name(SifType type) {
  std::string_view name = kTypeNames.of(type);
  return std::string(name.empty() ? "Unknown" : name);
}

std::string sif_arch_code(std::string_view oci_architecture) {
  for (const auto& [name, code] : kArchitectures)
    if (name == oci_architecture) return std::string(code);
  throw Error(ExitCode::input, fmt::format("SIF has no code for the architecture '{}'", oci_architecture));
}

std::string sif_arch_name(std::string_view code) {
  for (const auto& [name, known] : kArchitectures)
    if (known == code) return std::string(name);
  return "unknown";
}

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

// The `extra` of a partition: file system, kind (4 bytes each), architecture (3), zeros. Of other objects it
// is theirs: a signature's has its hash and the signer's fingerprint there.
SifFileSystem SifObject::file_system() const {
  return type == SifType::partition ? SifFileSystem(Decoder(extra).number<std::int32_t>())
                                    : SifFileSystem::none;
}

SifPartition SifObject::partition() const {
  if (type != SifType::partition) return SifPartition::none;
  return SifPartition(Decoder(std::string_view(extra).substr(4)).number<std::int32_t>());
}

std::string SifObject::arch() const {
  return type == SifType::partition ? Decoder(std::string_view(extra).substr(8)).text(3) : "";
}

std::string partition_extra(SifFileSystem file_system, SifPartition partition, std::string_view arch_code) {
  Encoder encoder;
  encoder.number(static_cast<std::int32_t>(file_system));
  encoder.number(static_cast<std::int32_t>(partition));
  encoder.text(arch_code, kExtraSize - 8);
  return encoder.finish();
}

std::string encode(const SifHeader& header) {
  Encoder encoder;
  encoder.text(header.launch, 32);
  encoder.text("SIF_MAGIC", 10);  // its NUL is part of it, as those of version and arch are
  encoder.text("01", 3);
  encoder.text(header.arch, 3);
  for (unsigned char byte : header.uuid) encoder.number(byte);
  encoder.number(header.created);
  encoder.number(header.modified);
  for (std::uint64_t value : {header.free, header.total, header.descriptor_offset, header.descriptor_length,
                              header.data_offset, header.data_length})
    encoder.number(value);
  return encoder.finish();
}

std::string encode(const SifObject& object) {
  Encoder encoder;
  encoder.number(static_cast<std::int32_t>(object.type));
  encoder.number(std::uint8_t{1});
  for (std::uint32_t value : {object.id, object.group, object.link}) encoder.number(value);
  for (std::uint64_t value : {object.offset, object.size, object.stored}) encoder.number(value);
  for (std::int64_t value : {object.created, object.modified, object.uid, object.gid}) encoder.number(value);
  encoder.text(object.name, kName);
  encoder.text(object.extra, kExtraSize);
  return encoder.finish();
}

SifHeader decode_sif_header(std::string_view bytes) {
  Decoder decoder(bytes);
  SifHeader header;
  header.launch = decoder.text(32);
  if (decoder.raw(10) != std::string_view("SIF_MAGIC\0", 10))
    throw Error(ExitCode::input, "not a SIF file: the magic 'SIF_MAGIC' is not at byte 32");
  if (std::string version = decoder.text(3); version != "01")
    throw Error(ExitCode::input, fmt::format("SIF version '{}' is not known", version),
                "kiln reads version 01");
  header.arch = decoder.text(3);
  for (unsigned char& byte : header.uuid) byte = decoder.number<unsigned char>();
  header.created = decoder.number<std::int64_t>();
  header.modified = decoder.number<std::int64_t>();
  for (std::uint64_t* value : {&header.free, &header.total, &header.descriptor_offset,
                               &header.descriptor_length, &header.data_offset, &header.data_length})
    *value = decoder.number<std::uint64_t>();
  return header;
}

SifObject decode_sif_object(std::string_view bytes, bool& used) {
  Decoder decoder(bytes);
  SifObject object;
  object.type = SifType(decoder.number<std::int32_t>());  // any number; read_sif refuses those without a name
  auto in_use = decoder.number<std::uint8_t>();
  if (in_use > 1) throw Error(ExitCode::input, fmt::format("the 'used' byte is {}, neither 0 nor 1", in_use));
  used = in_use == 1;
  for (std::uint32_t* value : {&object.id, &object.group, &object.link})
    *value = decoder.number<std::uint32_t>();
  for (std::uint64_t* value : {&object.offset, &object.size, &object.stored})
    *value = decoder.number<std::uint64_t>();
  for (std::int64_t* value : {&object.created, &object.modified, &object.uid, &object.gid})
    *value = decoder.number<std::int64_t>();
  object.name = decoder.text(kName);
  object.extra = decoder.raw(kExtraSize);
  return object;
}

}  // namespace kiln::sif
