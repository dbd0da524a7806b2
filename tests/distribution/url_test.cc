#include "factory/distribution/url.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

TEST(Url, ResolvesWhatRegistriesWrite) {
  const std::string base = "https://h:5000/v2/a/blobs/uploads/?x=1";
  for (const auto& [reference, wanted] : std::initializer_list<std::pair<const char*, const char*>>{
           {"https://other/up?s=a%2Bb==", "https://other/up?s=a%2Bb=="},
           {"HTTP://other/up", "HTTP://other/up"},
           {"//other:81/up", "https://other:81/up"},
           {"/v2/a/blobs/uploads/1", "https://h:5000/v2/a/blobs/uploads/1"},
           {"1", "https://h:5000/v2/a/blobs/uploads/1"},
           {"1?_state=x#part", "https://h:5000/v2/a/blobs/uploads/1?_state=x"},
           {"?n=2", "https://h:5000/v2/a/blobs/uploads/?n=2"},
           {"", "https://h:5000/v2/a/blobs/uploads/?x=1"},
           {"a?next=http://b/", "https://h:5000/v2/a/blobs/uploads/a?next=http://b/"},
       })
    EXPECT_EQ(resolved_url(base, reference), wanted) << reference;
  EXPECT_EQ(resolved_url("https://h", "x"), "https://h/x");
}

TEST(Url, KnowsOneRegistryByAllItsAddresses) {
  for (const char* same :
       {"https://h/", "https://h", "HTTPS://H/x", "https://h:443/x", "https://h:/x?y", "https://h?x"})
    EXPECT_TRUE(is_same_origin(same, "https://h")) << same;
  for (const char* other :
       {"http://h/", "https://h:444/", "https://h.evil/", "https://h@evil/", "https://me@h/", "h/x", "",
        "https://evil/https://h/", "https://h\\@evil/", "//h/x"})
    EXPECT_FALSE(is_same_origin(other, "https://h")) << other;
  EXPECT_TRUE(is_same_origin("http://[::1]:80/x", "http://[::1]"));
  EXPECT_EQ(host_of_url("https://me@[FE80::1]:5000/x"), "fe80::1");
  EXPECT_EQ(host_of_url("no address"), "");
  EXPECT_EQ(port_of_url("http://[::1]/x"), "80");
}

TEST(Url, KnowsTheAddressesOfThisMachineAndItsLink) {
  for (const char* local :
       {"127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "169.254.169.254", "localhost",
        "LOCALHOST.", "a.localhost", "::1", "::", "fe80::1%eth0", "febf::1", "::ffff:169.254.169.254"})
    EXPECT_TRUE(is_local_host(local)) << local;
  for (const char* elsewhere : {"10.0.0.1", "192.168.1.1", "169.253.1.1", "128.0.0.1", "registry.site",
                                "localhost.site", "fec0::1", "2001:db8::1", "::ffff:10.0.0.1", ""})
    EXPECT_FALSE(is_local_host(elsewhere)) << elsewhere;
}

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
