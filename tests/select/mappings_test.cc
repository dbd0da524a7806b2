#include "registry/select/mappings.h"

#include <fmt/format.h>

#include "index/samples.h"
#include "registry/select/select.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::error_of;

std::vector<ImageRecord> mappings_in(const std::string& text) {
  std::vector<ImageRecord> records;
  JsonRows rows("map.json", {}, [&](const JsonNode& row, std::string_view text_of_row) {
    records.push_back(read_mapping(row, {"glow", "openvino", "xla"}, written_numbers(text_of_row)));
  });
  rows.feed(text);
  rows.finish();
  return records;
}

std::string data(const std::string& name) {
  return testing::read_bytes(std::string(KILN_TEST_DATA) + "/dsl/" + name);
}

std::vector<IndexEntry> modak_entries() {
  std::vector<IndexEntry> entries;
  for (auto& record : mappings_in(data("mappings/modak.json")))
    entries.push_back({std::move(record), false, {}});
  return entries;
}

std::string answer(const std::string& document, const std::vector<IndexEntry>& entries) {
  DslReading reading = read_dsl(JsonDocument::parse(document, "job.json"), {"xla"});
  for (const DslNote& note : reading.notes)
    EXPECT_NE(note.message.find("is not applied"), std::string::npos) << note.message;
  Selection selection = select_image(reading.query, entries, {}, archspec());
  return selection.winner ? selection.winner->entry->image.name() : "nothing: " + selection.nearest_miss;
}

TEST(Mappings, BecomeExternalImages) {
  auto records = mappings_in(
      R"({"opt_dsl_code": "tf-2.1", "app_name": "tensorflow", "version": 2.1, "enable_opt_build": "true",
    "target": {"cpu_type": "Power", "acc_type": "nvidia"}, "selectors": {"XLA": true, "openvino": false, "cudnn": 7.6, "mpicc": true},
    "container_name": "modakopt/modak:tf-2.1", "container_type": "docker"})");
  ASSERT_EQ(records.size(), 1u);
  const ImageRecord& record = records[0];
  EXPECT_TRUE(record.external());
  EXPECT_EQ(record.name(), "docker://modakopt/modak:tf-2.1");
  EXPECT_EQ(record.code, "tf-2.1");
  EXPECT_EQ(record.version.text(), "2.1");
  EXPECT_TRUE(record.optimised);
  EXPECT_EQ(record.cpu, "ppc64le");
  EXPECT_EQ(record.accelerators, std::vector<std::string>{"nvidia"});
  ASSERT_EQ(record.components.size(), 1u);
  EXPECT_EQ(record.components[0].kind + " " + record.components[0].name, "compiler xla");
  EXPECT_EQ(record.selectors, (std::map<std::string, std::string>{{"cudnn", "7.6"}, {"mpicc", "true"}}));
}

TEST(Mappings, AVersionKeepsItsZero) {
  const auto records = mappings_in(
      R"([{"opt_dsl_code": "a", "app_name": "x", "container_name": "i", "version": 2.10, "selectors": {"cudnn": 7.60}},
          {"opt_dsl_code": "b", "app_name": "x", "container_name": "i", "selectors": {"version": 2.20}},
          {"opt_dsl_code": "c", "app_name": "x", "container_name": "i", "version": 2.1}])");
  EXPECT_EQ(records.at(0).version.text(), "2.10");
  EXPECT_EQ(records.at(0).selectors.at("cudnn"), "7.60");
  EXPECT_EQ(records.at(1).version.text(), "2.20");
  EXPECT_EQ(records.at(2).version.text(), "2.1");
  EXPECT_EQ(mapping_json(records.at(0))["selectors"], (Json{{"cudnn", "7.60"}}));
  EXPECT_EQ(mapping_json(records.at(1))["selectors"], (Json{{"version", "2.20"}}));
  EXPECT_FALSE(mapping_json(records.at(1)).contains("version"));
}

