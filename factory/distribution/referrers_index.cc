#include "distribution/referrers_index.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace kiln {

namespace {

// null for what is no JSON, or too deep to be written again.
Json parsed(const std::string& text) {
  try {
    return JsonDocument::parse(text, "referrers", {.bytes = 64u << 20, .members = 10'000'000}).value();
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

std::optional<std::string> with_referrers(const std::string& now, const std::vector<Descriptor>& referrers) {
  Json index = {{"schemaVersion", 2},
                {"mediaType", std::string(media_type::kImageIndex)},
                {"manifests", Json::array()}};
  if (!now.empty()) {
    index = parsed(now);
    if (!index.is_object() || !index.contains("manifests") || !index["manifests"].is_array())
      throw Error(ExitCode::network, "what stands under the tag of the referrers is no image index");
  }
  bool changed = now.empty();
  Json& manifests = index["manifests"];
  for (const Descriptor& referrer : referrers) {
    bool there = false;
    for (const Json& known : manifests)
      there = there || (known.is_object() && known.contains("digest") &&
                        known["digest"] == Json(referrer.digest.text()));
    if (there) continue;
    manifests.push_back(to_json(referrer));
    changed = true;
  }
  return changed ? std::optional(index.dump()) : std::nullopt;
}

}  // namespace kiln
