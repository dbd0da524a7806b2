#include "factory/record/image_record.h"

#include "index/samples.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::measurement_of;

TEST(ImageRecord, EvidenceComesBack) {
  ImageRecord record;
  record.evidence.verdict = "runs on x86_64_v3";
  record.evidence.target = "x86_64_v3";
  record.evidence.flags = {"-O3"};
  record.evidence.unconditional = {"avx2"};
  record.evidence.dispatched = {"avx512f"};
  record.evidence.gpu = {"sm_80"};
  record.evidence.gpu_hidden = true;
  record.evidence.glibc = "2.36";
  record.evidence.missing = {"libcuda.so.1"};
  record.evidence.beyond_target = 3;
  record.evidence.report = Digest::of("report");
  record.evidence.accepted = {{"/opt/libf.so", "asks", "framework/f"}};
  Json json = to_json(record);
  EXPECT_EQ(json["evidence"].size(), 12u);
  EXPECT_EQ(to_json(image_record_from_json(JsonDocument::parse(json.dump(), "r.json").root())), json);
  ImageRecord none;
  EXPECT_FALSE(to_json(none).contains("evidence"));
}

TEST(ImageRecord, KnowsItsNames) {
  ImageRecord record;
  record.repository = "pytorch";
  record.tag = "2.6";
  record.reference = "docker://a";
  EXPECT_EQ(record.name(), "docker://a");
  record.manifest = Digest::of("manifest");
  EXPECT_EQ(record.name(), "pytorch:2.6");
  EXPECT_EQ(record.sif_name(), "pytorch_2.6.sif");
}

TEST(Measurement, TheHostComesBack) {
  Measurement measurement = measurement_of(Digest::of("x"), 5);
  measurement.host.memory_bytes = std::uint64_t{1} << 40;
  measurement.host.kernel = "6.1";
  measurement.host.accelerators = {"nvidia"};
  measurement.host.glibc = "2.36";
  Json json = to_json(measurement);
  EXPECT_EQ(json["host"].size(), 7u);
  EXPECT_EQ(to_json(measurement_from_json(JsonDocument::parse(json.dump(), "m.json").root())), json);
}

TEST(ImageRecord, ErrorsOfASidecarNameThePlace) {
  auto message = [](const std::string& text) {
    return error_of([&] { image_record_from_json(JsonDocument::parse(text, "r.json").root()); }).format();
  };
  EXPECT_EQ(message("{\"manifest\": \"sha256:12\"}").substr(0, 20), "r.json:1:14: error: ");
  EXPECT_NE(message("{\"verison\": \"1\"}").find("did you mean 'version'?"), std::string::npos);
  EXPECT_NE(message("{\"version\": \"\"}")
                .find("r.json:1:13: error: a version is 1 to 128 characters long (at /version)"),
            std::string::npos);
  EXPECT_NE(
      message("{\"components\": [{\"kind\": \"../x\", \"name\": \"y\"}]}").find("(at /components/0/kind)"),
      std::string::npos);
}

TEST(ImageRecord, ASizeIsNotNegative) {
  auto size = [](const std::string& number) {
    return image_record_from_json(JsonDocument::parse("{\"size\": " + number + "}", "r.json").root()).size;
  };
  EXPECT_EQ(size("0"), 0u);
  EXPECT_EQ(size("9223372036854775807"), std::uint64_t{INT64_MAX});
  EXPECT_EQ(error_of([&] { size("-1"); }).where().pointer, "/size");
}

TEST(Measurement, ASpeedIsGreaterThanZero) {
  std::string text = to_json(measurement_of(Digest::of("x"), 0)).dump();
  Error error = error_of([&] { measurement_from_json(JsonDocument::parse(text, "m.json").root()); });
  EXPECT_EQ(error.message(), "a measured median is greater than 0");
  EXPECT_EQ(error.where().pointer, "/median");
}

}  // namespace
}  // namespace kiln
