// A legacy folder from anybody: two files with these bytes. The import refuses them with an Error(input), or
// what it makes of them plans to exactly its images (import_folder proves that itself).
#include "factory/import/import.h"

#include <cstdint>

#include "factory/base/effects.h"
#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::size_t cut = text.find('\xff');
  std::map<std::string, std::string> files = {
      {"old/tf-2.1-gpu-src.Dockerfile", std::string(text.substr(0, cut))},
      {"old/tf-2.1-gpu-src.def", std::string(cut == std::string_view::npos ? "" : text.substr(cut + 1))},
      {"old/base.def", "Bootstrap: docker\nFrom: debian:12\n%post\n  true\n"},
      {"old/data", "x"}};
  try {
    ImportOptions options;
    options.compilers = {"tensorrt", "xla"};
    import_folder(MemoryFiles(files), "old", options, fuzz::some_cpus());
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
