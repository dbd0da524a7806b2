// The strict scanner: what it accepts is what nlohmann::json reads, and every value has its place.
#include "factory/base/json.h"

#include <nlohmann/json.hpp>

#include "readers.h"

namespace {

using namespace kiln;

void walk(const JsonNode& node, std::size_t depth) {
  SourceLocation where = node.where();
  if (where.line < 1 || where.column < 1 || depth > JsonLimits().depth) __builtin_trap();
  if (node.is_array())
    for (const JsonNode& item : node.items()) walk(item, depth + 1);
  if (!node.is_object()) return;
  for (const auto& [name, member] : node.members()) {
    if (node.where_key(name).line < where.line || !node.find(name)) __builtin_trap();
    walk(member, depth + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text = fuzz::text_of(bytes, size);
  return fuzz::refuses_or_reads([&] {
    JsonDocument document = JsonDocument::parse(text, "input.json");
    if (document.value() != Json::parse(text, nullptr, true, true)) __builtin_trap();
    walk(document.root(), 0);
    JsonDocument again = JsonDocument::parse(document.value().dump(), "again.json");
    if (again.value() != document.value()) __builtin_trap();
  });
}
