// The model that an index keeps, and what it says of images.
#include "registry/model/kept_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/model_samples.h"
#include "support/input_errors.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

using testing::made_up_records;

Json kept() { return kept_model_json(made_up_records(0.02), "2026-11-28T05:00:00Z"); }

KeptModel model_of(const Json& json) {
  return KeptModel(JsonDocument::parse(json.dump(), "snapshots/model.json").root());
}

ImageRecord tensorflow(const std::string& compiler) {
  ImageRecord image;
  image.manifest = Digest::of(compiler);
  image.repository = "tensorflow";
  image.version = Version("1");
  image.components = {{"framework", "tensorflow", Version("1"), "", false}};
  if (!compiler.empty()) image.components.push_back({"compiler", compiler, {}, "", false});
  return image;
}

HostDescription two_cores() {
  HostDescription host;
  host.cpu = "zen3";
  host.model = "AMD EPYC";
  host.cores = 2;
  return host;
}

TEST(KeptModel, PredictsImagesAsItDidBeforeItWasKept) {
  const KeptModel model = model_of(kept());
  const SpeedPrediction plain = model.predict(tensorflow(""), two_cores(), "net1e+06");
  const SpeedPrediction xla = model.predict(tensorflow("xla"), two_cores(), "net1e+06");
  ASSERT_EQ(plain.no_data, "");
  EXPECT_LT(xla.seconds, plain.seconds) << "0.9 against 1.3 of the time";
  EXPECT_LT(plain.low, plain.seconds);
  EXPECT_FALSE(plain.reasons.empty());
  const CheckedModel checked = checked_model(made_up_records(0.02));
  EXPECT_EQ(model.check_text(), text_of(checked.checks.front()));
}

TEST(KeptModel, HasNoDataForWhatItDoesNotKnow) {
  const KeptModel model = model_of(kept());
  EXPECT_EQ(model.predict(tensorflow(""), two_cores(), "bert").no_data,
            "the workload bert was never measured");
  HostDescription other = two_cores();
  other.cpu = "a64fx";
  EXPECT_NE(model.predict(tensorflow(""), other, "net1e+06").no_data, "");
  ImageRecord gpu = tensorflow("");
  gpu.accelerators = {"nvidia:sm_80"};
  EXPECT_NE(model.predict(gpu, two_cores(), "net1e+06").no_data, "");
  ImageRecord jax = tensorflow("");
  jax.repository = "jax";
  EXPECT_NE(model.predict(jax, two_cores(), "net1e+06").no_data, "");
}

TEST(KeptModel, IsNotKeptWhereAGuessIsBetter) {
  // Times that follow no law: the median of the framework is nearer.
  std::vector<SpeedRecord> records = made_up_records();
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].seconds = 0.01 * static_cast<double>(1 + (i * 7919) % 13);
  const Error error = testing::error_of([&] { kept_model_json(records, "now"); });
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_NE(error.message().find("does not beat both guesses"), std::string::npos);
}

TEST(KeptModel, AForgedOneIsRefusedWithItsPlace) {
  auto wrong = [](void (*forge)(Json & json)) {
    Json json = kept();
    forge(json);
    return testing::input_error([&] { model_of(json); });
  };
  auto at = [](const std::string& text, const std::string& place) {
    EXPECT_NE(text.find("snapshots/model.json"), std::string::npos) << text;
    EXPECT_NE(text.find("(at " + place + ")"), std::string::npos) << text;
  };
  at(wrong([](Json& json) { json["check"]["median_error"] = 9; }), "/check");
  at(wrong([](Json& json) { json["errors"] = Json::array(); }), "/errors");
  at(wrong([](Json& json) { json["records"][3]["seconds"] = -1; }), "/records/3/seconds");
  at(wrong([](Json& json) { json["records"][3]["amounts"]["luck"] = 1; }), "/records/3/amounts/luck");
  at(wrong([](Json& json) { json["records"][3]["words"]["batch"] = "1"; }), "/records/3/words/batch");
  at(wrong([](Json& json) { json["format"] = 2; }), "/format");
  at(wrong([](Json& json) { json["records"] = Json::array({json["records"][0]}); }), "/records");
  at(wrong([](Json& json) {
       for (Json& record : json["records"]) record["seconds"] = 1;
     }),
     "/records");
}

}  // namespace
}  // namespace kiln
