// plan.json from anybody. Keys are hashes, which no mutation hits: they are put right first, so that what
// stands behind that check is reached.
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/plan/plan_json.h"
#include "factory/render/render.h"
#include "readers.h"

namespace {

using namespace kiln;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Each step's key becomes the hash of its inputs, wherever it is named.
std::string with_right_keys(std::string_view text) {
  Json plan = Json::parse(text, nullptr, false);
  if (!plan.is_object() || !plan.contains("steps") || !plan["steps"].is_object()) return std::string(text);
  std::vector<std::string> keys;
  for (const auto& [key, step] : plan["steps"].items()) keys.push_back(key);
  for (const std::string& key : keys) {
    if (key.size() < 4 || !plan["steps"].contains(key)) continue;
    const Json& step = plan["steps"][key];
    if (!step.is_object() || !step.contains("inputs")) continue;
    std::string right = Digest::of(step["inputs"].dump()).hex();
    if (right == key) continue;
    plan = Json::parse(replaced(plan.dump(), key, right), nullptr, false);
    if (!plan.is_object() || !plan["steps"].is_object()) break;
  }
  return plan.dump();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string text;
  try {
    text = with_right_keys(fuzz::text_of(bytes, size));
  } catch (const Json::exception&) {
    return 0;  // bad UTF-8: the scanner's business
  }
  return fuzz::refuses_or_reads([&] {
    PlanDocument plan = plan_from_json(JsonDocument::parse(text, "plan.json"));
    for (const auto& [key, step] : plan.steps)
      if (to_json(step).at("key") != key) __builtin_trap();
    for (const ImageSpec& image : plan.images) {
      if (to_json(image).at("id") != image.request.id) __builtin_trap();
      render_dockerfile(image);
      render_singularity(image);
    }
  });
}