TEST(Mappings, GoOutAsTheyCameIn) {
  const JsonDocument given = JsonDocument::parse(data("mappings/modak.json"), "modak.json");
  std::size_t seen = 0;
  for (const JsonNode& row : given.root().items()) {
    const ImageRecord record = read_mapping(row, {"xla"});
    const Json out = mapping_json(record);
    const ImageRecord again = read_mapping(JsonDocument::parse(out.dump(), "out.json").root(), {"xla"});
    EXPECT_EQ(to_json(again), to_json(record)) << out.dump();
    EXPECT_EQ(out["container_name"], row.value()["container_name"]);
    ++seen;
  }
  EXPECT_GE(seen, 6u);
  ImageRecord host;
  host.code = "c";
  host.application = "a";
  host.reference = "docker://registry.example:5000/a/b:1";
  host.selectors = {{"cudnn", "7.6"}, {"mpicc", "true"}};
  const ImageRecord again =
      read_mapping(JsonDocument::parse(mapping_json(host).dump(), "out.json").root(), {});
  EXPECT_EQ(to_json(again), to_json(host));
}

TEST(Mappings, TheReferenceIsHubAndImage) {
  auto reference = [](const std::string& fields) {
    return mappings_in(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "o/i:t")" + fields + "}")
        .at(0)
        .reference;
  };
  EXPECT_EQ(reference(""), "docker://o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "shub")"), "shub://o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "docker", "container_registry": "docker.io")"),
            "docker://o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "shub", "container_registry": "library")"), "library://o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "docker", "container_registry": "images.example.org:5000")"),
            "docker://images.example.org:5000/o/i:t");
  EXPECT_EQ(reference(R"(, "container_registry": "images.example.org/group/")"),
            "docker://images.example.org/group/o/i:t");
  EXPECT_EQ(reference(R"(, "container_registry": "localhost")"), "docker://localhost/o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "Shub", "container_registry": "Docker")"), "docker://o/i:t");
  EXPECT_EQ(reference(R"(, "container_type": "shub", "container_registry": "docker.io")"), "docker://o/i:t");
}

// Some write the whole reference as the name.
TEST(Mappings, ANameMayHaveItsHub) {
  auto record = [](const std::string& name, const std::string& fields) {
    return mappings_in(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": ")" + name + "\"" +
                       fields + "}")
        .at(0)
        .reference;
  };
  EXPECT_EQ(record("docker://o/i:t", ""), "docker://o/i:t");
  EXPECT_EQ(record("docker.io://o/i:t", ""), "docker://o/i:t") << "as MODAK answers with its alias";
  EXPECT_EQ(record("library://o/c/i:t", R"(, "container_type": "shub", "container_registry": "library")"),
            "library://o/c/i:t");
  EXPECT_EQ(record("shub://o/i", R"(, "container_type": "shub")"), "shub://o/i");
  auto message = [&](const std::string& name, const std::string& fields) {
    return error_of([&] { record(name, fields); }).format();
  };
  EXPECT_EQ(message("library://o/i", R"(, "container_type": "shub", "container_registry": "docker")"),
            "map.json:1:58: error: the name is of library, and container_registry says docker (at "
            "/container_name); write the name without 'library://'");
  EXPECT_EQ(message("library://o/i", R"(, "container_type": "docker")"),
            "map.json:1:58: error: the name is of library, and container_type says docker (at "
            "/container_name); write the name without 'library://'");
  EXPECT_EQ(
      message("o/i", R"(, "container_registry": "https://images.example.org")"),
      "map.json:1:87: error: expected a hub or a registry's host, found 'https://images.example.org' (at "
      "/container_registry); for example docker, library or images.example.org:5000");
  EXPECT_NE(message("docker://", "").find("an image name is not empty"), std::string::npos);
}

