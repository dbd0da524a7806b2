#include "factory/record/record_fields.h"

#include <nlohmann/json.hpp>

namespace kiln {

Digest digest_in(const JsonNode& node) {
  try {
    return Digest::parse(node.string());
  } catch (const Error& error) {
    node.fail(error.message());
  }
}

Version version_in(const JsonNode& node) {
  try {
    return Version(node.string());
  } catch (const Error& error) {
    node.fail(error.message());
  }
}

std::string text_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->string() : "";
}

Digest digest_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? digest_in(*found) : Digest();
}

bool flag_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found && found->boolean();
}

std::vector<std::string> strings_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->strings() : std::vector<std::string>{};
}

std::map<std::string, std::string> map_at(const JsonNode& node, std::string_view key) {
  std::map<std::string, std::string> result;
  if (auto found = node.find(key)) {
    for (const auto& [name, value] : found->members()) result.emplace(name, value.string());
  }
  return result;
}

std::uint64_t count_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? static_cast<std::uint64_t>(found->integer(0, INT64_MAX)) : 0;
}

int small_count_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? static_cast<int>(found->integer(0, INT32_MAX)) : 0;
}

}  // namespace kiln
