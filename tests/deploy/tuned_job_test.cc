// A tuned setting in a job's script.
#include <nlohmann/json.hpp>

#include "deploy/deploy_samples.h"
#include "support/tuned_samples.h"

namespace kiln {
namespace {

using namespace testing;

DeployTerms tuned_terms(const std::map<std::string, std::string>& settings, int cores = 2) {
  DeployTerms terms;
  terms.tuned = tuned_record();
  terms.tuned->settings = settings;
  terms.tuned->host.cores = cores;
  return terms;
}

TEST(TunedJob, ExportsTheSettingAndSaysWhereItComesFrom) {
  const std::string text = script(document("", kPlain), sif_image(), nullptr,
                                  tuned_terms({{"OMP_NUM_THREADS", "1"}, {"OMP_PROC_BIND", "close"}}));
  EXPECT_TRUE(
      holds(text,
            "# tuned for mnist-cnn: OMP_NUM_THREADS=1 OMP_PROC_BIND=close: 1.20 times as fast as the default "
            "(1.10 to 1.30), measured on Xeon A, 2 cores on 2026-11-24\n"
            "export OMP_NUM_THREADS=1\nexport OMP_PROC_BIND=close\n"))
      << text;
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_OMP_PROC_BIND=\"${OMP_PROC_BIND}\"\n")) << text;
}

TEST(TunedJob, AValueIsQuoted) {
  const std::string text =
      script(document("", kPlain), sif_image(), nullptr, tuned_terms({{"XLA_FLAGS", "--a=b; echo $HOME"}}));
  EXPECT_TRUE(holds(text, "export XLA_FLAGS='--a=b; echo $HOME'\n")) << text;
}

TEST(TunedJob, NamesTheOptionsOfTheWorkload) {
  const std::string text = script(document("", kPlain), sif_image(), nullptr,
                                  tuned_terms({{"KILN_BENCH_BATCH", "64"}, {"OMP_NUM_THREADS", "1"}}));
  EXPECT_TRUE(holds(text,
                    "# KILN_BENCH_BATCH is an option of the workload: give the program the same\n"
                    "export OMP_NUM_THREADS=1\n"))
      << text;
  EXPECT_FALSE(holds(text, "export KILN_BENCH_BATCH"));
}

TEST(TunedJob, IsNotUsedWhereItWasNotMeasured) {
  auto reason = [](const std::string& text, const DeployTerms& terms) {
    const Deployment made = deployed(text, openmpi_image(), nullptr, terms);
    EXPECT_FALSE(made.tuned);
    return made.reasons.back();
  };
  const auto one = tuned_terms({{"OMP_NUM_THREADS", "1"}});
  const std::string unused = "the tuned setting OMP_NUM_THREADS=1 is not used: ";
  EXPECT_EQ(reason(document("", kMpi), one),
            unused + "it was measured with one process, and the job starts 8");
  EXPECT_EQ(reason(document(R"("core_count_per_process": 8)", kPlain), one),
            unused + "it was measured on 2 cores, and the process has 8");
  EXPECT_EQ(reason(document("", R"("executable": "x", "threads": 2)"), one),
            unused + "the document asks for 2 threads");
  EXPECT_EQ(reason(document(R"("copy_environment_variable": "OMP_NUM_THREADS=3")", kPlain), one),
            unused + "the document sets or copies OMP_NUM_THREADS");
  EXPECT_EQ(
      reason(document("", kPlain), tuned_terms({{"LD_PRELOAD", "/a.so"}})),
      "the tuned setting LD_PRELOAD=/a.so is not used: LD_PRELOAD would also change the programs that start "
      "the container");
}

TEST(TunedJob, TakesTheWholeNodeThatItWasMeasuredOn) {
  const Infrastructure machines = infrastructure();
  const std::string text =
      script(document("", kPlain), sif_image(), &machines, tuned_terms({{"OMP_NUM_THREADS", "16"}}, 32));
  EXPECT_TRUE(holds(text, "export OMP_NUM_THREADS=16\n")) << text;
  EXPECT_FALSE(holds(text, "OMP_NUM_THREADS=32")) << text;
  const Deployment other =
      deployed(document("", kPlain), sif_image(), &machines, tuned_terms({{"OMP_NUM_THREADS", "16"}}, 64));
  EXPECT_FALSE(other.tuned) << "a node has 32 cores";
}

TEST(TunedJob, IsToldToPrograms) {
  const Deployment made = deployed(document("", kPlain), sif_image(), nullptr, tuned_terms({{"A", "b"}}));
  const Json json = to_json(made);
  EXPECT_EQ(json["run"]["tuned"]["settings"]["A"], "b");
  EXPECT_EQ(json["run"]["tuned"]["gain"]["ratio"], 1.2);
  EXPECT_FALSE(to_json(deployed(document("", kPlain)))["run"].contains("tuned"));
}

TEST(TunedJob, ABuildHasNone) {
  const std::string text = document("", R"("executable": "x", "build": {"build_command": "make"})");
  const Deployment made = deployed(text, sif_image(), nullptr, tuned_terms({{"A", "b"}}));
  EXPECT_FALSE(holds(render_job(made).build, "export A="));
}

}  // namespace
}  // namespace kiln