TEST(Mappings, AProcessorsTypeIsItsFamily) {
  auto cpu = [](const std::string& type) {
    return mappings_in(
               R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "target": {"cpu_type": ")" +
               type + "\"}}")
        .at(0)
        .cpu;
  };
  EXPECT_EQ(cpu("x86"), "x86_64");
  EXPECT_EQ(cpu("AMD"), "x86_64");  // and the vendor, below
  EXPECT_EQ(cpu("arm"), "aarch64");
  EXPECT_EQ(cpu("power"), "ppc64le");
  EXPECT_EQ(cpu(""), "");
}

TEST(Mappings, AmdStaysAmd) {
  auto mapping = [](const std::string& type) {
    return mappings_in(
               R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "target": {"cpu_type": ")" +
               type + "\"}}")
        .at(0);
  };
  EXPECT_EQ(mapping("AMD").needs.vendor, "AuthenticAMD");
  EXPECT_EQ(mapping("x86").needs.vendor, "");
  for (const char* type : {"x86", "amd", "arm", "power"})
    EXPECT_EQ(mapping_json(mapping(type))["target"]["cpu_type"], type);
  const ImageRecord kept =
      image_record_from_json(JsonDocument::parse(to_json(mapping("amd")).dump(), "record.json").root());
  EXPECT_EQ(mapping_json(kept)["target"]["cpu_type"], "amd") << "as a row of the index";
}

// Where no recipe is at hand, the names of MODAK's documentation are graph compilers all the same.
TEST(Mappings, CompilersAreKnownWithoutRecipes) {
  const JsonDocument given = JsonDocument::parse(
      R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "selectors": {"XLA": true, "glow": false, "mpicc": true}})",
      "map.json");
  const ImageRecord record = read_mapping(given.root(), {});
  ASSERT_EQ(record.components.size(), 1u);
  EXPECT_EQ(record.components[0].kind + " " + record.components[0].name, "compiler xla");
  EXPECT_EQ(record.selectors, (std::map<std::string, std::string>{{"mpicc", "true"}}));
  const DslReading plain = read_dsl(JsonDocument::parse(R"({"optimisation": {"enable_opt_build": true,
    "app_type-ai_training": {"config": {"ai_framework": "a"}, "ai_framework-a": {"xla": true}}}})",
                                                        "job.json"),
                                    {});
  EXPECT_EQ(plain.query.compilers, (std::map<std::string, bool>{{"xla", true}}));
}

TEST(Mappings, WhatIsLeftOutOrNullIsNotAskedFor) {
  auto record = mappings_in(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "version": null,
    "target": {"acc_type": "none"}, "selectors": {"version": "1.5", "xla": true, "OpenVINO": "TRUE"}})")
                    .at(0);
  EXPECT_EQ(record.version.text(), "1.5") << "the version may stand among the selectors";
  EXPECT_FALSE(record.optimised);
  EXPECT_TRUE(record.accelerators.empty());
  EXPECT_TRUE(record.selectors.empty());
  ASSERT_EQ(record.components.size(), 2u);
  EXPECT_EQ(record.components[0].name, "xla");
  EXPECT_EQ(record.components[1].name, "openvino");
}

TEST(Mappings, AnEmptyAcceleratorIsNone) {
  for (const char* target :
       {"{}", R"({"acc_type": ""})", R"({"acc_type": null})", R"({"acc_type": "None"})"}) {
    auto record = mappings_in(fmt::format(
        R"({{"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "target": {}}})", target));
    EXPECT_TRUE(record.at(0).accelerators.empty()) << target;
  }
}

TEST(Mappings, TheVersionOfItsOwnComesFirst) {
  auto record = mappings_in(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "version": "2.1",
    "selectors": {"version": "1.5"}})")
                    .at(0);
  EXPECT_EQ(record.version.text(), "2.1");
  EXPECT_TRUE(record.selectors.empty());
}

TEST(Mappings, ErrorsNameThePlace) {
  auto message = [](const std::string& text) { return error_of([&] { mappings_in(text); }).format(); };
  EXPECT_EQ(
      message(
          R"([{"opt_dsl_code": "a", "app_name": "x", "container_name": "i", "container_tpye": "docker"}])"),
      "map.json:1:64: error: unknown key 'container_tpye' (at /0/container_tpye); did you mean "
      "'container_type'?");
  EXPECT_EQ(
      message(
          R"({"opt_dsl_code": "a", "app_name": "x", "container_name": "i", "target": {"acc_type": "nvdia"}})"),
      "map.json:1:86: error: invalid acc_type 'nvdia': expected nvidia, amd, fpga, none (at "
      "/target/acc_type); "
      "did you mean 'nvidia'?");
  EXPECT_EQ(message(R"({"opt_dsl_code": "a", "app_name": "x", "container_name": "a b"})"),
            "map.json:1:58: error: an image name is not empty and has no blanks (at /container_name)");
  EXPECT_EQ(message(R"({"opt_dsl_code": "", "app_name": "x", "container_name": "a"})"),
            "map.json:1:18: error: a code is not empty (at /opt_dsl_code)");
  EXPECT_EQ(message(R"({"opt_dsl_code": "a", "app_name": "x", "version": "1 2", "container_name": "a"})")
                .substr(0, 22),
            "map.json:1:51: error: ");
  EXPECT_NE(message(R"({"app_name": "x", "container_name": "a"})").find("opt_dsl_code"), std::string::npos);
}

