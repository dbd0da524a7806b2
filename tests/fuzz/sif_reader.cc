// SIF files from anybody: refused with an Error, or every object lies inside the file.
#include "sif/sif_reader.h"

#include "memory_file.h"

// The input stands for the header, the first descriptors and the data; a whole table would be 28 KB of zeros.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  using namespace kiln::sif;
  std::string text(reinterpret_cast<const char*>(bytes), size);
  if (text.size() > kSifHeaderSize) text.insert(kSifHeaderSize, kSifDescriptorOffset - kSifHeaderSize, '\0');
  if (!text.empty() && static_cast<unsigned char>(text.back()) % 4 != 0)
    text.resize(kSifDataOffset + 8192, '\0');
  if (text.size() >= kSifHeaderSize) text.replace(32, 13, std::string("SIF_MAGIC\00001\0", 13));
  fuzz::MemoryFile memory(text);
  ReadOnlyFile file(memory.path());
  try {
    SifFile sif = read_sif(file);
    for (const SifObject& object : sif.objects)
      if (object.offset > file.size() || object.size > file.size() - object.offset) __builtin_trap();
    check_primary_partition(file, sif);
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
