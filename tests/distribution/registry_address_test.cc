#include "factory/distribution/registry_address.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

TEST(RegistryAddress, HasAHostAPortAndAPath) {
  const RegistryAddress address = RegistryAddress::parse("registry.site:5000/ai/images/");
  EXPECT_TRUE(address.secure);
  EXPECT_EQ(address.host, "registry.site:5000");
  EXPECT_EQ(address.path, "ai/images");
  EXPECT_EQ(address.text(), "registry.site:5000/ai/images");
  EXPECT_EQ(address.url(), "https://registry.site:5000");
  EXPECT_EQ(address.repository("pytorch"), "ai/images/pytorch");
}

TEST(RegistryAddress, TakesWhatIsBetweenThePartsOfAName) {
  for (const char* path : {"a.b", "a_b", "a__b", "a-b", "a---b", "0/1", "a/b-c.d"})
    EXPECT_EQ(RegistryAddress::parse(std::string("host/") + path).path, path);
}

TEST(RegistryAddress, MayBeAHostAlone) {
  const RegistryAddress address = RegistryAddress::parse("registry.site");
  EXPECT_EQ(address.text(), "registry.site");
  EXPECT_EQ(address.repository("pytorch"), "pytorch");
}

TEST(RegistryAddress, IsWithoutTlsOnlyWhereItSaysSo) {
  EXPECT_FALSE(RegistryAddress::parse("http://127.0.0.1:5000").secure);
  EXPECT_EQ(RegistryAddress::parse("http://127.0.0.1:5000").url(), "http://127.0.0.1:5000");
  EXPECT_TRUE(RegistryAddress::parse("https://registry.site").secure);
  EXPECT_TRUE(RegistryAddress::parse("docker://registry.site/ai").secure);
}

TEST(RegistryAddress, RefusesWhatNoRegistryTakes) {
  for (const char* text :
       {"", "/", "https://", "host:port", "host:", "host:123456", "a b", "host/Upper", "host/a//b", "host/..",
        "host/-a", "host/a.-b", "host/a___b", "user:secret@host", "oci:folder", "host/a?b", "host/a:tag"})
    EXPECT_THROW(RegistryAddress::parse(text), Error) << text;
}

}  // namespace
}  // namespace kiln