TEST(ModaksAnswers, AreTheSame) {
  auto entries = modak_entries();
  EXPECT_EQ(answer(data("tf_snow.json"), entries), "docker://modakopt/modak:tensorflow-2.1-gpu-src");
  EXPECT_EQ(answer(data("tf_resnet.json"), entries), "docker://modakopt/modak:tensorflow-2.1-gpu-src");
  EXPECT_EQ(answer(data("mpi_solver.json"), entries),
            "docker://ethcscs/mpich:ub1804_cuda101_mpi314_gnugprof");
  EXPECT_EQ(answer(data("mpi_test.json"), entries), "docker://ethcscs/mpich:ub1804_cuda101_mpi314_gnugprof");
  EXPECT_EQ(answer(data("mpi_test_egi.json"), entries), "docker://ethcscs/openmpi:3.1.3");
  EXPECT_TRUE(answer(data("get_optimisation_non_existent.json"), entries).starts_with("nothing: "));
}

TEST(ModaksAnswers, AnUnoptimisedJobGetsTheMappingOfItsTag) {
  auto entries = modak_entries();
  auto mapped = mappings_in(
      R"({"opt_dsl_code": "skyline", "app_name": "no-opt-skyline-extraction-training", "container_name": "o/skyline",
    "target": {"cpu_type": "x86", "acc_type": "nvidia"}})");
  entries.push_back({mapped.at(0), false, {}});
  EXPECT_EQ(answer(data("get_optimisation_non_existent.json"), entries), "docker://o/skyline");
}

// test_app_tag_mapping and test_app_tag_mapping_missing of MODAK: the tag is the application, the library a
// choice.
TEST(ModaksAnswers, AnAppTagNeedsAMappingOfItsOwn) {
  Json document = Json::parse(data("mpi_solver.json"));
  document["job"]["application"]["app_tag"] = "code_aster";
  document["job"]["optimisation"]["enable_opt_build"] = false;
  auto entries = modak_entries();
  EXPECT_TRUE(answer(document.dump(), entries).starts_with("nothing: "));
  auto mapped =
      mappings_in(R"({"opt_dsl_code": "nvidia-mpich-code_aster", "app_name": "code_aster", "version": "3.1.4",
    "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"library": "mpich"},
    "container_name": "nvidia_mpich-code_aster_avx2", "container_type": "shub", "container_registry": "library"})");
  entries.push_back({mapped.at(0), false, {}});
  EXPECT_EQ(answer(document.dump(), entries), "library://nvidia_mpich-code_aster_avx2");
}

TEST(ModaksAnswers, TwoPointOneIsNotTwoPointTen) {
  std::vector<IndexEntry> entries;
  for (int minor = 999; minor >= 0; --minor) {
    auto records = mappings_in(fmt::format(
        R"({{"opt_dsl_code": "tf-{0}", "app_name": "tensorflow", "version": "2.{0}", "enable_opt_build": true,
        "target": {{"cpu_type": "x86", "acc_type": "nvidia"}}, "selectors": {{"xla": true}}, "container_name": "tf:2.{0}"}})",
        minor));
    entries.push_back({records.at(0), false, {}});
  }
  EXPECT_EQ(answer(data("tf_snow.json"), entries), "docker://tf:2.1");
}

