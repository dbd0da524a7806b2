// apt-get and other package managers. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

const std::string kNoLists = kShell + "rm -rf /var/lib/apt/lists/*\n";

TEST(Apt, NeedsListsFirst) {
  expect_findings(
      "a.sh", kNoLists,
      {
          {"apt-get install -y --no-install-recommends gcc\n",
           "3:1-8 KL071 there are no package lists here, or old ones"},
          {"apt-get update\napt-get install -y --no-install-recommends gcc\n", ""},
          {"apt-get install -y --no-install-recommends gcc\napt-get update\n",
           "3:1-8 KL071 there are no package lists here, or old ones"},
          {"apt-get install -y --no-install-recommends ./a.deb\n", ""},
          {"apt-get install -y --no-install-recommends ./a.deb gcc\n",
           "3:1-8 KL071 there are no package lists here, or old ones"},
          {"apt-get remove -y gcc\n", ""},
          {"aptitude install -y --no-install-recommends gcc\n",
           "3:1-9 KL071 there are no package lists here, or old ones"},
          {"apt-get -o Dpkg::Use-Pty=0 -t stable update\napt-get install -y --no-install-recommends gcc\n",
           ""},
      });
}

TEST(Apt, IsAnsweredBeforehand) {
  expect_findings(
      "a.sh", kNoLists,
      {
          {"apt-get update\napt-get install --no-install-recommends gcc\n",
           "4:9-16 KL072 apt-get asks for confirmation, which a build cannot give"},
          {"apt-get update\napt-get install --yes --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get install --assume-yes --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get install --force-yes --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get -qy install --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get -qq install --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get -q=2 install --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get -q install --no-install-recommends gcc\n",
           "4:12-19 KL072 apt-get asks for confirmation, which a build cannot give"},
          {"apt-get update\napt-get -o APT::Get::Assume-Yes=true install --no-install-recommends gcc\n", ""},
          {"apt-get update\napt-get install --no-install-recommends --ye python\n",
           "4:9-16 KL072 apt-get asks for confirmation, which a build cannot give"},
          {"apt-get update\nyes | apt-get install --no-install-recommends gcc\n", ""},
          {"apt-get update\nyes | cat && apt-get install --no-install-recommends gcc\n",
           "4:22-29 KL072 apt-get asks for confirmation, which a build cannot give"},
      });
}

TEST(Apt, TakesNoRecommendations) {
  expect_findings(
      "a.sh", kNoLists,
      {
          {"apt-get update\napt-get install -y gcc\n", "4:9-16 KL073 recommended packages come along"},
          {"apt-get update\napt-get -o APT::Install-Recommends=false install -y gcc\n", ""},
          {"apt-get update\napt-get upgrade -y\n", ""},
      });
}

TEST(Apt, IsCalledByItsScriptingName) {
  expect_findings("a.sh", kNoLists,
                  {
                      {"apt update\n", "3:1-4 KL074 apt is for people"},
                      {"apt full-upgrade\n", "3:1-4 KL074 apt is for people"},
                      {"apt list\n", ""},
                      {"/usr/bin/apt autoremove\n", "3:1-13 KL074 apt is for people"},
                      {"apt-get update\n", ""},
                  });
}

TEST(Apt, ListsAreRemoved) {
  expect_findings("a.sh", kShell,
                  {
                      {"apt-get update\n", "2:1-15 KL050 apt's lists stay in the layer"},
                      {"apt-get update\necho\n", "2:1-15 KL050 apt's lists stay in the layer"},
                      {"apt-get update\nexec x\n", "2:1-15 KL050 apt's lists stay in the layer"},
                      {"apt-get install -y --no-install-recommends ./a.deb\n", ""},
                      {"apt-get clean\n", ""},
                      {"apt-get update # type=cache\n", ""},
                  });
}

TEST(OtherManagers, AreCleaned) {
  expect_findings("a.sh", kShell,
                  {
                      {"dnf install -y gcc\n", "2:1-19 KL050 dnf's cache stays in the layer"},
                      {"yum install -y gcc && yum clean all\n", ""},
                      {"microdnf install gcc\nrm -rf /var/cache/dnf\n", ""},
                      {"zypper install gcc\n", "2:1-19 KL050 zypper's cache stays in the layer"},
                      {"dnf update\n", ""},
                      {"apk add gcc\n", "2:1-12 KL050 apk's cache stays in the layer"},
                      {"apk add --no-cache gcc\n", ""},
                      {"apk add gcc\nrm -rf /var/cache/apk/*\n", ""},
                      {"apk update\n", ""},
                      {"dnf install gcc # type=cache\n", ""},
                  });
}

TEST(AptQuestions, AreAnsweredByItsConfiguration) {
  const std::string update =
      "RUN apt-get update && apt-get install --no-install-recommends gcc && rm -rf /var/lib/apt/lists\n";
  const std::string write = "RUN echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90yes\n";
  const std::string asks = "KL072 apt-get asks for confirmation, which a build cannot give";
  testing::expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\n" + write + update, ""},
          {"FROM scratch AS a\n" + write + "FROM a\n" + update, ""},
          {"FROM scratch AS a\n" + write + "FROM scratch\n" + update, "4:31-38 " + asks},
          {"FROM scratch\n" + update, "2:31-38 " + asks},
          {"FROM scratch\nRUN apt-get update && apt-get -o APT::Get::assume-yes=true install "
           "--no-install-recommends gcc && rm -rf /var/lib/apt/lists\n",
           ""},
      });
}

}  // namespace
}  // namespace kiln::lint
