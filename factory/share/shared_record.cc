#include "factory/share/shared_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

constexpr std::size_t kMostLayers = 1000;  // overlay mounts stop far below

bool is_key(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// What a record of ours always has, and what its readers go by.
void check_layers(const StepRecord& record, const JsonNode& node) {
  if (record.chain.layers.empty() || record.chain.layers.size() > kMostLayers)
    node.at("layers").fail(fmt::format("expected 1 to {} layers", kMostLayers));
  if (!std::all_of(record.chain.layers.begin(), record.chain.layers.end(),
                   [](const BuiltLayer& layer) { return is_key(layer.step); }))
    node.at("layers").fail("expected the keys of steps");
  if (own_layers(record.chain, record.key).empty()) node.at("layers").fail("the step itself made none");
}

SharedRecord shared_from_json(const SharedName& name, const JsonNode& root) {
  root.allow_only({"record", "host", "made"});
  const JsonNode node = root.at("record");
  SharedRecord shared{StepRecord{}, root.at("host").string(), root.at("made").string()};
  auto take = [&](auto record) {
    if (record.key != name.key) node.at("key").fail(fmt::format("it is of another: {}", record.key));
    record.origin = {};
    shared.record = std::move(record);
  };
  if (name.is_test) {
    take(test_record_from_json(node));
  } else {
    StepRecord record = step_record_from_json(node);
    check_layers(record, node);
    take(std::move(record));
  }
  return shared;
}

}  // namespace

std::string_view payload_type(const SharedName& name) {
  return name.is_test ? "application/vnd.kiln.test.record.v1+json"
                      : "application/vnd.kiln.step.record.v1+json";
}

std::string shared_envelope(const SharedName& name, const SharedRecord& shared, const SigningKey* key) {
  const Json record = std::visit([](const auto& one) { return to_json(one); }, shared.record);
  const Json payload{{"record", record}, {"host", shared.host}, {"made", shared.made}};
  return signed_envelope(payload_type(name), payload.dump(), key);
}

OpenedRecord open_shared(const SharedName& name, std::string_view envelope,
                         const std::vector<VerifyingKey>& trusted) {
  OpenedEnvelope opened = open_envelope(envelope, payload_type(name), trusted);
  const JsonDocument document = JsonDocument::parse(opened.payload, "the record");
  return {shared_from_json(name, document.root()), std::move(opened.signer), std::move(opened.forged)};
}

std::optional<SharedName> shared_name(std::string_view text) {
  const bool is_test = text.starts_with("test-");
  if ((!is_test && !text.starts_with("step-")) || !is_key(text.substr(5))) return std::nullopt;
  return SharedName{std::string(text.substr(5)), is_test};
}

std::vector<Digest> own_layers(const LayerChain& chain, std::string_view key) {
  std::vector<Digest> own;
  for (const BuiltLayer& layer : chain.layers)
    if (layer.step == key) own.push_back(layer.diff_id);
  return own;
}

}  // namespace kiln
