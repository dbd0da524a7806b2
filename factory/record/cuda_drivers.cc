#include "factory/record/cuda_drivers.h"

#include <map>
#include <string>

#include "factory/base/json.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_cuda_drivers();

namespace {

using DriverTable = std::map<std::string, Version, std::less<>>;

DriverTable read_table(const JsonNode& node) {
  DriverTable table;
  for (const auto& [cuda, driver] : node.members()) table.emplace(cuda, Version(driver.string()));
  return table;
}

struct Drivers {
  DriverTable shipped;   // by "12.9"
  DriverTable families;  // by "12"
};

const Drivers& drivers() {
  static const Drivers read = [] {
    const JsonDocument document =
        JsonDocument::parse(embedded_cuda_drivers().at("cuda_drivers.json"), "cuda_drivers.json");
    return Drivers{read_table(document.root().at("shipped")), read_table(document.root().at("families"))};
  }();
  return read;
}

// The first `parts` numbers of a version: 12.9 of 12.9.1.
std::string_view leading(std::string_view text, int parts) {
  std::size_t end = 0;
  while (parts-- > 0 && end < text.size()) end = std::min(text.find('.', end + 1), text.size());
  return text.substr(0, end);
}

Version look_up(const DriverTable& table, std::string_view key) {
  auto found = table.find(key);
  return found == table.end() ? Version() : found->second;
}

}  // namespace

Version oldest_driver(const Version& cuda) {
  Version family = look_up(drivers().families, leading(cuda.text(), 1));
  return family.text().empty() ? shipped_driver(cuda) : family;
}

Version shipped_driver(const Version& cuda) { return look_up(drivers().shipped, leading(cuda.text(), 2)); }

}  // namespace kiln