TEST(ModaksAnswers, PyTorchIsNotRefused) {
  EXPECT_EQ(answer(R"({"optimisation": {"enable_opt_build": false, "app_type": "ai_training",
    "app_type-ai_training": {"config": {"ai_framework": "pytorch"}, "ai_framework-pytorch": {"version": "latest"}}}})",
                   modak_entries()),
            "docker://pytorch/pytorch:latest");
}

std::string keras(const std::string& choices) {
  return R"({"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"},
    "app_type-ai_training": {"config": {"ai_framework": "keras"}, "ai_framework-keras": {)" +
         choices + "}}}}";
}

// MODAK compares a backend as the text that it is, in small letters; a row without one is another choice.
TEST(ModaksAnswers, KerasIsAskedForWithItsBackend) {
  std::vector<IndexEntry> entries;
  for (const char* backend : {"tensorflow", "CNTK", ""}) {
    const std::string selectors = *backend == 0 ? "" : fmt::format(R"("backend": "{}")", backend);
    entries.push_back(
        {mappings_in(fmt::format(R"({{"opt_dsl_code": "keras-{0}", "app_name": "keras", "version": 1.1,
      "enable_opt_build": true, "target": {{"cpu_type": "x86"}}, "selectors": {{{1}}}, "container_name": "o/keras:{0}"}})",
                                 backend, selectors))
             .at(0),
         false,
         {}});
  }
  EXPECT_EQ(answer(keras(R"("version": 1.1, "backend": "tensorflow")"), entries),
            "docker://o/keras:tensorflow");
  EXPECT_EQ(answer(keras(R"("version": 1.1, "backend": "TensorFlow")"), entries),
            "docker://o/keras:tensorflow");
  EXPECT_EQ(answer(keras(R"("version": "1.1", "backend": "cntk")"), entries), "docker://o/keras:CNTK");
  EXPECT_EQ(answer(keras(R"("version": 1.1, "backend": "mxnet")"), {entries[0]}),
            "nothing: docker://o/keras:tensorflow: asks for backend mxnet; mapped for tensorflow");
  EXPECT_EQ(answer(keras(R"("version": 1.1, "backend": "mxnet")"), {entries[2]}),
            "nothing: docker://o/keras:: asks for backend mxnet; nothing here answers to that");
  EXPECT_EQ(answer(keras(R"("version": 1.1)"), {entries[0]}), "docker://o/keras:tensorflow") << "any backend";
  IndexEntry built = entries[2];  // with the backend inside, as a recipe would make it
  built.image.components = {{"framework", "keras", Version("1.1"), "pip", false},
                            {"framework", "tensorflow", Version("2.1"), "pip", false}};
  EXPECT_EQ(answer(keras(R"("backend": "TensorFlow")"), {built}), "docker://o/keras:");
}

// One image under two codes: as the application that it is made for, and as the MPI library inside.
TEST(ModaksAnswers, SeveralRowsOfOneImageAreEachAChoice) {
  std::vector<IndexEntry> entries;
  for (
      const char* row :
      {R"({"opt_dsl_code": "solver", "app_name": "code_aster", "container_name": "o/solver", "selectors": {"library": "mpich"}})",
       R"({"opt_dsl_code": "solver-mpich", "app_name": "mpich", "version": "3.3.1", "container_name": "o/solver"})"})
    entries.push_back({mappings_in(row).at(0), false, {}});
  EXPECT_NE(entries[0].image.identity(), entries[1].image.identity());
  Json document = Json::parse(data("mpi_solver.json"));
  Json& job = document["job"];
  job["optimisation"]["enable_opt_build"] = false;
  job["optimisation"]["app_type-hpc"]["parallelisation-mpi"]["version"] = "3.3.1";
  auto code = [&] {
    DslReading reading = read_dsl(JsonDocument::parse(document.dump(), "job.json"), {});
    Selection selection = select_image(reading.query, entries, {}, archspec());
    return selection.winner ? selection.winner->entry->image.code : selection.nearest_miss;
  };
  EXPECT_EQ(code(), "solver-mpich");
  job["application"]["app_tag"] = "code_aster";
  job["optimisation"]["app_type-hpc"]["parallelisation-mpi"].erase("version");
  EXPECT_EQ(code(), "solver");
}

}  // namespace
}  // namespace kiln
