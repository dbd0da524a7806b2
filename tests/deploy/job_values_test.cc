#include "registry/deploy/job_values.h"

#include <gtest/gtest.h>

#include "support/input_errors.h"

namespace kiln {
namespace {

JsonNode option_value(const std::string& json) { return JsonDocument::parse(json, "v.json").root(); }
template <typename Read>
bool refuses(Read read, const std::string& json) {
  return testing::input_error([&] { read(option_value(json)); }) != "no error";
}

TEST(JobValues, MemoryHasAUnit) {
  EXPECT_EQ(read_memory(option_value("\"8GB\"")), 8ull << 30);
  EXPECT_EQ(read_memory(option_value("\"512 MiB\"")), 512ull << 20);
  EXPECT_EQ(read_memory(option_value("\"2000mb\"")), 2000ull << 20);
  EXPECT_EQ(read_memory(option_value("\"4g\"")), 4ull << 30);
  for (const char* text : {"8", "\"8\"", "\"8B\"", "\"0G\"", "\"-8G\"", "\"8G;\"", "\"8GBB\"", "\"9999T\"",
                           "\"999999999T\"", "\"\""})
    EXPECT_TRUE(refuses(read_memory, text)) << text;
  EXPECT_EQ(mebibytes_text(1, "M"), "1M");
  EXPECT_EQ(mebibytes_text(8ull << 30, "mb"), "8192mb");
}

TEST(JobValues, MailIsTranslated) {
  auto words = [](const char* text) { return mail_words(read_mail_events(option_value(text))); };
  auto letters = [](const char* text, bool torque) {
    return mail_letters(read_mail_events(option_value(text)), torque);
  };
  EXPECT_EQ(words("\"abe\""), "BEGIN,END,FAIL,INVALID_DEPEND,TIME_LIMIT");
  EXPECT_EQ(words("\"END,BEGIN,END\""), "BEGIN,END");
  EXPECT_EQ(words("\"begin, fail\""), "BEGIN,FAIL");
  EXPECT_EQ(words("\"n\""), "NONE");
  EXPECT_EQ(letters("\"abe\"", true), "abe");
  EXPECT_EQ(letters("\"REQUEUE,BEGIN,END,FAIL,TIME_LIMIT\"", true), "abef");
  EXPECT_EQ(letters("\"BEGIN,FAIL\"", false), "ab");
  EXPECT_EQ(letters("\"ALL\"", true), "abef");
  EXPECT_EQ(letters("\"ALL\"", false), "abe");
  EXPECT_EQ(letters("\"NONE\"", true), "n");
  for (const char* text : {"\"xyz\"", "\"BEGNI\"", "\"an\"", "\"END,NONE\"", "\"END;rm\"", "7"})
    EXPECT_TRUE(refuses(read_mail_events, text)) << text;
}

TEST(JobValues, AStartIsReadOnce) {
  auto both = [](const char* text) {
    const StartTime start = read_start_time(option_value(text));
    return slurm_begin(start) + " " + pbs_begin(start);
  };
  EXPECT_EQ(both("\"2026-11-27T08:30\""), "2026-11-27T08:30:00 202611270830.00");
  EXPECT_EQ(both("\"2026-11-27 08:30:15\""), "2026-11-27T08:30:15 202611270830.15");
  EXPECT_EQ(both("\"2026-11-27\""), "2026-11-27T00:00:00 202611270000.00");
  EXPECT_EQ(both("\"08:30\""), "08:30:00 0830.00");
  EXPECT_EQ(both("\"now+2hours\""), "now+2hours ");
  for (const char* text : {"\"tomorrow\"", "\"25:00\"", "\"2026-13-01\"", "\"2026-11-27T\"", "\"now+2h\"",
                           "\"now+;\"", "\"2026-11-27X08:30\"", "\"name\""})
    EXPECT_TRUE(refuses(read_start_time, text)) << text;
}

TEST(JobValues, ArraysDependenciesNodesVariables) {
  for (const char* text : {"\"0-15\"", "\"1,3,7-9:2\"", "\"0-99%10\"", "5"})
    EXPECT_FALSE(refuses(read_array, text)) << text;
  for (const char* text :
       {"\"9-1\"", "\"a\"", "\"1-\"", "\"0-9%0\"", "\"0-9:0\"", "\"1;2\"", "\"\"", "-1", "\"3:2\""})
    EXPECT_TRUE(refuses(read_array, text)) << text;
  for (const char* text :
       {"\"afterok:17\"", "\"afterok:17:18,afterany:19\"", "\"singleton\"", "\"after:1+5?afterok:2\""})
    EXPECT_FALSE(refuses(read_dependency, text)) << text;
  for (const char* text : {"\"\"", "\" \"", "\"17\"", "\"afterok\"", "\"afterokk:1\"", "\"singleton:1\"",
                           "\"afterok:x\"", "\"afterok:1 --uid=0\""})
    EXPECT_TRUE(refuses(read_dependency, text)) << text;
  EXPECT_EQ(read_node_names(option_value("\"n1,n[02-04,7]\"")),
            (std::vector<std::string>{"n1", "n[02-04,7]"}));
  for (const char* text : {"\"n 1\"", "\"-n\"", "\"n[\"", "\"n1,,n2\"", "\"$(id)\""})
    EXPECT_TRUE(refuses(read_node_names, text)) << text;
  const auto variables = read_variables(option_value(R"(["PATH", "SEED=1, 2"])"));
  EXPECT_EQ(variables[0].name, "PATH");
  EXPECT_FALSE(variables[0].value);
  EXPECT_EQ(variables[1].value, "1, 2");
  EXPECT_TRUE(refuses(read_variables, "\"A-B=1\""));
  EXPECT_FALSE(refuses(read_address, "\"user@example.org\""));
  for (const char* text : {"\"user\"", "\"a@b@c\"", "\"a b@c\"", "\"-x@y\"", "\"a@b,c@d\"", "\"ü@x\""})
    EXPECT_TRUE(refuses(read_address, text)) << text;
}

}  // namespace
}  // namespace kiln
