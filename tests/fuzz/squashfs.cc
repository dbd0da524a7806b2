// SquashFS images from anybody, as `kiln sif check` reads them: refused with an Error, or read to the last
// block.
#include "factory/sif/squashfs_reader.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  using namespace kiln::sif;
  fuzz::MemoryFile memory({reinterpret_cast<const char*>(bytes), size});
  ReadOnlyFile file(memory.path());
  try {
    SquashfsTotals totals = read_squashfs(file, 0, file.size(), 1);
    if (totals.inodes == 0) __builtin_trap();  // there is always the root
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
