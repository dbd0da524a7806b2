// What a module takes from the record of an image, and what it refuses.
#include "registry/modules/module_image.h"

#include "modules/module_samples.h"
#include "support/input_errors.h"

namespace kiln {
namespace {

using namespace testing;

ImageRecord built_record() {
  ImageRecord image;
  image.manifest = Digest::of("manifest");
  image.repository = "pytorch";
  image.tag = "2.6.0-distro-zen3-trixie";
  image.immutable_tag = image.tag + "-0123456789ab";
  image.application = "pytorch";
  image.version = Version("2.6.0");
  image.layout = "images/pytorch/x";
  image.labels = {{"org.opencontainers.image.title", "pytorch 2.6.0 (distro)"},
                  {"org.opencontainers.image.description", "Tensors\nand networks"}};
  image.accelerators = {"nvidia:sm_90"};
  image.published.registry = "r.site:5000/ai";
  return image;
}

ImageRecord mapping_record(const std::string& reference) {
  ImageRecord image;
  image.reference = reference;
  image.application = "tensorflow";
  image.version = Version("2.1");
  return image;
}

TEST(ModuleImageTest, ABuiltImageIsNamedByRepositoryAndTag) {
  const ModuleImage module = module_image(built_record(), {"/srv/kiln", {}});
  EXPECT_EQ(module.name, "pytorch");
  EXPECT_EQ(module.version, "2.6.0-distro-zen3-trixie");
  EXPECT_EQ(module.title, "pytorch 2.6.0 (distro)");
  EXPECT_EQ(module.description, "Tensors\\nand networks");
  EXPECT_EQ(module.pinned, "r.site:5000/ai/pytorch:2.6.0-distro-zen3-trixie-0123456789ab");
  EXPECT_EQ(module.digest, Digest::of("manifest").text());
  EXPECT_EQ(module.image.gpu_vendor, "nvidia");
  EXPECT_EQ(module.python_module, "torch");
  EXPECT_EQ(module.programs, (std::vector<ModuleProgram>{{"python3", "python3"}, {"python", "python3"}}));
}

TEST(ModuleImageTest, AnImageWithoutPythonHasNoProgramUnasked) {
  ImageRecord image = built_record();
  image.application = "openmpi";
  EXPECT_TRUE(module_image(image, {"/srv/kiln", {}}).programs.empty());
  image.facts["python"] = "3.13";
  EXPECT_EQ(module_image(image, {"/srv/kiln", {}}).programs.size(), 2u);
}

TEST(ModuleImageTest, AMappingIsNamedByItsReference) {
  const ModuleImage module =
      module_image(mapping_record("docker://modakopt/modak:tensorflow-2.1-gpu-src"), {"/srv/kiln", {}});
  EXPECT_EQ(module.name, "modak");
  EXPECT_EQ(module.version, "tensorflow-2.1-gpu-src");
  EXPECT_EQ(module.pinned, "modakopt/modak:tensorflow-2.1-gpu-src");
  EXPECT_EQ(module.digest, "");
  EXPECT_EQ(module.python_module, "tensorflow");
}

TEST(ModuleImageTest, WhatCannotBeANameIsRefused) {
  const auto refused = [](auto&& act) {
    try {
      act();
      return std::string();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.message();
    }
  };
  for (const char* name :
       {"pytorch", "/2.6", "pytorch/", "a/b/c", "../x", "a/.hidden", "a b/1", "a/$(id)", "a/1\n"})
    EXPECT_NE(refused([&] {
                ModuleImage module;
                call_module(module, name);
              }),
              "")
        << name;
  for (const char* program : {"", "a/b", "./x", "/", "/opt/../x", "/opt//x", "a b", "x;id", "-x", "/opt/$x"})
    EXPECT_NE(refused([&] { read_module_program(program); }), "") << program;
  EXPECT_NE(refused([] { module_of_reference({"/a/x.sif", "", "/a/x.sif", "", ""}, ""); }), "");
  EXPECT_NE(refused([] { module_of_reference({"x", "", "/a/x\n.sif", "", ""}, "x/1"); }), "");
  EXPECT_NE(refused([] { module_of_reference({"x", "docker://h/x@sha256:1", "", "", ""}, ""); }), "");
}

TEST(ModuleImageTest, ProgramsAreNamesOrAbsolutePaths) {
  EXPECT_EQ(read_module_program("torchrun"), (ModuleProgram{"torchrun", "torchrun"}));
  EXPECT_EQ(read_module_program("/opt/kiln/bin/hello"), (ModuleProgram{"hello", "/opt/kiln/bin/hello"}));
}

}  // namespace
}  // namespace kiln
