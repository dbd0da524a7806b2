#include "factory/bench/restriction.h"

#include <gtest/gtest.h>

#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

std::string usage_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "no error";
}

Restriction restriction_of(std::vector<std::string> words) { return read_restriction(words); }

HostDescription ice_lake() {
  HostDescription host;
  host.cpu = "icelake";
  host.model = "Xeon";
  host.cores = 8;
  host.features = {"avx512f"};
  return host;
}

TEST(Restriction, IsALevelAndANumberOfCores) {
  EXPECT_TRUE(restriction_of({}).empty());
  const Restriction both = restriction_of({"cores=2", "x86_64_v3"});
  EXPECT_EQ(both.level, "x86_64_v3");
  EXPECT_EQ(both.cores, 2);
  EXPECT_FALSE(both.empty());
}

TEST(Restriction, SaysWhatIsWrong) {
  auto error_of = [](std::vector<std::string> words) { return usage_error([&] { restriction_of(words); }); };
  EXPECT_EQ(error_of({"avx2"}), "--restrict: 'avx2' is no restriction");
  EXPECT_EQ(error_of({"x86_64_v4"}), "--restrict: 'x86_64_v4' is no restriction");
  for (const char* word : {"cores=", "cores=0", "cores=-1", "cores=2x", "cores=99999999999"})
    EXPECT_NE(error_of({word}).find("is no number of cores"), std::string::npos) << word;
  EXPECT_NE(error_of({"x86_64_v2", "x86_64_v3"}).find("a second restriction of its kind"), std::string::npos);
  EXPECT_NE(error_of({"cores=1", "cores=2"}).find("a second restriction of its kind"), std::string::npos);
}

TEST(Restriction, TellsTheLibrariesThatChooseTheirKernels) {
  const auto variables = restricting_variables(restriction_of({"x86_64_v3"}));
  EXPECT_EQ(variables.at("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_EQ(variables.at("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_EQ(variables.at("OPENBLAS_CORETYPE"), "Haswell");
  EXPECT_EQ(restricting_variables(restriction_of({"x86_64_v2"})).at("ATEN_CPU_CAPABILITY"), "default");
  EXPECT_TRUE(restricting_variables(restriction_of({"cores=1"})).empty());
}

TEST(RestrictedHost, IsAnotherMachine) {
  const HostDescription whole = ice_lake();
  const HostDescription lesser = restricted_host(whole, restriction_of({"x86_64_v3", "cores=2"}), archspec());
  EXPECT_EQ(lesser.model, "Xeon (restricted to x86_64_v3, 2 of 8 cores)");
  EXPECT_EQ(lesser.cpu, "x86_64_v3");
  EXPECT_EQ(lesser.cores, 2);
  EXPECT_TRUE(lesser.features.empty()) << "those of the level";
  EXPECT_FALSE(is_same_machine(whole, lesser));
  const HostDescription cores = restricted_host(whole, restriction_of({"cores=1"}), archspec());
  EXPECT_EQ(cores.model, "Xeon (restricted to 1 of 8 cores)");
  EXPECT_EQ(cores.cpu, "icelake");
  EXPECT_EQ(restricted_host(whole, {}, archspec()), whole);
}

TEST(RestrictedHost, IsLessThanTheMachine) {
  HostDescription old = ice_lake();
  old.cpu = "nehalem";
  EXPECT_EQ(usage_error([&] { restricted_host(old, restriction_of({"x86_64_v3"}), archspec()); }),
            "--restrict: x86_64_v3 is no less than this machine, which is nehalem");
  old.cpu = "x86_64_v3";
  EXPECT_NE(usage_error([&] { restricted_host(old, restriction_of({"x86_64_v3"}), archspec()); }),
            "no error");
  EXPECT_EQ(usage_error([&] { restricted_host(ice_lake(), restriction_of({"cores=8"}), archspec()); }),
            "--restrict: cores=8 is no less than this machine, which has 8 cores");
}

}  // namespace
}  // namespace kiln::testing
