// What people and tools read off an image.
#include "factory/resolve/labels.h"

#include <fmt/format.h>

#include "factory/base/digest.h"
#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::RecipeDraft;
using testing::Resolver;

ComponentUse used(Kind kind, const std::string& name, const std::string& version) {
  return {kind, name, Version(version), "distro", false, false, name + "@" + version};
}

ComponentUse added(Kind kind, const std::string& name, const std::string& version) {
  return {kind, name, Version(version), "distro", false, true, ""};
}

Labels labels_of(const std::vector<ComponentUse>& components,
                 std::vector<RecipeDraft> recipes = demo_recipes()) {
  return component_labels(components, false, "", testing::book(std::move(recipes)));
}

// A label, "-" for none.
std::string label(const Labels& labels, const std::string& name) {
  auto found = labels.find(name);
  return found == labels.end() ? "-" : found->second;
}

TEST(Labels, TheTitleNamesWhatWasChosenInItsOrder) {
  std::vector<ComponentUse> components = {
      used(Kind::base, "debian", "trixie"), added(Kind::toolchain, "python", "3.13"),
      used(Kind::library, "openblas", "0.3.29"), used(Kind::framework, "pytorch", "2.6.0"),
      used(Kind::compiler, "inductor", "2.6.0")};
  EXPECT_EQ(label(labels_of(components), "org.opencontainers.image.title"),
            "pytorch 2.6.0 (distro) with openblas, inductor");
  EXPECT_EQ(label(labels_of({components[0], components[3]}), "org.opencontainers.image.title"),
            "pytorch 2.6.0 (distro)");
}

TEST(Labels, ComponentsAreListedByKind) {
  Labels labels = labels_of({used(Kind::base, "debian", "trixie"), used(Kind::framework, "pytorch", "2.6.0"),
                             used(Kind::compiler, "inductor", "2.6.0"), used(Kind::library, "mkl", "2025.0"),
                             used(Kind::library, "openblas", "0.3.29")});
  EXPECT_EQ(label(labels, "io.kiln.framework"), "pytorch");
  EXPECT_EQ(label(labels, "io.kiln.framework.version"), "2.6.0");
  EXPECT_EQ(label(labels, "io.kiln.method"), "distro");
  EXPECT_EQ(label(labels, "io.kiln.compilers"), "inductor@2.6.0");
  EXPECT_EQ(label(labels, "io.kiln.libraries"), "mkl@2025.0 openblas@0.3.29");
  EXPECT_EQ(label(labels, "io.kiln.components"),
            "base/debian@trixie:distro framework/pytorch@2.6.0:distro compiler/inductor@2.6.0:distro "
            "library/mkl@2025.0:distro library/openblas@0.3.29:distro");
}

TEST(Labels, FactsThatSayWhatIsInside) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  recipes.push_back(RecipeDraft(Kind::base, "cuda", {"12.9"})
                        .fact("12.9", "cuda", "12.9")
                        .fact("12.9", "driver", "525.60.13")
                        .fact("12.9", "python", "3.12")
                        .fact("12.9", "flavour", "base"));
  const std::vector<ComponentUse> components = {used(Kind::base, "cuda", "12.9"),
                                                used(Kind::framework, "pytorch", "2.6.0")};
  Labels labels = labels_of(components, recipes);
  EXPECT_EQ(label(labels, "io.kiln.facts.cuda"), "12.9");
  EXPECT_EQ(label(labels, "io.kiln.facts.driver"), "525.60.13");
  EXPECT_EQ(label(labels, "io.kiln.facts.python"), "3.13") << "the framework's, not the distribution's";
  EXPECT_EQ(label(labels, "io.kiln.facts.flavour"), "-");
  EXPECT_EQ(label(labels_of({components[0]}, recipes), "io.kiln.facts.python"), "-")
      << "that a distribution has one does not mean that it is inside";
  recipes.back().fact("12.9", "framework", "2.20");
  EXPECT_EQ(label(labels_of({components[0]}, recipes), "io.kiln.facts.python"), "3.12") << "here it is";
}

TEST(Labels, WhatIsNotThereHasNoLabel) {
  Labels labels =
      labels_of({used(Kind::base, "debian", "trixie"), used(Kind::library, "openblas", "0.3.29")});
  EXPECT_EQ(label(labels, "io.kiln.framework"), "-") << "a library alone is no framework";
  EXPECT_EQ(label(labels, "io.kiln.framework.version"), "-");
  EXPECT_EQ(label(labels, "io.kiln.compilers"), "-");
  EXPECT_EQ(label(labels, "io.kiln.optimise"), "-");
  EXPECT_EQ(label(labels, "org.opencontainers.image.url"), "-");
  EXPECT_EQ(label(labels, "org.opencontainers.image.version"), "0.3.29");
  EXPECT_EQ(label(labels, "io.kiln.claims_gain"), "false");
}

