// How mappings come back, and the MPI that they need.
#include <fmt/format.h>

#include "index/samples.h"
#include "registry/select/mappings.h"
#include "registry/select/select.h"

namespace kiln {
namespace {

using testing::archspec;

std::vector<ImageRecord> all_mappings_in(const std::string& text) {
  std::vector<ImageRecord> records;
  JsonRows rows("map.json", {}, [&](const JsonNode& row, std::string_view text_of_row) {
    records.push_back(read_mapping(row, {"glow", "openvino", "xla"}, written_numbers(text_of_row)));
  });
  rows.feed(text);
  rows.finish();
  return records;
}

TEST(Mappings, TypeAndVersionGoOutWhereTheyStood) {
  auto out = [](const std::string& fields) {
    const JsonDocument given = JsonDocument::parse(
        R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "o/i:t", )" + fields + "}", "map.json");
    const ImageRecord record = read_mapping(given.root(), {});
    const ImageRecord kept =
        image_record_from_json(JsonDocument::parse(to_json(record).dump(), "record.json").root());
    Json json = mapping_json(kept);
    const ImageRecord again = read_mapping(JsonDocument::parse(json.dump(), "out.json").root(), {});
    EXPECT_EQ(to_json(again), to_json(record)) << json.dump();
    return Json{{"type", json["container_type"]},
                {"version", json.value("version", "")},
                {"selectors", json.value("selectors", Json::object())}};
  };
  EXPECT_EQ(
      out(R"("container_type": "shub", "container_registry": "library", "selectors": {"version": "1.5"})"),
      (Json{{"type", "shub"}, {"version", ""}, {"selectors", {{"version", "1.5"}}}}));
  EXPECT_EQ(out(R"("container_type": "Docker", "version": "2.1")"),
            (Json{{"type", "Docker"}, {"version", "2.1"}, {"selectors", {{"version", "2.1"}}}}));
  EXPECT_EQ(
      out(R"("container_type": "docker", "selectors": {"version": "2.1", "Method": "pip"})"),
      (Json{{"type", "docker"}, {"version", ""}, {"selectors", {{"version", "2.1"}, {"Method", "pip"}}}}));
  EXPECT_EQ(
      out(R"("container_type": "docker", "version": "2.1", "selectors": {"version": "1.5", "xla": true})"),
      (Json{{"type", "docker"}, {"version", "2.1"}, {"selectors", {{"version", "1.5"}, {"xla", true}}}}));
}

Json back(const std::string& mapping) { return mapping_json(all_mappings_in(mapping).at(0)); }

// As MODAK's clients read them: a hub that they know, no accelerator as none, the version as a selector.
TEST(Mappings, ComeBackInModaksWords) {
  const Json cpu = back(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "o/i", "version": 2.1,
    "container_type": "oras", "target": {"cpu_type": "x86"}, "selectors": {"version": "2.1", "xla": true}})");
  EXPECT_EQ(cpu["version"], "2.1");
  EXPECT_EQ(cpu["target"], Json::parse(R"({"cpu_type": "x86"})"));
  EXPECT_EQ(cpu["selectors"], Json::parse(R"({"version": "2.1", "xla": true})"));
  EXPECT_EQ(cpu["container_type"], "oras") << "as it was posted";
  const Json bare = back(R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "library://o/i"})");
  EXPECT_EQ(bare["container_type"], "shub");
  EXPECT_EQ(bare["container_registry"], "library");
  EXPECT_FALSE(bare.contains("selectors"));
  ImageRecord older;  // of before its words were kept
  older.code = "c";
  older.application = "a";
  older.version = Version("2.1");
  older.reference = "docker://o/i";
  EXPECT_EQ(mapping_json(older)["selectors"], Json::parse(R"({"version": "2.1"})"));
  EXPECT_EQ(mapping_json(older)["target"], Json::object());
}

