#include "registry/deploy/enforcement.h"

#include <nlohmann/json.hpp>

#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

EnforcementScript read_script(const std::string& conditions, const std::string& raw,
                              const std::string& id = "1") {
  const Json data = {{"stage", "pre"}, {"raw", raw}};
  const std::string text =
      fmt::format(R"({{"id": "{}", "conditions": {}, "data": {}}})", id, conditions, data.dump());
  return read_enforcement_script(JsonDocument::parse(text, "script.json").root());
}
std::string wrong_script(const std::string& conditions, const std::string& raw) {
  return input_error([&] { read_script(conditions, raw); });
}

const Infrastructure& cluster_machines() {
  static const Infrastructure made = infrastructure();
  return made;
}
ScriptSituation situation(const std::string& application = "tensorflow") {
  return {application, {{"xla", "true"}, {"layers", "3"}}, &cluster_machines(), {}};
}

TEST(Enforcement, SwitchesOnTheCompilerThatIsAskedFor) {
  const auto script = read_script(R"({"application": {"name": "TensorFlow", "feature": {"xla": true}}})",
                                  "export TF_XLA_FLAGS=\"--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit\"");
  EXPECT_EQ(scripts_for({script}, situation()).size(), 1u);
  EXPECT_EQ(scripts_for({script}, situation("pytorch")).size(), 0u);
  EXPECT_EQ(script_text(script, situation()), script.raw);
}

TEST(Enforcement, EachConditionHasToHold) {
  auto runs = [](const std::string& conditions) {
    return scripts_for({read_script(conditions, "x")}, situation()).size() == 1;
  };
  EXPECT_TRUE(runs("{}"));
  EXPECT_TRUE(runs(R"({"infrastructure": {"name": "hlrs", "storage_class": "default-ssd"}})"));
  EXPECT_FALSE(runs(R"({"infrastructure": {"name": "hlrs", "storage_class": "default-high"}})"));
  EXPECT_FALSE(runs(R"({"infrastructure": {"name": "egi"}, "application": {"name": "tensorflow"}})"));
  EXPECT_TRUE(runs(R"({"application": {"name": "tensorflow", "feature": {"xla": "true", "layers": 3}}})"));
  EXPECT_FALSE(runs(R"({"application": {"name": "tensorflow", "feature": {"xla": true, "layers": 4}}})"));
}

TEST(Enforcement, AClassOfStorageHasTwoSpellings) {
  const Infrastructure fast =
      infrastructure(R"({"storage": {"file:///nvme": {"storage_class": "default-ultra-high"}}})");
  ScriptSituation place = situation();
  place.infrastructure = &fast;
  for (const std::string spelling : {"default-ultra-high", "default-ultra_high"}) {
    const auto script =
        read_script(fmt::format(R"({{"infrastructure": {{"storage_class": "{}"}}}})", spelling), "x");
    EXPECT_EQ(scripts_for({script}, place).size(), 1u) << spelling;
    place.storage_classes = {spelling};
    EXPECT_EQ(preferred_storage(place), "file:///nvme") << spelling;
  }
}

TEST(Enforcement, TheOrderIsModaks) {
  const char* conditions[] = {
      R"({"application": {"name": "tensorflow", "feature": {"xla": true}}, "infrastructure": {"name": "hlrs"}})",
      R"({"application": {"name": "tensorflow"}, "infrastructure": {"name": "hlrs"}})",
      R"({"application": {"name": "tensorflow", "feature": {"xla": true}}})",
      R"({"application": {"name": "tensorflow"}})",
      R"({"infrastructure": {"name": "hlrs", "storage_class": "default-ssd"}})",
      R"({"infrastructure": {"storage_class": "default-ssd"}})",
      R"({"infrastructure": {"name": "hlrs"}})"};
  std::vector<EnforcementScript> scripts;
  for (const char* one : conditions)
    scripts.push_back(read_script(one, "x", std::to_string(7 - scripts.size())));
  scripts.push_back(scripts.front());  // once by its id
  std::string order;
  for (const EnforcementScript& script : scripts_for(scripts, situation())) order += script.id;
  EXPECT_EQ(order, "1234567");
}

TEST(Enforcement, VariablesTakeMethodsOfTexts) {
  const auto script = read_script("{}",
                                  "cd {{ preferred_storage_location.replace(\"file://\", '') }}; echo "
                                  "{{preferred_storage_location}} ${#x}");
  EXPECT_EQ(script_text(script, situation()),
            "cd /mnt/nfs; echo file:///mnt/nfs ${#x}");  // the slowest class
  ScriptSituation fast = situation();
  fast.storage_classes = {"default-ultra-high", "default-ssd"};
  EXPECT_EQ(script_text(script, fast), "cd /scratch; echo file:///scratch ${#x}");
  ScriptSituation nowhere = situation();
  nowhere.infrastructure = nullptr;
  EXPECT_TRUE(holds(input_error([&] { script_text(script, nowhere); }),
                    "the variable 'preferred_storage_location' has no value (at /data/raw)"));
}

TEST(Enforcement, AValueStaysAWord) {
  const Infrastructure bad =
      infrastructure(R"({"storage": {"file:///a;id": {"storage_class": "default-common"}}})");
  ScriptSituation place = situation();
  place.infrastructure = &bad;
  EXPECT_TRUE(holds(
      input_error([&] { script_text(read_script("{}", "cd {{ preferred_storage_location }}"), place); }),
      "has characters of the shell"));
}

TEST(Enforcement, AreCheckedWhenTheyComeIn) {
  EXPECT_TRUE(holds(wrong_script("{}", "cd {{ prefered_storage_location }}"),
                    "unknown variable 'prefered_storage_location' (at /data/raw); did you mean "
                    "'preferred_storage_location'?"));
  EXPECT_TRUE(holds(wrong_script("{}", "true\n#SBATCH --exclusive"),
                    "the scheduler ignores #SBATCH after a command"));
  for (const char* raw :
       {" \n", "{{ }}", "{{ preferred_storage_location", "{% if x %}",
        "{{ preferred_storage_location | upper }}", "{{ preferred_storage_location.format(\"a\") }}",
        "{{ preferred_storage_location.replace(\"a\") }}"})
    EXPECT_NE(wrong_script("{}", raw), "no error") << raw;
  EXPECT_NE(wrong_script(R"({"application": {"feature": {"xla": true}}})", "x"), "no error");
  EXPECT_NE(wrong_script(R"({"applcation": {"name": "x"}})", "x"), "no error");
}

}  // namespace
}  // namespace kiln
