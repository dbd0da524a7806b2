// Words of older documents, and names that only a site knows.
#include "index/samples.h"
#include "registry/select/dsl.h"

namespace kiln {
namespace {

DslReading read_job(const std::string& text) {
  return read_dsl(JsonDocument::parse(text, "job.json"), {"xla"});
}

TEST(Dsl, ReadsTheWordsOfTwoOldExamples) {
  const DslReading reading = read_job(
      R"({"optimisation": {"enable_opt_build": true, "app_type": "hpc", "app_name": "OpenMPI",
          "arch_build": {"cpu_type": "x86"}, "app_build": {"version": "3.1.3"}}})");
  EXPECT_EQ(reading.query.application, "openmpi");
  EXPECT_EQ(reading.query.cpu_type, "x86");
  EXPECT_EQ(reading.query.version.text(), "3.1.3");
  ASSERT_EQ(reading.notes.size(), 3u);
  EXPECT_EQ(
      text_of(reading.notes[2]),
      "job.json:2:11: note: 'arch_build' is an older word of MODAK's (at /optimisation/arch_build); write "
      "opt_build");
  refuse_lost_choices(reading);
}

TEST(Dsl, KeepsTheNameOfTheTarget) {
  EXPECT_EQ(
      read_job(R"({"target": {"name": "egi"}, "application": {"app_tag": "a"}})").query.target->string(),
      "egi");
  EXPECT_FALSE(read_job(R"({"target": {"name": ""}, "application": {"app_tag": "a"}})").query.target);
}

}  // namespace
}  // namespace kiln
