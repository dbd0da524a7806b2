#include "factory/record/tuned_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/input_errors.h"
#include "support/tuned_samples.h"

namespace kiln::testing {
namespace {

TEST(TunedRecord, IsReadAsItWasWritten) {
  const std::string text = to_json(tuned_record()).dump();
  const TunedRecord back = tuned_record_from_json(JsonDocument::parse(text, "t").root());
  EXPECT_EQ(to_json(back).dump(), text);
}

TEST(TunedRecord, IsOneForImageWorkloadAndKindOfHost) {
  const TunedRecord record = tuned_record();
  TunedRecord later = record, elsewhere = record, other = record;
  later.settings.clear();
  later.host.memory_bytes = 7;
  elsewhere.host.cores = 4;
  other.workload = "mlp";
  EXPECT_EQ(later.sum(), record.sum());
  EXPECT_NE(elsewhere.sum(), record.sum());
  EXPECT_NE(other.sum(), record.sum());
}

TEST(TunedRecord, IsToldInWords) {
  TunedRecord record = tuned_record();
  record.settings["OMP_PROC_BIND"] = "close";
  EXPECT_EQ(setting_text(record.settings), "OMP_NUM_THREADS=1 OMP_PROC_BIND=close");
  EXPECT_EQ(setting_text({}), "");
  EXPECT_EQ(record.machine(), "Xeon A, 2 cores");
  record.host.model.clear();
  EXPECT_EQ(record.machine(), "haswell, 2 cores");
}

TEST(TunedRecord, SaysWhatIsWrong) {
  auto wrong = [](const std::string& from, const std::string& to) {
    const std::string text = with_mistake(to_json(tuned_record()).dump(), from, to);
    return input_error([&] { tuned_record_from_json(JsonDocument::parse(text, "t").root()); });
  };
  EXPECT_NE(wrong("\"ratio\":1.2", "\"ratio\":0").find("a gain is greater than 0"), std::string::npos);
  EXPECT_NE(wrong("\"format\":1", "\"format\":2"), "no error");
  EXPECT_NE(wrong("\"recommended\"", "\"recomended\""), "no error");
  EXPECT_NE(wrong("\"high\":1.3", "\"high\":1.05").find("ends before it begins (at /gain/low)"),
            std::string::npos);
  EXPECT_NE(wrong("\"low\":1.1", "\"low\":0.9").find("its whole interval is above 1 (at /recommended)"),
            std::string::npos);
  EXPECT_NE(wrong("{\"OMP_NUM_THREADS\":\"1\"}", "{}").find("(at /recommended)"), std::string::npos);
  for (const char* name : {"PATH", "KILN_BENCH_STEPS", "A B", "1A", "A;rm"})
    EXPECT_NE(wrong("OMP_NUM_THREADS", name).find("is no variable that a setting may have"),
              std::string::npos)
        << name;
  EXPECT_NE(wrong("\"OMP_NUM_THREADS\":\"1\"", "\"OMP_NUM_THREADS\":\"1\\nrm\""), "no error");
}

}  // namespace
}  // namespace kiln::testing