TEST(Labels, LicencesAreOneExpressionThatCoversAll) {
  std::vector<RecipeDraft> recipes = {
      RecipeDraft(Kind::base, "debian", {"trixie"}), RecipeDraft(Kind::library, "a", {"1"}),
      RecipeDraft(Kind::library, "b", {"1"}), RecipeDraft(Kind::framework, "f", {"1"})};
  recipes[0].get().licenses = "";
  recipes[1].get().licenses = "Apache-2.0 OR MIT";
  recipes[2].get().licenses = "BSD-3-Clause";
  recipes[3].get().licenses = "BSD-3-Clause";
  std::vector<ComponentUse> components = {used(Kind::base, "debian", "trixie"), used(Kind::library, "a", "1"),
                                          used(Kind::library, "b", "1"), used(Kind::framework, "f", "1"),
                                          used(Kind::library, "unknown", "1")};
  EXPECT_EQ(label(labels_of(components, recipes), "org.opencontainers.image.licenses"),
            "(Apache-2.0 OR MIT) AND BSD-3-Clause");
}

TEST(Labels, TheMainComponentsOriginIsThere) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& recipe : recipes) {
    recipe.get().description = "of " + recipe.get().name;
    recipe.get().homepage = "https://" + recipe.get().name + ".example";
    for (ComponentVersion& version : recipe.get().versions)
      version.source_url = "https://" + recipe.get().name + ".example/" + version.version.text();
  }
  std::vector<ComponentUse> components = {used(Kind::base, "debian", "trixie"),
                                          used(Kind::library, "openblas", "0.3.28"),
                                          used(Kind::framework, "pytorch", "2.6.0")};
  Labels labels = labels_of(components, recipes);
  EXPECT_EQ(label(labels, "org.opencontainers.image.description"), "of pytorch");
  EXPECT_EQ(label(labels, "org.opencontainers.image.url"), "https://pytorch.example");
  EXPECT_EQ(label(labels, "org.opencontainers.image.source"), "https://pytorch.example/2.6.0");
  components[2].version = Version("9.9");
  EXPECT_EQ(label(labels_of(components, recipes), "org.opencontainers.image.source"), "-");
}

TEST(Labels, AnImageSaysForWhatItIsAndWithWhichFlags) {
  Resolver resolver;
  ImageSpec spec = resolver.spec(cell({{"library", "openblas:source"}, {"target", "zen3"}}));
  EXPECT_EQ(label(spec.labels, "io.kiln.cpu.target"), "zen3");
  EXPECT_EQ(label(spec.labels, "io.kiln.gpu.targets"), "-");
  EXPECT_EQ(label(spec.labels, "io.kiln.key"), spec.key);
  EXPECT_EQ(label(spec.labels, "io.kiln.cell"), spec.request.id);
  EXPECT_EQ(label(spec.labels, "io.kiln.flags"), "CFLAGS=-O2 -march=znver3 -mtune=znver3");
}

TEST(Labels, AFlagThatSeveralScriptsReadIsSaidOnceAndOneWithoutACompilerNot) {
  const FlagOrigin one{"CFLAGS", "-O2", "gcc 14.2", "zen3", "", ""};
  const FlagOrigin other{"CFLAGS", "-O3", "gcc 14.2", "zen3", "", ""};
  const FlagOrigin none{"KILN_HIP_FLAGS", "", "", "", "", "no GPU"};
  Labels labels;
  add_cell_labels(labels, Target{"gpu", "zen3", {"nvidia:sm_90"}, ""}, "k", "c", "",
                  {&one, &one, &none, &other});
  EXPECT_EQ(label(labels, "io.kiln.flags"), "CFLAGS=-O2; CFLAGS=-O3");
  EXPECT_EQ(label(labels, "io.kiln.gpu.targets"), "sm_90");
  EXPECT_EQ(label(labels, "io.kiln.key"), "k");
  EXPECT_EQ(label(labels, "io.kiln.cell"), "c");
}

// An image of the same bits under another name or with other labels is another record.
TEST(Labels, TheRecordsNameIsTheKeyAndTwelveDigitsOverLabelsAndName) {
  ImageSpec spec = Resolver().spec(cell());
  const std::string name = record_name(spec);
  ASSERT_EQ(name.size(), spec.key.size() + 13);
  EXPECT_TRUE(name.starts_with(spec.key + "-"));
  auto other = [&](auto change) {
    ImageSpec changed = spec;
    change(changed);
    return record_name(changed);
  };
  EXPECT_EQ(other([](ImageSpec&) {}), name);
  EXPECT_NE(other([](ImageSpec& image) { image.tag += "x"; }), name);
  EXPECT_NE(other([](ImageSpec& image) { image.repository += "x"; }), name);
  EXPECT_NE(other([](ImageSpec& image) { image.labels["x"] = "y"; }), name);
  EXPECT_EQ(naming_text(R"({"a":"b"})", "r", "t"), R"({"labels":{"a":"b"},"repository":"r","tag":"t"})");
}

