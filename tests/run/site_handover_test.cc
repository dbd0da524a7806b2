#include <gtest/gtest.h>

#include "factory/run/step.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

using Variables = std::map<std::string, std::string>;

std::map<std::string, std::string> mounts_of(const SiteHandover& handover) {
  std::map<std::string, std::string> mounts;
  for (const Mount& mount : handover.mounts) mounts[mount.target] = mount.source;
  return mounts;
}

TEST(SiteHandover, PassesWhatTheSiteNamesAndNothingElse) {
  testing::FakeFileSystem files;
  SiteHandover handover = site_handover(Site{}, files,
                                        {{"https_proxy", "http://u:p@proxy:3128"},
                                         {"PIP_INDEX_URL", "https://x/simple"},
                                         {"SECRET", "s"},
                                         {"PATH", "/bin"}});
  EXPECT_EQ(handover.environment,
            (Variables{{"https_proxy", "http://u:p@proxy:3128"}, {"PIP_INDEX_URL", "https://x/simple"}}));
  EXPECT_TRUE(handover.mounts.empty());
  Site site;
  site.pass_environment = {"SEC*"};
  EXPECT_EQ(site_handover(site, files, {{"SECRET", "s"}, {"http_proxy", "p"}}).environment,
            (Variables{{"SECRET", "s"}}));
}

TEST(SiteHandover, NeverPassesWhatKeysCover) {
  testing::FakeFileSystem files;
  Site site;
  site.pass_environment = {"*"};
  EXPECT_EQ(
      site_handover(site, files,
                    {{"CFLAGS", "-march=native"}, {"CUDAARCHS", "native"}, {"KILN_VERSION", "1"}, {"A", "b"}})
          .environment,
      (Variables{{"A", "b"}}));
}

TEST(SiteHandover, CertificatesAreMountedAndEveryToolIsTold) {
  testing::FakeFileSystem files(Variables{{"/etc/ssl/certs/ca-certificates.crt", "PEM"}});
  SiteHandover handover = site_handover(Site{}, files, {{"PIP_CERT", "/host/only.pem"}});
  EXPECT_EQ(mounts_of(handover),
            (Variables{{"/run/kiln/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt"}}));
  for (const char* name :
       {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"})
    EXPECT_EQ(handover.environment.at(name), "/run/kiln/ca-certificates.crt");
}

TEST(SiteHandover, WithoutCertificatesNoToolIsSentToAFileThatIsNotThere) {
  testing::FakeFileSystem files;
  EXPECT_EQ(site_handover(Site{}, files, {{"PIP_CERT", "/host/only.pem"}}).environment, Variables{});
}

TEST(SiteHandover, HostPathsBecomeMountsOrGo) {
  testing::FakeFileSystem files(Variables{{"/opt/wheels/six.whl", ""}, {"/srv/more/x.whl", ""}});
  SiteHandover handover =
      site_handover(Site{}, files,
                    {{"PIP_FIND_LINKS", "/opt/wheels https://x/links file:///srv/more /gone"},
                     {"PIP_CONSTRAINT", "/gone.txt"}});
  EXPECT_EQ(handover.environment,
            (Variables{{"PIP_FIND_LINKS",
                        "/run/kiln/site/PIP_FIND_LINKS-0 https://x/links /run/kiln/site/PIP_FIND_LINKS-1"}}));
  EXPECT_EQ(mounts_of(handover), (Variables{{"/run/kiln/site/PIP_FIND_LINKS-0", "/opt/wheels"},
                                            {"/run/kiln/site/PIP_FIND_LINKS-1", "/srv/more"}}));
}

TEST(SiteHandover, WherePipPutsThingsOnTheHostStaysThere) {
  testing::FakeFileSystem files(Variables{{"/home/me/cache/x", ""}});
  EXPECT_EQ(site_handover(Site{}, files,
                          {{"PIP_CACHE_DIR", "/home/me/cache"}, {"PIP_TARGET", "lib"}, {"PIP_USER", "1"}})
                .environment,
            Variables{});
}

TEST(SiteHandover, PipReadsTheFirstConfigurationThereIs) {
  Site site;
  testing::FakeFileSystem files(
      {{"/etc/pip.conf", ""}, {"/home/me/.config/pip/pip.conf", ""}, {"/own.conf", ""}});
  Variables ours = {{"HOME", "/home/me"}};
  auto source = [&] { return mounts_of(site_handover(site, files, ours)).at("/run/kiln/pip.conf"); };
  EXPECT_EQ(site_handover(site, files, ours).environment.at("PIP_CONFIG_FILE"), "/run/kiln/pip.conf");
  EXPECT_EQ(source(), "/etc/pip.conf");
  files.files.erase("/etc/pip.conf");
  EXPECT_EQ(source(), "/home/me/.config/pip/pip.conf");
  ours["PIP_CONFIG_FILE"] = "/own.conf";
  EXPECT_EQ(source(), "/own.conf");
  files.files["/site.conf"] = "";
  site.pip_configuration = "/site.conf";
  EXPECT_EQ(source(), "/site.conf");
}

TEST(SiteHandover, GitReadsTheMachinesConfigurationOrTheSites) {
  Site site;
  testing::FakeFileSystem files(Variables{{"/etc/gitconfig", ""}, {"/home/me/.gitconfig", ""}});
  SiteHandover handover = site_handover(site, files, {{"HOME", "/home/me"}});
  EXPECT_EQ(handover.environment, (Variables{{"GIT_CONFIG_SYSTEM", "/run/kiln/gitconfig"}}));
  EXPECT_EQ(mounts_of(handover), (Variables{{"/run/kiln/gitconfig", "/etc/gitconfig"}}));
  site.git_configuration = "/home/me/.gitconfig";
  EXPECT_EQ(mounts_of(site_handover(site, files, {})).at("/run/kiln/gitconfig"), "/home/me/.gitconfig");
  files.files.erase("/etc/gitconfig");
  site.git_configuration = "";
  EXPECT_EQ(site_handover(site, files, {}).environment, Variables{});
}

TEST(SiteHandover, AConfigurationThatTheSiteNamesMustExist) {
  Site site;
  site.file = "site.json";
  site.pip_configuration = "/gone/pip.conf";
  try {
    site_handover(site, testing::FakeFileSystem{}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "/gone/pip.conf does not exist");
    EXPECT_EQ(error.where().file, "site.json");
    EXPECT_EQ(error.where().pointer, "/pip_configuration");
  }
}

}  // namespace
}  // namespace kiln
