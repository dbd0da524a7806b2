#include "registry/select/dsl.h"

#include <fmt/format.h>

#include "index/samples.h"
#include "support/input_errors.h"

namespace kiln {
namespace {

using testing::error_of;
using testing::with_mistake;
using Strings = std::vector<std::string>;

const Strings kCompilers = {"glow", "inductor", "ngraph", "tvm", "xla"};

DslReading read(const std::string& text, const Strings& compilers = kCompilers) {
  return read_dsl(JsonDocument::parse(text, "job.json"), compilers);
}

DslReading read_file(const std::string& name) {
  std::string file = std::string(KILN_TEST_DATA) + "/dsl/" + name;
  return read_dsl(JsonDocument::parse(testing::read_bytes(file), name), kCompilers);
}

Strings texts(const DslReading& reading) {
  Strings lines;
  for (const DslNote& note : reading.notes) lines.push_back(text_of(note));
  return lines;
}

// `framework` is the inside of the framework's part.
std::string training(const std::string& framework, const std::string& opt_build = "{}",
                     const std::string& enabled = "true") {
  return fmt::format(
      R"({{"optimisation": {{"enable_opt_build": {}, "app_type": "ai_training", "opt_build": {},
"app_type-ai_training": {{"config": {{"ai_framework": "tensorflow"}}, "ai_framework-tensorflow": {{{}}}}}}}}})",
      enabled, opt_build, framework);
}

TEST(Dsl, ReadsModaksTrainingJob) {
  DslReading reading = read_file("tf_snow.json");
  EXPECT_EQ(texts(reading), Strings{});
  EXPECT_EQ(reading.query.app_type, "ai_training");
  EXPECT_EQ(reading.query.application, "tensorflow");
  EXPECT_EQ(reading.query.opt_build, true);
  EXPECT_EQ(reading.query.version.text(), "2.1");
  EXPECT_EQ(reading.query.cpu_type, "x86");
  EXPECT_EQ(reading.query.acc_type, "nvidia");
  EXPECT_EQ(reading.query.compilers, (std::map<std::string, bool>{{"xla", true}}));
  EXPECT_TRUE(reading.query.selectors.empty());
}

TEST(Dsl, ReadsModaksMpiJobs) {
  for (const char* name : {"mpi_solver.json", "mpi_test.json"}) {
    DslReading reading = read_file(name);
    EXPECT_EQ(texts(reading), Strings{}) << name;
    EXPECT_EQ(reading.query.app_type, "hpc");
    EXPECT_EQ(reading.query.application, "mpich");
    EXPECT_EQ(reading.query.version.text(), "3.1.4");
    EXPECT_TRUE(reading.query.selectors.empty()) << "the library is the application, no further choice";
  }
}

TEST(Dsl, AJobWithoutOptimisationAsksForTheStockImageOfItsTag) {
  DslReading reading = read_file("get_optimisation_non_existent.json");
  EXPECT_EQ(texts(reading), Strings{});
  EXPECT_EQ(reading.query.application, "no-opt-skyline-extraction-training");
  EXPECT_EQ(reading.query.opt_build, std::nullopt);
  EXPECT_TRUE(reading.query.version.is_any());
}

TEST(Dsl, TakesABareOptimisationAndABareJob) {
  EXPECT_EQ(read(training("")).query.application, "tensorflow");
  EXPECT_EQ(read(R"({"application": {"app_tag": "solver"}})").query.application, "solver");
}

TEST(Dsl, TakesNumbersAndFlagsAsText) {
  ImageQuery query = read(training(R"("version": 2.1, "xla": "True")", "{}", "\"true\"")).query;
  EXPECT_EQ(query.version.text(), "2.1");
  EXPECT_EQ(query.opt_build, true);
  EXPECT_TRUE(query.compilers.at("xla"));
  EXPECT_EQ(read(training("", "{}", "\"false\"")).query.opt_build, false);
  EXPECT_EQ(read(training(R"("version": 2)")).query.version.text(), "2");
}

TEST(Dsl, AVersionKeepsItsZero) {
  const std::string text = training(R"("version": 2.10, "cudnn": 7.60)", "{}", "true");
  const JsonDocument document = JsonDocument::parse(text, "job.json");
  const ImageQuery query = read_dsl(document, {}, written_numbers(text)).query;
  EXPECT_EQ(query.version.text(), "2.10");
  EXPECT_EQ(query.selectors.at("cudnn"), "7.60");
}

