// A state folder with MODAK's mappings, and a service on it that is asked without sockets.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "registry/select/mappings.h"
#include "registry/serve/service.h"
#include "support/memory_folder.h"

namespace kiln::testing {

inline const std::string kTensorflow =
    R"({"optimisation": {"enable_opt_build": true, "app_type": "ai_training",
  "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"},
    "ai_framework-tensorflow": {"version": "2.1", "xla": true}}}})";

inline ReceivedRequest request_of(const std::string& method, const std::string& target,
                                  const std::string& body = "", HttpHeaders headers = {}) {
  ReceivedRequest request{method, target, parse_target(target), std::move(headers), body, "192.0.2.7"};
  if (method == "POST") request.headers.emplace_back("content-type", "application/json");
  return request;
}

inline std::string header_of(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    import(R"([{"opt_dsl_code": "tf-2.1", "app_name": "tensorflow", "version": "2.1",
    "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true},
    "container_name": "modakopt/modak:tensorflow-2.1-gpu-src", "container_type": "docker"}])");
    service.write_site_with([this](const SiteDocument& document) {
      return Index::open(folder.path(), Index::Mode::write)
          .import_site_documents({document}, "2026-11-20T11:00:00Z");
    });
  }

  std::int64_t import(const std::string& mappings) {
    Index index = Index::open(folder.path(), Index::Mode::write);
    return index
        .import_mappings(
            [&](const Index::AddMapping& take) {
              for (const JsonNode& node : JsonDocument::parse(mappings, "mappings").root().items())
                take(read_mapping(node, {"xla"}));
            },
            "2026-11-20T10:00:00Z")
        .snapshot;
  }
  ServeSettings settings(const std::string& tokens = "") const {
    ServeSettings all;
    all.paths.state = folder.path();
    all.paths.archspec = KILN_ARCHSPEC_JSON;
    all.paths.targets = folder.path() / "targets";
    all.tokens = TokenBook::parse(tokens, "tokens");
    return all;
  }
  // Imports without a lock: `locked` says that somebody else writes.
  WrittenMapping write(const JsonDocument& mapping, const WrittenNumbers& numbers) {
    if (locked) throw Error(ExitCode::locked, "another kiln holds it: kiln build", "wait for it with --wait");
    return {read_mapping(mapping.root(), {"xla"}, numbers), import("[" + mapping.value().dump() + "]")};
  }
  HttpResponse ask(const std::string& method, const std::string& target, const std::string& body = "",
                   HttpHeaders headers = {}) {
    return service.answer(request_of(method, target, body, std::move(headers)));
  }
  Json json(const HttpResponse& response) { return Json::parse(response.body); }
  // "400 unknown parameter 'x'; did you mean …"
  std::string error(const HttpResponse& response) {
    const Json all = json(response);
    std::string text = std::to_string(response.status) + " " + all["error"]["message"].get<std::string>();
    if (all["error"].contains("hint")) text += "; " + all["error"]["hint"].get<std::string>();
    return text;
  }

  MemoryFolder folder;
  RealClock clock;
  bool locked = false;
  NewToken token = make_token("tests");
  std::map<std::string, ServedPage> pages{};  // by their paths
  Service service{
      settings(token.line),
      [this](const JsonDocument& mapping, const WrittenNumbers& numbers) { return write(mapping, numbers); },
      clock,
      [this](const std::string& path) {
        const auto found = pages.find(path);
        return found == pages.end() ? std::nullopt : std::optional(found->second);
      }};
};

}  // namespace kiln::testing
