// Values of component axes: what is read is what was written.
#include "factory/recipe/component_value.h"

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  Kind kind = bytes[0] % 2 == 0 ? Kind::library : Kind::framework;
  std::string_view text = fuzz::text_of(bytes + 1, size - 1);
  return fuzz::refuses_or_reads([&] {
    std::string joined;
    for (const ComponentValue& value : parse_component_values(kind, text, {})) {
      joined += (joined.empty() ? "" : "+") + value.text;
      std::string again = value.name;
      if (!value.version.empty()) again += "@" + value.version;
      if (!value.method.empty()) again += ":" + value.method;
      if (again != value.text || value.name.empty()) __builtin_trap();
    }
    if (text != "none" && joined != text) __builtin_trap();
  });
}