TEST(Dsl, WithoutACompilerOfThatNameItIsAFurtherChoice) {
  ImageQuery query = read(training(R"("mkldnn": true, "fuser": false)"), {"fuser"}).query;
  EXPECT_EQ(query.compilers, (std::map<std::string, bool>{{"fuser", false}}));
  EXPECT_EQ(query.selectors, (std::map<std::string, std::string>{{"mkldnn", "true"}}));
}

TEST(Dsl, AStockImageIsAskedForWithoutOptions) {
  const DslReading reading =
      read(training(R"("version": "2.1", "xla": true, "glow": false, "backend": "theano")",
                    R"({"cpu_type": "x86", "acc_type": "nvidia"})", "false"));
  EXPECT_EQ(reading.query.cpu_type + reading.query.acc_type, "");
  EXPECT_TRUE(reading.query.compilers.empty());
  EXPECT_TRUE(reading.query.selectors.empty());
  EXPECT_EQ(reading.query.version.text(), "2.1");
  Strings messages;
  for (const DslNote& note : reading.notes) messages.push_back(note.message);
  EXPECT_EQ(messages, (Strings{"'opt_build' is not applied: the stock image is asked for",
                               "'xla' is not applied: the stock image is asked for",
                               "'backend' is not applied: the stock image is asked for"}))
      << "that there is to be no glow, a stock image fulfils";
  refuse_lost_choices(reading);
}

TEST(Dsl, FurtherOptionsOfAFrameworkAreChoices) {
  ImageQuery query =
      read(
          training(
              R"("xla": false, "tvm": true, "openvino": true, "backend": "Theano", "horovod": true, "cudnn": 7.6)"),
          {"OpenVINO", "tvm", "xla"})
          .query;
  EXPECT_EQ(query.compilers,
            (std::map<std::string, bool>{{"openvino", true}, {"tvm", true}, {"xla", false}}));
  EXPECT_EQ(query.selectors, (std::map<std::string, std::string>{
                                 {"backend", "theano"}, {"cudnn", "7.6"}, {"horovod", "true"}}));
}

TEST(Dsl, KnowsWhetherMpiStartsTheProcesses) {
  const std::string document =
      R"({"job": {"application": {"app_type": "%T"}, "optimisation": {"app_type-ai_training":
    {"config": {"ai_framework": "pytorch"}}}}})";
  EXPECT_TRUE(read(with_mistake(document, "%T", "mpi")).query.mpi_ranks);
  EXPECT_TRUE(read(with_mistake(document, "%T", "hpc")).query.mpi_ranks);
  EXPECT_FALSE(read(with_mistake(document, "%T", "python")).query.mpi_ranks);
}

TEST(Dsl, TakesWhatKilnAdds) {
  ImageQuery query = read(R"({"job": {"target": {"host": {"cpu": "broadwell"}}, "optimisation": {
    "enable_opt_build": true, "workload": "mnist-cnn", "format": "sif", "opt_build": {"cpu": "broadwell", "gpu": "sm_61"},
    "app_type-ai_training": {"config": {"ai_framework": "PyTorch", "distributed_training": true},
      "ai_framework-pytorch": {"version": "2.6", "method": "distro", "compilers": ["inductor"]}}}}})")
                         .query;
  EXPECT_EQ(query.app_type, "ai_training") << "from the part that is there";
  EXPECT_EQ(query.application, "pytorch");
  EXPECT_EQ(query.cpu, "broadwell");
  EXPECT_EQ(query.gpu, "sm_61");
  EXPECT_EQ(query.method, "distro");
  EXPECT_EQ(query.workload, "mnist-cnn");
  EXPECT_EQ(query.format, "sif");
  EXPECT_EQ(query.compilers, (std::map<std::string, bool>{{"inductor", true}}));
  EXPECT_EQ(query.selectors, (std::map<std::string, std::string>{{"distributed_training", "true"}}));
  ASSERT_TRUE(query.host);
  EXPECT_EQ(host_from_json(*query.host).cpu, "broadwell");
}

