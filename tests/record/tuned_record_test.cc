#include "factory/record/tuned_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

TunedRecord made_tuned_record() {
  TunedRecord record;
  record.image = "pytorch:2.6.0";
  record.manifest = Digest::of("m");
  record.key = "k";
  record.workload = "mnist-cnn";
  record.workload_files = "f";
  record.host.cpu = "zen3";
  record.host.model = "AMD EPYC";
  record.host.cores = 2;
  record.settings = {{"OMP_NUM_THREADS", "1"}};
  record.recommended = true;
  record.text = "recommended";
  record.gain = {"", 1.2, 1.1, 1.3};
  record.rounds = 7;
  record.trials = 12;
  record.seed = 3;
  record.kiln = "0.1.0";
  record.taken = "2026-11-24T12:00:00Z";
  return record;
}

TEST(TunedRecord, IsReadAsItWasWritten) {
  const std::string text = to_json(made_tuned_record()).dump();
  const TunedRecord back = tuned_record_from_json(JsonDocument::parse(text, "t").root());
  EXPECT_EQ(to_json(back).dump(), text);
}

TEST(TunedRecord, IsOneForImageWorkloadAndKindOfHost) {
  const TunedRecord record = made_tuned_record();
  TunedRecord later = record, elsewhere = record, other = record;
  later.settings.clear();
  later.host.memory_bytes = 7;
  elsewhere.host.cores = 4;
  other.workload = "mlp";
  EXPECT_EQ(later.sum(), record.sum());
  EXPECT_NE(elsewhere.sum(), record.sum());
  EXPECT_NE(other.sum(), record.sum());
}

TEST(TunedRecord, SaysWhatIsWrong) {
  auto wrong = [](const std::string& from, const std::string& to) {
    const std::string text = with_mistake(to_json(made_tuned_record()).dump(), from, to);
    return input_error([&] { tuned_record_from_json(JsonDocument::parse(text, "t").root()); });
  };
  EXPECT_NE(wrong("\"ratio\":1.2", "\"ratio\":0").find("a gain is greater than 0"), std::string::npos);
  EXPECT_NE(wrong("\"format\":1", "\"format\":2"), "no error");
  EXPECT_NE(wrong("\"recommended\"", "\"recomended\""), "no error");
}

}  // namespace
}  // namespace kiln::testing