TEST(Mappings, ComeBackAsTheyWerePosted) {
  for (const char* part :
       {R"("container_type": "shub", "container_registry": "library", "target": {"acc_type": "none"})",
        R"("container_type": "docker", "container_registry": "images.example.org:5000")",
        R"("target": {"cpu_type": "amd"}, "selectors": {"XLA": "true", "glow": false, "cudnn": 7.6})",
        R"("container_type": "Shub", "container_registry": "Docker", "selectors": {"version": 3})"}) {
    const Json posted = Json::parse(
        fmt::format(R"({{"opt_dsl_code": "c", "app_name": "a", "container_name": "o/i:t", {}}})", part));
    const Json out = back(posted.dump());
    for (const auto& [key, value] : posted.items()) EXPECT_EQ(out[key], value) << key;
    EXPECT_EQ(back(out.dump()), out);
    const ImageRecord record = all_mappings_in(posted.dump()).at(0);
    EXPECT_EQ(to_json(all_mappings_in(out.dump()).at(0)), to_json(record)) << "imported again it is the same";
  }
}

TEST(Mappings, DamagedWordsAreNone) {
  ImageRecord record =
      all_mappings_in(
          R"({"opt_dsl_code": "c", "app_name": "a", "container_name": "i", "target": {"acc_type": "none"}})")
          .at(0);
  ASSERT_EQ(record.labels.size(), 1u);
  for (const char* words : {"{", "[]", ""}) {
    record.labels.begin()->second = words;
    EXPECT_EQ(mapping_json(record)["container_name"], "i") << words;
  }
}

TEST(Mappings, NeedTheMpiThatIsInside) {
  auto mpi = [](const std::string& fields) {
    const MpiLibrary in =
        all_mappings_in(R"({"opt_dsl_code": "c", "container_name": "i", )" + fields + "}").at(0).needs.mpi;
    return in.version.text().empty() ? in.name : in.name + "@" + in.version.text();
  };
  EXPECT_EQ(mpi(R"("app_name": "OpenMPI", "version": "4.1.6")"), "openmpi@4.1.6");
  EXPECT_EQ(mpi(R"("app_name": "mpich")"), "mpich");
  EXPECT_EQ(mpi(R"("app_name": "solver", "version": "4.1.6", "selectors": {"library": "OpenMPI"})"),
            "openmpi@4.1.6");
  EXPECT_EQ(mpi(R"("app_name": "solver", "selectors": {"library": "mpich", "version": "3.3.1"})"),
            "mpich@3.3.1");
  EXPECT_EQ(mpi(R"("app_name": "solver", "version": "9", "selectors": {"mpi": "openmpi@4.1"})"),
            "openmpi@4.1");
  EXPECT_EQ(mpi(R"("app_name": "solver", "version": "9", "selectors": {"library": "hdf5"})"), "");
  EXPECT_EQ(mpi(R"("app_name": "pytorch", "version": "2.6")"), "");
}

TEST(Mappings, AreHeldToTheirMpi) {
  const std::vector<IndexEntry> entries = {
      {all_mappings_in(
           R"({"opt_dsl_code": "c", "app_name": "openmpi", "version": "4.1.6", "enable_opt_build": true,
                       "target": {"cpu_type": "x86"}, "container_name": "i"})")
           .at(0),
       false,
       {}}};
  ImageQuery asked;
  asked.application = "openmpi";
  asked.opt_build = true;
  Host host;
  host.known = true;
  host.description.cpu = "zen3";
  auto answer = [&](const std::string& mpi) {
    host.description.mpi = mpi;
    return select_image(asked, entries, host, archspec()).nearest_miss;
  };
  EXPECT_EQ(answer("openmpi@4.1.5"), "");
  EXPECT_EQ(answer(""), "");
  EXPECT_EQ(answer("cray-mpich@8.1.29"),
            "docker://i: linked with openmpi 4.1.6; host starts jobs with cray-mpich 8.1.29, of another ABI");
  EXPECT_NE(answer("openmpi@5.0.5"), "");
}

}  // namespace
}  // namespace kiln
