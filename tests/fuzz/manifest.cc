// Manifests, configurations and archives from anybody: refused with an Error or read.
#include <nlohmann/json.hpp>

#include "factory/oci/archive_index.h"
#include "factory/oci/documents.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    if (bytes[0] % 3 == 0) {
      sif::fuzz::MemoryFile memory(text);
      ReadOnlyFile file(memory.path());
      ArchiveIndex(file).contains("a");
    } else if (bytes[0] % 3 == 1) {
      Manifest manifest = manifest_from_json(JsonDocument::parse(text, "manifest").root());
      manifest_from_json(JsonDocument::parse(to_json(manifest).dump(), "again").root());
    } else {
      ImageConfig config = image_config_from_json(JsonDocument::parse(text, "config").root());
      if (image_config_from_json(JsonDocument::parse(to_json(config).dump(), "again").root()) != config)
        __builtin_trap();
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