TEST(Dsl, AHostMayStandBesideTheOptimisation) {
  for (const char* text : {R"({"host": {"cpu": "zen2"}, "application": {"app_tag": "a"}})",
                           R"({"job": {"host": {"cpu": "zen2"}, "application": {"app_tag": "a"}}})",
                           R"({"host": {"cpu": "zen2"}, "job": {"application": {"app_tag": "a"}}})"}) {
    auto reading = read(text);
    ASSERT_TRUE(reading.query.host) << text;
    EXPECT_EQ(host_from_json(*reading.query.host).cpu, "zen2");
    EXPECT_EQ(texts(reading), Strings{});
  }
}

TEST(Dsl, AnAppTagMakesTheLibraryAFurtherChoice) {
  ImageQuery query = read(R"({"application": {"app_tag": "code_aster"}, "optimisation": {"app_type": "hpc",
    "app_type-hpc": {"config": {"parallelisation": "mpi"}, "parallelisation-mpi":
      {"library": "mpich", "version": "3.1.4", "scaling_efficiency": 0.8, "core_subscription": 1, "message_size": 4}}}})")
                         .query;
  EXPECT_EQ(query.application, "code_aster");
  EXPECT_EQ(query.opt_build, false) << "not enabled";
  EXPECT_EQ(query.selectors, (std::map<std::string, std::string>{{"library", "mpich"}}));
}

std::string hpc(const std::string& part, const std::string& tag = "") {
  return fmt::format(R"({{"application": {{"app_tag": "{}"}}, "optimisation": {{"app_type-hpc": {}}}}})", tag,
                     part);
}

TEST(Dsl, AnHpcJobNamesItsParallelisation) {
  ImageQuery query = read(hpc(R"({"config": {"parallelisation": "OpenMP"}, "parallelisation-openmp":
    {"library": "GCC", "method": "Source", "compiler": "gfortran", "affinity": "x"}, "parallelisation-mpi": {"library": "mpich"}})"))
                         .query;
  EXPECT_EQ(query.app_type, "hpc");
  EXPECT_EQ(query.application, "gcc");
  EXPECT_EQ(query.method, "source");
  EXPECT_EQ(query.selectors, (std::map<std::string, std::string>{{"compiler", "gfortran"}}));
  EXPECT_EQ(read(hpc("{}", "solver")).query.application, "solver");
  Error error = error_of([] { read(hpc("{}")); });
  EXPECT_EQ(error.where().pointer, "/optimisation/app_type-hpc");
}

TEST(Dsl, AMisspeltHintIsNoChoice) {
  DslReading reading =
      read(hpc(R"({"parallelisation-mpi": {"library": "mpich", "versoin": "3", "mpicc": true}})"));
  EXPECT_EQ(reading.query.selectors, (std::map<std::string, std::string>{{"mpicc", "true"}}));
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_NE(texts(reading)[0].find("did you mean 'version'?"), std::string::npos);
}

TEST(Dsl, ABigDataJobIsItsTag) {
  ImageQuery query =
      read(R"({"application": {"app_tag": "spark"}, "optimisation": {"app_type-big_data": {}}})").query;
  EXPECT_EQ(query.app_type, "big_data");
  EXPECT_EQ(query.application, "spark");
}

TEST(Dsl, TrainingOnOneNodeIsNoChoice) {
  ImageQuery query = read(R"({"optimisation": {"app_type-ai_inference": {
    "config": {"ai_framework": "pytorch", "distributed_training": false}}}})")
                         .query;
  EXPECT_EQ(query.app_type, "ai_inference");
  EXPECT_TRUE(query.selectors.empty());
}

TEST(Dsl, AFormatIsOneOfThree) {
  EXPECT_EQ(read(R"({"application": {"app_tag": "a"}, "optimisation": {"format": "OCI"}})").query.format,
            "oci");
  Error error =
      error_of([] { read(R"({"application": {"app_tag": "a"}, "optimisation": {"format": "sfi"}})"); });
  EXPECT_EQ(error.message(), "invalid format 'sfi': expected tag, oci, sif");
}

TEST(Dsl, LooksIntoEveryPartForUnknownKeys) {
  DslReading reading = read(
      R"({"$schema": "x", "job": {"target": {"nme": 1}, "application": {"app_tag": "a", "build": {"scr": 1}},
    "optimisation": {"autotuning": {"tunr": 1}, "app_type-": {}, "opt_build": {"cup": 1}, "app_type-ai_training": {
      "data": {"locatoin": 1, "etl": {"prefecth": 1}}, "ai_framework-": {},
      "config": {"ai_framework": "jax", "layer": 1}}}}})");
  std::string all;
  for (const std::string& note : texts(reading)) all += note.substr(note.find("(at ")) + "\n";
  for (const char* key :
       {"/job/target/nme", "/job/application/build/scr", "/job/optimisation/autotuning/tunr",
        "/job/optimisation/app_type-)", "/opt_build/cup", "/data/locatoin", "/etl/prefecth",
        "/ai_framework-)", "/config/layer"})
    EXPECT_NE(all.find(key), std::string::npos) << key << " in\n" << all;
  EXPECT_EQ(all.find("$schema"), std::string::npos);
}

