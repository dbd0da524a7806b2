#include "factory/resolve/tag.h"

#include <fmt/format.h>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

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
