#include "factory/oci/reference.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

const Digest kDigest = Digest::from_hex(std::string(64, 'a'));
const std::string kAt = "@sha256:" + std::string(64, 'a');

TEST(ImageReference, KnowsRegistriesFromTheDisk) {
  for (const char* reference : {"debian", "docker.io/library/debian:13", "docker://debian", "ocihub/x:1"})
    EXPECT_TRUE(is_in_registry(reference)) << reference;
  for (const char* reference : {"oci:/srv/x:1", "oci-archive:x.tar", "docker-archive:x.tar", "dir:x"})
    EXPECT_FALSE(is_in_registry(reference)) << reference;
}

TEST(ImageReference, TakesTheTagOffAndLeavesThePort) {
  EXPECT_EQ(repository_name("docker.io/library/debian:13"), "docker.io/library/debian");
  EXPECT_EQ(repository_name("docker://localhost:5000/debian"), "localhost:5000/debian");
  EXPECT_EQ(repository_name("localhost:5000/debian:13" + kAt), "localhost:5000/debian");
  EXPECT_EQ(repository_name("debian:13"), "debian");
  EXPECT_EQ(repository_name("debian" + kAt), "debian");
}

TEST(ImageReference, ATagIsNoPortAndNoDigest) {
  EXPECT_EQ(tag_of("docker.io/library/debian:13"), "13");
  EXPECT_EQ(tag_of("docker://localhost:5000/debian:13" + kAt), "13");
  EXPECT_EQ(tag_of("localhost:5000/debian"), "");
  EXPECT_EQ(tag_of("debian" + kAt), "");
  EXPECT_EQ(tag_of("oci:/srv/x:1"), "");
}

TEST(ImageReference, PinsWithoutATag) {
  EXPECT_EQ(pinned_reference("localhost:5000/debian:13", kDigest), "localhost:5000/debian" + kAt);
  EXPECT_EQ(pinned_reference("docker://x/debian@sha256:" + std::string(64, 'b'), kDigest), "x/debian" + kAt);
}

TEST(ImageReference, ADigestDecidesOverATag) {
  EXPECT_EQ(without_tag_beside_digest("localhost:5000/debian:13" + kAt), "localhost:5000/debian" + kAt);
  EXPECT_EQ(without_tag_beside_digest("docker://x/debian:13" + kAt), "docker://x/debian" + kAt);
  EXPECT_EQ(without_tag_beside_digest("x/debian:13"), "x/debian:13");
  EXPECT_EQ(without_tag_beside_digest("oci:/srv/a@b:13"), "oci:/srv/a@b:13");
}

}  // namespace
}  // namespace kiln
