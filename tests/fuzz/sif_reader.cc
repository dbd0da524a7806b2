// SIF files from anybody: refused with an Error, or every object lies inside the file. What a signature
// covers is read too, as `kiln sif verify` reads it before gpg is asked.
#include "factory/sif/sif_reader.h"

#include <set>

#include "factory/sif/sif_integrity.h"
#include "memory_file.h"

namespace {

using namespace kiln;
using namespace kiln::sif;

constexpr std::size_t kUuidAt = 48;
constexpr std::uint64_t kMostMessage = 1u << 20;

template <typename Work>
bool refused(Work work) {
  try {
    work();
    return false;
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
    return true;
  }
}

void read_signatures(const ReadOnlyFile& file, const SifFile& sif) {
  std::set<std::uint32_t> groups;
  for (const SifObject& object : sif.objects) {
    std::uint32_t group = object.group & ~kSifGroupBit;
    if (object.type == SifType::signature)
      refused([&] {
        ClearSigned message = read_clear_signed(file.section(object.offset, object.size, kMostMessage));
        check_integrity(file, sif, object.link & ~kSifGroupBit, message.text);
      });
    else if (group != 0)
      groups.insert(group);
  }
  for (std::uint32_t group : groups) {  // what we would sign we must take for signed
    std::string text = integrity_metadata(file, sif, group);
    if (refused([&] { check_integrity(file, sif, group, text); })) __builtin_trap();
  }
}

}  // namespace

// The input stands for the header, the first descriptors and the data; the gap between would be zeros.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(bytes), size);
  bool longer = size > kUuidAt && static_cast<unsigned char>(text[kUuidAt]) % 4 != 0;
  if (text.size() > kSifHeaderSize) text.insert(kSifHeaderSize, kSifDescriptorOffset - kSifHeaderSize, '\0');
  if (longer) text.resize(kSifDataOffset + 8192, '\0');  // a whole table
  if (text.size() >= kSifHeaderSize) text.replace(32, 13, std::string("SIF_MAGIC\00001\0", 13));
  fuzz::MemoryFile memory(text);
  ReadOnlyFile file(memory.path());
  refused([&] {
    SifFile sif = read_sif(file);
    for (const SifObject& object : sif.objects)
      if (object.offset > file.size() || object.size > file.size() - object.offset) __builtin_trap();
    refused([&] { check_canonical(file, sif); });
    read_signatures(file, sif);
    check_primary_partition(file, sif);
  });
  return 0;
}
