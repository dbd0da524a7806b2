// The small readers: Dockerfiles, requirements, wheels, secrets, CUDA's tables.
#include <gtest/gtest.h>

#include "lint/check_script.h"
#include "lint/cuda_limits.h"
#include "lint/unit.h"

namespace kiln::lint {
namespace {

TEST(DockerfileReader, JoinsLinesAndSkipsComments) {
  const SourceFile file("Dockerfile",
                        "# syntax\nfrom a AS b\n\nRUN x \\\n  # no\n  && y\nRUN <<EOF\nrm z\nEOF\nENV A=1 "
                        "B=\"2 3\"\nENV OLD 4\n");
  const Dockerfile read = read_dockerfile(file);
  ASSERT_EQ(read.instructions.size(), 5u);
  EXPECT_EQ(read.instructions[0].name, "FROM");
  EXPECT_EQ(file.line_of(read.instructions[1].arguments.end), 6);
  EXPECT_EQ(file.line_of(read.instructions[2].arguments.end), 9);
  const auto pairs = read_assignments(file, read.instructions[3]);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].name, "B");
  EXPECT_EQ(pairs[1].value, "2 3");
  EXPECT_EQ(read_assignments(file, read.instructions[4])[0].value, "4");
}

TEST(DefinitionReader, FindsSections) {
  const SourceFile file("a.def",
                        "Bootstrap: docker\nFrom: a:1\n%post -c /bin/bash\n  x\n%environment\n  y\n");
  const auto sections = read_definition(file);
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_EQ(sections[1].name, "post");
  EXPECT_EQ(file.text().substr(sections[1].span.begin, sections[1].span.end - sections[1].span.begin),
            "  x\n");
}

TEST(Requirements, ReadsWhatPipWrites) {
  auto read = [](const char* text) { return read_requirement(text, {}); };
  EXPECT_EQ(read("Flask_Login[a,b]==1.0").name, "flask-login");
  EXPECT_EQ(read("jax[cuda12]==0.4").extras, "cuda12");
  EXPECT_EQ(read("torch == 2.6.0+cpu ; x").version, "2.6.0+cpu");
  EXPECT_FALSE(read("a>=1").exact);
  EXPECT_FALSE(read("a==1.*").exact);
  EXPECT_TRUE(read("a @ https://example.org/a.whl").exact);
  for (const char* none : {"./a", "$X", "dist/*.whl", "a-1.whl", "-r", "requirements.txt", ""})
    EXPECT_EQ(read(none).name, "") << none;
}

TEST(Wheels, AreTakenApart) {
  EXPECT_EQ(wheel_name("dist/torch-1.4.0-cp36-cp36m-linux_x86_64.whl"),
            "torch-1.4.0-cp36-cp36m-linux_x86_64.whl");
  EXPECT_EQ(wheel_name("dist/*.whl"), "");
  EXPECT_EQ(wheel_python("torch-1.4.0-cp36-cp36m-linux_x86_64.whl"), "cp36");
  EXPECT_EQ(wheel_python("six-1.0-py2.py3-none-any.whl"), "");
  EXPECT_EQ(wheel_python("x-1-cp37-abi3-linux_x86_64.whl"), "");
}

TEST(Secrets, AreKnownByNamePrefixAndEntropy) {
  EXPECT_NE(secret_in("DB_PASSWORD", "hunter2hunter2"), "");
  EXPECT_NE(secret_in("X", "AKIA0123456789ABCDEF"), "");
  EXPECT_NE(secret_in("X", "q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eug"), "");
  EXPECT_EQ(secret_in("TOKENIZERS_PARALLELISM", "something"), "");
  EXPECT_EQ(secret_in("TOKEN", "$TOKEN"), "");
  EXPECT_EQ(secret_in("SECRET_FILE", "/run/secrets/a"), "");
  EXPECT_EQ(secret_in("CHECKSUM", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "");
  EXPECT_EQ(secret_in("PATH", "/opt/kiln/pytorch/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin"),
            "");
}

TEST(CudaLimits, AreTheDocumentedOnes) {
  EXPECT_EQ(smallest_driver("10.1"), "418.39");
  EXPECT_EQ(smallest_driver("11.8"), "450.80.02");
  EXPECT_EQ(smallest_driver("12.4.1"), "525.60.13");
  EXPECT_EQ(smallest_driver("none"), std::nullopt);
  EXPECT_EQ(smallest_driver("7.5"), std::nullopt);
  EXPECT_FALSE(capability_gap("10.1", "sm_80").reason.empty());
  EXPECT_FALSE(capability_gap("10.1", "sm_80").dropped);
  EXPECT_TRUE(capability_gap("13.0", "sm_61").dropped);
  EXPECT_TRUE(capability_gap("12.8", "sm_100").reason.empty());
  EXPECT_FALSE(capability_gap("11.8", "sm_90a").reason.empty());
  EXPECT_TRUE(capability_gap("11.8", "sm_999").reason.empty());
  EXPECT_EQ(newest_host_compiler("10.1", "gcc"), "8");
  EXPECT_EQ(newest_host_compiler("12.6", "gcc"), "13");
  EXPECT_EQ(newest_host_compiler("12.6", "clang"), "18");
  EXPECT_EQ(newest_host_compiler("14.0", "gcc"), std::nullopt);
  EXPECT_EQ(last_cuda_for("ppc64le"), "12.4");
  EXPECT_EQ(last_cuda_for("x86_64"), std::nullopt);
}

}  // namespace
}  // namespace kiln::lint
