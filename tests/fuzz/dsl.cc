// The optimisation DSL from anybody: refused, or a query.
#include "registry/dsl.h"

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  return fuzz::refuses_or_reads([&] {
    DslReading reading =
        read_dsl(JsonDocument::parse(fuzz::text_of(bytes, size), "query.json"), {"xla", "inductor"});
    for (const std::string& note : reading.unknown)
      if (note.empty()) __builtin_trap();
  });
}