TEST(Dsl, TheTargetsHostCountsLessThanTheJobs) {
  auto reading = read(
      R"({"target": {"host": {"cpu": "zen2"}}, "host": {"cpu": "zen3"}, "application": {"app_tag": "a"}})");
  EXPECT_EQ(host_from_json(*reading.query.host).cpu, "zen3");
}

TEST(Dsl, AnEmptyPartIsAnAbsentOne) {
  ImageQuery query =
      read(R"({"job": {"host": null, "target": null, "application": {"app_tag": "a", "build": null},
    "optimisation": {"opt_build": null, "workload": null, "format": null, "app_type": null}}})")
          .query;
  EXPECT_EQ(query.application, "a");
  EXPECT_FALSE(query.host);
}

TEST(Dsl, ReportsUnknownKeysWithPlaceAndNearest) {
  DslReading reading = read(
      "{\"job\": {\"aplication\": {}, \"application\": {\"app_tag\": \"a\",\n \"executabel\": \"x\"},\n"
      " \"job_options\": {\"wall_time\": \"1:00\", \"job_name\": \"n\"}}}");
  ASSERT_EQ(reading.notes.size(), 3u);
  EXPECT_EQ(
      texts(reading)[0],
      "job.json:1:10: note: unknown key 'aplication' (at /job/aplication); did you mean 'application'?");
  EXPECT_EQ(texts(reading)[1],
            "job.json:3:18: note: unknown key 'wall_time' (at /job/job_options/wall_time)");
  EXPECT_EQ(texts(reading)[2],
            "job.json:2:2: note: unknown key 'executabel' (at /job/application/executabel); did you mean "
            "'executable'?");
}

TEST(Dsl, AMisspeltOptionIsNoChoice) {
  DslReading reading = read(training(R"("versoin": "2.1", "xlaa": true)"));
  EXPECT_TRUE(reading.query.selectors.empty());
  ASSERT_EQ(reading.notes.size(), 2u);
  EXPECT_NE(texts(reading)[0].find("unknown key 'versoin'"), std::string::npos);
  EXPECT_NE(texts(reading)[0].find("did you mean 'version'?"), std::string::npos);
  EXPECT_NE(texts(reading)[1].find("did you mean 'xla'?"), std::string::npos);
}

// What an answer would leave out in silence, and what no image depends on.
TEST(Dsl, AChoiceIsNotLostForAMisspelling) {
  auto refusal = [](const std::string& text) {
    try {
      refuse_lost_choices(read(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return error.where().pointer;
    }
    return std::string("taken");
  };
  const std::string tag = R"("application": {"app_tag": "a"})";
  EXPECT_EQ(refusal(training(R"("versoin": "2.1")")),
            "/optimisation/app_type-ai_training/ai_framework-tensorflow/versoin");
  EXPECT_EQ(refusal(training("", R"({"cpu_tpye": "arm"})")), "/optimisation/opt_build/cpu_tpye");
  EXPECT_EQ(refusal("{" + tag + R"(, "optimisaton": {}})"), "/optimisaton");
  EXPECT_EQ(refusal("{\"job\": {" + tag + R"(, "colour": 1}})"), "/job/colour");
  EXPECT_EQ(refusal(R"({"optimisation": {"format": "sif", "wrokload": "x"}, )" + tag + "}"),
            "/optimisation/wrokload");
  EXPECT_EQ(refusal(R"({"application": {"app_tag": "a", "app_tg": "b"}})"), "/application/app_tg");
  EXPECT_EQ(refusal("{" + tag + R"(, "target": {"hsot": {}}})"), "/target/hsot");
  for (const std::string& running :
       {std::string(R"({"application": {"app_tag": "a", "executabel": "x", "colour": 1}})"),
        "{" + tag + R"(, "target": {"nme": "x"}, "job_options": {"wall_time": "1"}})",
        hpc(R"({"data": {"locatoin": "x"}})", "a"), training("")})
    EXPECT_EQ(refusal(running), "taken") << running;
}

TEST(Dsl, AnotherSpellingOfThePartIsThePart) {
  DslReading reading = read(R"({"optimization": {"enable_opt_build": true, "app_type-ai_training": {
    "config": {"ai_framework": "jax"}}}})");
  EXPECT_EQ(texts(reading), Strings{});
  EXPECT_EQ(reading.query.application, "jax");
  EXPECT_TRUE(reading.query.opt_build.value_or(false));
  EXPECT_EQ(
      read(R"({"job": {"optimization": {"app_type-ai_training": {"config": {"ai_framework": "jax"}}}}})")
          .query.application,
      "jax");
  Error error =
      error_of([] { read(R"({"application": {"app_tag": "a"}, "optimisation": {}, "optimization": {}})"); });
  EXPECT_EQ(error.message(), "'optimisation' is given as well");
}

