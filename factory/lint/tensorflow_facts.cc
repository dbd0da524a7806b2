#include "factory/lint/tensorflow_facts.h"

#include <algorithm>
#include <map>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
namespace {

struct Facts {
  std::vector<std::pair<Version, Version>> unbounded;
  std::vector<std::pair<std::string, std::string>> pythons;
  std::vector<std::pair<Version, BazelRange>> bazel;
};

Facts read_facts() {
  const auto data = embedded_lint_data();
  const JsonDocument document = JsonDocument::parse(data.at("tensorflow.json"), "tensorflow.json");
  const JsonNode root = document.root();
  Facts facts;
  for (const JsonNode& one : root.at("protobuf_unbounded").items())
    facts.unbounded.emplace_back(one.at("first").string(), one.at("last").string());
  for (const JsonNode& one : root.at("pythons").items())
    facts.pythons.emplace_back(one.at("base").string(), one.at("python").string());
  for (const JsonNode& one : root.at("bazel").items())
    facts.bazel.emplace_back(Version(one.at("series").string()),
                             BazelRange{Version(one.at("first").string()), Version(one.at("last").string()),
                                        one.at("known").string() == "derived"});
  return facts;
}

const Facts& facts() {
  static const Facts kFacts = read_facts();
  return kFacts;
}

}  // namespace

bool takes_any_protobuf(const Version& tensorflow) {
  const auto& all = facts().unbounded;
  return std::any_of(all.begin(), all.end(), [&](const auto& branch) {
    return branch.first <= tensorflow && tensorflow <= branch.second;
  });
}

std::string python_of_base(const std::string& reference) {
  for (const auto& [base, python] : facts().pythons)
    if (glob_matches(base, reference)) return python;
  return "";
}

std::optional<BazelRange> bazel_for(const Version& tensorflow) {
  for (const auto& [series, range] : facts().bazel)
    if (series.covers(tensorflow)) return range;
  return std::nullopt;
}

}  // namespace lint
}  // namespace kiln
