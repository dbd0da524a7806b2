// ELF files from anybody: refused with an Error, or examined; never followed out of their bytes.
#include <nlohmann/json.hpp>

#include "factory/evidence/file_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  using namespace kiln::evidence;
  std::string text(reinterpret_cast<const char*>(bytes), size);
  if (text.size() >= 20) {
    text.replace(0, 4,
                 "\x7f"
                 "ELF");
    text[5] = 1;
  }
  try {
    FileFacts facts = examine(text, 1);
    Json json = to_json(facts);
    if (facts.code_bytes > text.size()) __builtin_trap();
    (void)json;
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
  }
  return 0;
}