TEST(Dsl, SaysThatAnotherFrameworksPartIsNotUsed) {
  DslReading reading = read(R"({"optimisation": {"app_type": "ai_training", "app_type-ai_training": {
    "config": {"ai_framework": "tensorflow"}, "ai_framework-pytorch": {"version": "1.5"}}}})");
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_EQ(texts(reading)[0],
            "job.json:2:47: note: 'ai_framework-pytorch' is not used: the framework is tensorflow"
            " (at /optimisation/app_type-ai_training/ai_framework-pytorch)");
  EXPECT_TRUE(reading.query.version.is_any());
}

struct BadDocument {
  const char* text;
  const char* error;
};

TEST(Dsl, ErrorsNamePlaceAndRemedy) {
  const BadDocument documents[] = {
      {"[]", "job.json:1:1: error: expected an object with 'job' or 'optimisation', found an array"},
      {"{}",
       "job.json:1:1: error: the document names no application; expected 'optimisation' with a framework or "
       "an MPI library, or "
       "'application.app_tag'"},
      {R"({"job": 3})", "job.json:1:9: error: expected an object, found a number (at /job)"},
      {R"({"optimisation": {"enable_opt_build": "maybe"}})",
       "job.json:1:39: error: expected true or false, found 'maybe' (at /optimisation/enable_opt_build)"},
      {R"({"optimisation": {"enable_opt_build": 1}})",
       "job.json:1:39: error: expected true or false, found a number (at /optimisation/enable_opt_build)"},
      {R"({"optimisation": {"app_type": "ai_trainign"}})",
       "job.json:1:31: error: invalid app_type 'ai_trainign': expected ai_training, ai_inference, hpc, "
       "big_data (at "
       "/optimisation/app_type); did you mean 'ai_training'?"},
      {R"({"optimisation": {"app_type": "ai_training"}})",
       "job.json:1:18: error: expected the key 'app_type-ai_training' (at /optimisation)"},
      {R"({"optimisation": {"opt_build": {"cpu_type": "x68"}}})",
       "job.json:1:45: error: invalid cpu_type 'x68': expected x86, arm, amd, power (at "
       "/optimisation/opt_build/cpu_type); did you mean "
       "'x86'?"},
      {R"({"optimisation": {"opt_build": {"acc_type": "nvdia"}}})",
       "job.json:1:45: error: invalid acc_type 'nvdia': expected nvidia, amd, fpga, none (at "
       "/optimisation/opt_build/acc_type); did you "
       "mean 'nvidia'?"},
      {R"({"optimisation": {"app_type": "hpc", "app_type-hpc": {"parallelisation-mpi": {"version": "3"}}}})",
       "job.json:1:78: error: the document names no application (at "
       "/optimisation/app_type-hpc/parallelisation-mpi); expected "
       "'library' in 'parallelisation-mpi', or 'application.app_tag'"},
  };
  for (const auto& document : documents) {
    Error error = error_of([&] { read(document.text); });
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.format(), document.error);
  }
}

TEST(Dsl, AFrameworkMustBeNamed) {
  Error error = error_of([] { read(R"({"optimisation": {"app_type-ai_training": {"config": {}}}})"); });
  EXPECT_EQ(error.where().pointer, "/optimisation/app_type-ai_training/config");
  EXPECT_NE(error.message().find("ai_framework"), std::string::npos);
}

}  // namespace
}  // namespace kiln
