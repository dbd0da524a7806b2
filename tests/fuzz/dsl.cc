// The optimisation DSL from anybody: refused, or a query.
#include "registry/select/dsl.h"

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  return fuzz::refuses_or_reads([&] {
    const std::string text(fuzz::text_of(bytes, size));
    const JsonDocument document = JsonDocument::parse(text, "query.json");
    const DslReading reading = read_dsl(document, {"xla", "inductor"}, written_numbers(text));
    for (const DslNote& note : reading.notes)
      if (note.message.empty() || text_of(note).find(note.message) == std::string::npos) __builtin_trap();
  });
}
