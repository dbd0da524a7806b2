// The schemas of what other programs hand in (host, DSL, mappings), held to real documents and to the
// readers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/record/host_description.h"
#include "registry/select/dsl.h"
#include "registry/select/mappings.h"
#include "support/json_schema.h"

namespace kiln {
namespace {

Json schema(const std::string& name) {
  return Json::parse(
      RealFileSystem().read(fmt::format("{}/schema/{}.schema.json", KILN_SOURCE_DIR, name)).value());
}

JsonDocument document(const fs::path& file) {
  return JsonDocument::parse(RealFileSystem().read(file).value(), file.string());
}

using Violations = std::vector<std::string>;

Violations violations(const std::string& name, const Json& value) {
  return testing::schema_violations(schema(name), value);
}

std::vector<fs::path> examples() {
  std::vector<fs::path> files;
  for (const char* folder : {KILN_TEST_DATA "/dsl", KILN_SOURCE_DIR "/matrix/dsl"})
    for (const std::string& name : RealFileSystem().list(folder))
      if (name.ends_with(".json")) files.push_back(fs::path(folder) / name);
  return files;
}

TEST(ExchangeSchemas, TakeTheExamplesOfTheDsl) {
  ASSERT_GE(examples().size(), 8u);
  for (const fs::path& file : examples())
    EXPECT_EQ(violations("dsl", document(file).value()), Violations()) << file;
}

TEST(ExchangeSchemas, RefuseWhatTheDslReaderRefuses) {
  const std::vector<std::string> wrong = {
      R"({"optimisation": {"enable_opt_build": "maybe", "app_type-hpc": {"parallelisation-mpi": {"library": "a"}}}})",
      R"({"optimisation": {"app_type": "training"}})",
      R"({"optimisation": {"opt_build": {"cpu_type": "sparc"}}, "application": {"app_tag": "a"}})",
      R"({"optimisation": {"app_type-ai_training": {"config": {}}}})",
  };
  for (const std::string& text : wrong) {
    EXPECT_NE(violations("dsl", Json::parse(text)), Violations()) << text;
    EXPECT_THROW(read_dsl(JsonDocument::parse(text, "a.json"), {}), Error) << text;
  }
}

TEST(ExchangeSchemas, TakeTheHostThatKilnDetects) {
  auto cpus =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  EXPECT_EQ(violations("host", to_json(detect_host(RealFileSystem(), cpus))), Violations());
}

TEST(ExchangeSchemas, ListTheKeysOfAHost) {
  Json every = Json::object();
  const Json properties = schema("host")["properties"];
  for (const auto& [key, value] : properties.items())
    if (key != "$schema")
      every[key] = value.contains("enum")       ? value["enum"][0]
                   : value["type"] == "integer" ? Json(1)
                   : value["type"] == "array"   ? Json::array({"nvidia:sm_80"})
                   : key == "rates"             ? Json{{"triad", 9.7}, {"sgemm", 40.5}}
                                                : Json("zen3");
  EXPECT_EQ(violations("host", every), Violations());
  HostDescription host = host_from_json(JsonDocument::parse(every.dump(), "host.json").root());
  EXPECT_EQ(to_json(host), every) << "the reader and the schema know the same keys";
  every["gpu"] = 1;
  EXPECT_NE(violations("host", every), Violations());
}

TEST(ExchangeSchemas, TakeMappings) {
  const JsonDocument mappings = document(KILN_TEST_DATA "/dsl/mappings/modak.json");
  EXPECT_EQ(violations("mappings", mappings.value()), Violations());
  EXPECT_EQ(violations("mappings", mappings.value()[0]), Violations()) << "one object will do";
  const std::string text = R"({"opt_dsl_code": "a", "app_name": "b", "container": "c"})";
  EXPECT_NE(violations("mappings", Json::parse(text)), Violations());
  EXPECT_THROW(read_mapping(JsonDocument::parse(text, "m.json").root(), {}), Error);
}

}  // namespace
}  // namespace kiln