ComponentUse use(Kind kind, const std::string& name, const std::string& version,
                 const std::string& written = "") {
  bool automatic = written == "automatic";
  return {kind, name, Version(version), "distro", false, automatic, automatic ? "" : written};
}

std::string tag_of(const std::vector<ComponentUse>& components, const Target& target) {
  return make_tag(tag_parts(components, ""), tag_of_target(target));
}

Target target_of(const std::string& cpu, std::vector<std::string> accelerators = {}) {
  return {cpu, cpu, std::move(accelerators), ""};
}

TEST(TagTest, NamesWhatTheCellChoseAndNotWhatWasAdded) {
  std::vector<ComponentUse> components = {
      use(Kind::base, "debian", "trixie"),      use(Kind::toolchain, "python", "3.13", "automatic"),
      use(Kind::framework, "pytorch", "2.6.0"), use(Kind::distributed, "openmpi", "5.0"),
      use(Kind::compiler, "inductor", "2.6.0"), use(Kind::library, "openblas", "0.3.29"),
      use(Kind::library, "mkl", "2025.0"),      use(Kind::runtime, "tcmalloc", "2.16")};
  EXPECT_EQ(tag_of(components, target_of("x86_64_v3", {"nvidia:sm_80", "nvidia:sm_90"})),
            "2.6.0-distro-mkl-openblas-inductor-openmpi-tcmalloc-x86_64_v3-sm_80-sm_90-trixie");
}

TEST(TagTest, WrittenVersionsAndMethodsAreInTheTag) {
  std::vector<ComponentUse> components = {use(Kind::base, "ubuntu", "18.04", "ubuntu@18.04"),
                                          use(Kind::framework, "pytorch", "2.6.0", "pytorch@2.6.0:distro"),
                                          use(Kind::library, "openblas", "0.3.29", "openblas@0.3.29:distro"),
                                          use(Kind::library, "mkl", "2025.0", "mkl:distro")};
  EXPECT_EQ(tag_of(components, target_of("zen3")),
            "2.6.0-distro-mkl.distro-openblas0.3.29.distro-zen3-ubuntu18.04");
}

TEST(TagTest, ImagesWithoutAFrameworkAreNamedAfterTheirFirstComponent) {
  std::vector<ComponentUse> components = {use(Kind::base, "debian", "trixie"),
                                          use(Kind::toolchain, "gcc", "14", "automatic"),
                                          use(Kind::library, "OpenBLAS++", "0.3.29")};
  EXPECT_EQ(main_component(components).name, "OpenBLAS++");
  EXPECT_EQ(repository_of(main_component(components)), "openblaspp");
  EXPECT_EQ(tag_of(components, target_of("zen3")), "0.3.29-distro-zen3-trixie");
  EXPECT_EQ(main_component({components[0]}).name, "debian");
}

TEST(TagTest, OddCharactersAreReplaced) {
  std::vector<ComponentUse> components = {use(Kind::framework, "pytorch", "1.5.1+cpu")};
  EXPECT_EQ(tag_of(components, target_of("zen3")), "1.5.1_cpu-distro-zen3");
}

TEST(TagTest, LongTagsEndInAHashAndStayDistinct) {
  std::vector<ComponentUse> components = {use(Kind::base, "debian", "trixie"),
                                          use(Kind::framework, "pytorch", "2.6.0")};
  for (int number = 0; number < 20; ++number)
    components.push_back(use(Kind::library, fmt::format("library{}", number), "1"));
  std::string tag = tag_of(components, target_of("zen3"));
  EXPECT_EQ(tag.size(), 128u);
  EXPECT_EQ(tag.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"),
            std::string::npos);
  EXPECT_EQ(tag_of(components, target_of("zen3")), tag);
  EXPECT_NE(tag_of(components, target_of("zen4")), tag);
  std::string immutable = make_immutable_tag(tag, std::string(64, 'a'));
  EXPECT_EQ(immutable.size(), 128u);
  EXPECT_TRUE(immutable.ends_with("-aaaaaaaaaaaa"));
  EXPECT_EQ(make_immutable_tag("2.6.0-zen3", std::string(64, 'b')), "2.6.0-zen3-bbbbbbbbbbbb");
  EXPECT_NE(make_immutable_tag(tag, std::string(64, 'a')),
            make_immutable_tag(tag_of(components, target_of("zen4")), std::string(64, 'a')));
}

}  // namespace
}  // namespace kiln
