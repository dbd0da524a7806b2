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

// The words of today win, and a note says so.
TEST(Dsl, AnOlderWordBesideAPresentOne) {
  auto notes = [](const std::string& text) {
    std::vector<std::string> messages;
    const DslReading reading = read_job(text);
    refuse_lost_choices(reading);
    for (const DslNote& note : reading.notes)
      if (note.message.find("older word") == std::string::npos) messages.push_back(text_of(note));
    return std::pair(reading.query.application + " " + reading.query.version.text(), messages);
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(R"({"application": {"app_tag": "solver"}, "optimisation": {"app_name": "openmpi"}})"),
            (std::pair(std::string("solver *"),
                       Notes{"job.json:1:57: note: 'app_name' is not used: the application is solver (at "
                             "/optimisation/app_name)"})));
  EXPECT_EQ(notes(R"({"application": {"app_tag": "OpenMPI"}, "optimisation": {"app_name": "openmpi"}})"),
            (std::pair(std::string("OpenMPI *"), Notes{})))
      << "the same";
  EXPECT_EQ(
      notes(
          R"({"optimisation": {"app_name": "pytorch", "app_build": {"version": "1.9"}, "app_type-ai_training": {
                    "config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"version": "2.1"}}}})"),
      (std::pair(std::string("tensorflow 2.1"),
                 Notes{"job.json:1:19: note: 'app_name' is not used: the application is tensorflow (at "
                       "/optimisation/app_name)",
                       "job.json:1:42: note: 'app_build' is not used: the version is 2.1 (at "
                       "/optimisation/app_build)"})));
  EXPECT_EQ(notes(R"({"optimisation": {"app_name": "mpich", "app_build": {"version": "3.1"},
                     "app_type-hpc": {"parallelisation-mpi": {}}}})"),
            (std::pair(std::string("mpich 3.1"), Notes{})))
      << "a part that names no library";
}

TEST(Dsl, KeepsTheNameOfTheTarget) {
  EXPECT_EQ(
      read_job(R"({"target": {"name": "egi"}, "application": {"app_tag": "a"}})").query.target->string(),
      "egi");
  EXPECT_FALSE(read_job(R"({"target": {"name": ""}, "application": {"app_tag": "a"}})").query.target);
}

}  // namespace
}  // namespace kiln
