#include "factory/site/site.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

FakeFileSystem machine() {
  return FakeFileSystem(
      {{"/etc/ssl/certs/ca-certificates.crt", "…"}, {"/etc/pip.conf", "[global]\n"}, {"/etc/gitconfig", ""}});
}

Site read_text(const std::string& json) {
  FakeFileSystem files = machine();
  files.files["site.json"] = json;
  return read_site(files, "site.json");
}

TEST(Site, ReadsEveryKey) {
  Site site = read_text(kSite);
  EXPECT_EQ(site.engine, "buildah");
  EXPECT_EQ(site.scratch, "/local/scratch");
  EXPECT_EQ(site.launcher.prefix(), (Strings{"srun", "-n1"}));
  EXPECT_EQ(site.jobs, 2);
  EXPECT_EQ(site.layer_compression, LayerCompression::gzip);
  EXPECT_EQ(site.zstd_level, 9);
  EXPECT_FALSE(site.sif);
  EXPECT_EQ(site.step_limits.wall, std::chrono::hours(6));
  EXPECT_EQ(site.step_limits.silence, std::chrono::minutes(45));
  EXPECT_EQ(site.step_limits.log_bytes, 64u << 20);
  EXPECT_EQ(site.step_limits.memory, std::uint64_t{16} << 30);
  EXPECT_EQ(site.step_retries, 2);
  EXPECT_EQ(site.limits_of("framework/jax", {}).memory, std::uint64_t{64} << 30);
  EXPECT_EQ(site.limits_of("framework/jax", {}).wall, std::chrono::hours(12));
  EXPECT_EQ(site.limits_of("framework/jax", {}).silence, std::chrono::minutes(45)) << "as for all";
  EXPECT_EQ(site.limits_of("framework/jaxlib", {}).memory, std::uint64_t{16} << 30);
  EXPECT_EQ(site.pull_limits.wall, std::chrono::hours(2));
  EXPECT_EQ(site.pull_limits.stall, std::chrono::seconds(90));
  EXPECT_EQ(site.pull_limits.retries, 3);
  EXPECT_EQ(site.pass_environment, (Strings{"*_proxy", "PIP_*"}));
  EXPECT_EQ(site.ca_certificates, "/etc/ssl/certs/ca-certificates.crt");
  EXPECT_EQ(site.pip_configuration, "/etc/pip.conf");
  EXPECT_EQ(site.git_configuration, "/etc/gitconfig");
  EXPECT_EQ(site.mirror, "/srv/kiln-mirror");
  EXPECT_EQ(site.secrets.at("licence").file, "/etc/kiln/licence")
      << "and it need not be there for whoever plans";
  EXPECT_EQ(site.secrets.at("token").variable, "SITE_TOKEN");
  EXPECT_EQ(site.secrets.at("token").file, "");
  EXPECT_TRUE(site.cache.use);
  EXPECT_EQ(site.cache.folder, "/scratch/caches") << "and it need not be there for whoever plans";
  EXPECT_EQ(site.cache.size, std::uint64_t{50} << 30);
  EXPECT_EQ(site.publish.registry, "registry.site:5000/ai");
  EXPECT_EQ(site.publish.key, "/etc/kiln/site.pem") << "and it need not be there for whoever plans";
  EXPECT_EQ(site.publish.passphrase_file, "/etc/kiln/site.pass");
  EXPECT_EQ(site.update.bases, std::chrono::seconds(0));
  EXPECT_EQ(site.update.archives, std::chrono::hours(14 * 24));
  EXPECT_FALSE(site.update.archspec);
  EXPECT_EQ(site.update.proposals, 5);
  EXPECT_EQ(site.file, "site.json");
}

TEST(Site, KeepsDefaultsForWhatItDoesNotSay) {
  Site site = read_text("{}");
  EXPECT_EQ(site.engine, "buildah");
  EXPECT_EQ(site.jobs, 0);
  EXPECT_TRUE(site.sif);
  EXPECT_EQ(site.step_limits.memory, 0u) << "none";
  EXPECT_EQ(site.step_retries, 3);
  EXPECT_EQ(site.publish.registry, "") << "nowhere";
  EXPECT_TRUE(read_text(R"({"formats": ["sif", "oci"]})").sif);
  EXPECT_EQ(site.step_limits.wall, std::chrono::hours(6));
  EXPECT_EQ(site.pass_environment, Site().pass_environment);
  EXPECT_EQ(read_text(R"({"limits": {"wall": "1d"}})").step_limits.silence, std::chrono::minutes(45));
  EXPECT_EQ(read_text(R"({"pull": {"wall": "1h"}})").pull_limits.stall, PullLimits().stall);
  EXPECT_EQ(read_text(R"({"pass_environment": []})").pass_environment, Strings());
}

TEST(Site, ARecipeWidensLimitsAndTheSiteHasTheLastWord) {
  const Site site = read_text(
      R"({"limits": {"wall": "6h", "silence": "45m", "log": "0B", "memory": "16GiB", "components": {"framework/jax": {"wall": "2h"}}}})");
  const OwnLimits recipes{std::chrono::hours(12), std::chrono::minutes(5), 1, 0};
  const CommandLimits wider = site.limits_of("framework/pytorch", recipes);
  EXPECT_EQ(wider.wall, std::chrono::hours(12));
  EXPECT_EQ(wider.silence, std::chrono::minutes(45)) << "not narrower";
  EXPECT_EQ(wider.log_bytes, 0u) << "no limit is the widest";
  EXPECT_EQ(wider.memory, 0u) << "no limit is the widest";
  const CommandLimits named = site.limits_of("framework/jax", recipes);
  EXPECT_EQ(named.wall, std::chrono::hours(2)) << "the site knows why";
  EXPECT_EQ(named.memory, 0u) << "of which it says nothing";
}

TEST(Site, ReadsQuantitiesWithUnits) {
  auto limits = [](const std::string& wall, const std::string& log) {
    return read_text(R"({"limits": {"wall": ")" + wall + R"(", "log": ")" + log + R"("}})").step_limits;
  };
  EXPECT_EQ(limits("90s", "100B").wall.count(), 90);
  EXPECT_EQ(limits("45m", "100B").wall.count(), 45 * 60);
  EXPECT_EQ(limits("2d", "100B").wall.count(), 2 * 24 * 3600);
  EXPECT_EQ(limits("0s", "0B").wall.count(), 0);
  EXPECT_EQ(limits("0s", "100B").log_bytes, 100u);
  EXPECT_EQ(limits("0s", "3KiB").log_bytes, 3u * 1024);
  EXPECT_EQ(limits("0s", "5GiB").log_bytes, std::uint64_t{5} << 30);
}

// Each place names itself by its number of jobs.
FakeFileSystem places(const Strings& files) {
  FakeFileSystem disk;
  for (std::size_t i = 0; i < files.size(); ++i)
    disk.files[files[i]] = "{\"jobs\": " + std::to_string(i + 1) + "}";
  return disk;
}

TEST(Site, IsFoundInTheOrderOfThePlaces) {
  const Environment environment = {
      {"KILN_SITE", "/srv/kiln.json"}, {"XDG_CONFIG_HOME", "/cfg"}, {"HOME", "/home/a"}};
  Environment rest = environment;
  rest.erase("KILN_SITE");
  FakeFileSystem files =
      places({"/srv/kiln.json", "site.json", "/cfg/kiln/site.json", "/home/a/.config/kiln/site.json"});
  EXPECT_EQ(find_site(files, environment).file, "/srv/kiln.json");
  EXPECT_EQ(find_site(files, environment).jobs, 1);
  EXPECT_EQ(find_site(files, rest).jobs, 2);
  files.remove_all("site.json");
  EXPECT_EQ(find_site(files, rest).jobs, 3);
  files.remove_all("/cfg");
  EXPECT_EQ(find_site(files, rest).file, "") << "XDG_CONFIG_HOME is set: ~/.config does not count";
  EXPECT_EQ(find_site(files, {{"HOME", "/home/a"}}).jobs, 4);
  EXPECT_EQ(find_site(files, {{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "cfg"}}).jobs, 4)
      << "a relative one is unset";
}

TEST(Site, IsTheDefaultWhereThereIsNone) {
  Site site = find_site(FakeFileSystem(), {{"KILN_SITE", ""}});
  EXPECT_EQ(site.file, "");
  EXPECT_EQ(site.engine, "buildah");
}

TEST(Site, NamedFileMustExist) {
  EXPECT_EQ(input_error([] {
              find_site(places({"/srv/kiln.json"}), {{"KILN_SITE", "/srv/kilm.json"}});
            }),
            "error: there is no file '/srv/kilm.json'; did you mean 'kiln.json'?\n"
            "  while reading the site file that KILN_SITE names");
}

const std::vector<Mistake> kSiteMistakes = {
    {"UnknownKey", R"("launcher")", R"("laucher")", Schema::refuses,
     "3:3: error: unknown key 'laucher' (at /laucher); did you mean 'launcher'?"},
    {"UnknownLimit", R"("wall")", R"("walltime")", Schema::refuses,
     "6:14: error: unknown key 'walltime' (at /limits/walltime); known keys: wall, silence, log, "
     "memory, retries, components"},
    {"LimitsOfNoComponent", R"("framework/jax": {)", R"("jax": {)", Schema::refuses,
     "6:117: error: unknown component 'jax' (at /limits/components/jax); kind/name, for example "
     "framework/pytorch"},
    {"RetriesOfAComponent", R"("wall": "12h")", R"("retries": 3)", Schema::refuses,
     "6:147: error: unknown key 'retries' (at /limits/components/framework~1jax/retries); known keys: wall, "
     "silence, log, memory"},
    {"PullStallWithoutAUnit", R"("90s")", R"(90)", Schema::refuses,
     "12:35: error: expected a duration with its unit, found a number (at /pull/stall); a whole number and "
     "s, "
     "m, h or d, such as \"45m\"; \"0s\" is no limit"},
    {"NegativeRetries", R"("retries": 3)", R"("retries": -1)", Schema::refuses,
     "12:53: error: expected a whole number from 0 to 100, found -1 (at /pull/retries)"},
    {"UnknownEngine", R"("buildah")", R"("bulidah")", Schema::refuses,
     "2:13: error: expected an engine, found 'bulidah' (at /engine); did you mean 'buildah'?"},
    {"LauncherIsAString", R"(["srun", "-n1"])", R"("srun -n1")", Schema::refuses,
     "3:15: error: expected an array, found a string (at /launcher)"},
    {"EmptyWordOfLauncher", R"(["srun", "-n1"])", R"(["srun", ""])", Schema::refuses,
     "3:24: error: expected a line of text, found an empty string (at /launcher/1)"},
    {"SecretWithARelativePath", R"("/etc/kiln/licence")", R"("licence")", Schema::refuses,
     "11:26: error: expected an absolute path, found 'licence' (at /secrets/licence); or {\"environment\": "
     "\"NAME\"} for a "
     "secret in a variable"},
    {"SecretInABadVariable", R"("SITE_TOKEN")", R"("SITE-TOKEN")", Schema::refuses,
     "11:72: error: 'SITE-TOKEN' is not a variable's name (at /secrets/token/environment); letters, digits "
     "and _, and no "
     "digit first"},
    {"SecretWithABadName", R"("licence":)", R"("../licence":)", Schema::refuses,
     "11:15: error: '../licence' is not a secret's name (at /secrets/..~1licence); letters, digits and _ . + "
     "- only, and a "
     "letter or digit first"},
    {"CacheInARelativeFolder", R"("/scratch/caches")", R"("caches")", Schema::refuses,
     "11:108: error: expected an absolute path without a colon, found 'caches' (at /cache/folder)"},
    {"CacheThatHoldsNothing", R"("50GiB")", R"("1MiB")", Schema::accepts,
     "11:135: error: less than 64MiB holds nothing (at /cache/size); false switches caches off"},
    {"NegativeJobs", R"("jobs": 2)", R"("jobs": -1)", Schema::refuses,
     "4:11: error: expected a whole number from 0 to 1024, found -1 (at /jobs)"},
    {"JobsIsAWord", R"("jobs": 2)", R"("jobs": "2")", Schema::refuses,
     "4:11: error: expected a whole number, found a string (at /jobs)"},
    {"JobsIsAFraction", R"("jobs": 2)", R"("jobs": 2.5)", Schema::refuses,
     "4:11: error: expected a whole number, found a number (at /jobs)"},
    {"ScratchIsRelative", R"("/local/scratch")", R"("local")", Schema::refuses,
     "3:43: error: expected an absolute path, found 'local' (at /scratch)"},
    {"CompressionNobodyKnows", R"("gzip")", R"("xz")", Schema::refuses,
     "2:45: error: expected a compression of layers, found 'xz' (at /layer_compression); one of zstd, gzip"},
    {"LevelTooHigh", R"("zstd_level": 9)", R"("zstd_level": 20)", Schema::refuses,
     "5:17: error: expected a whole number from 1 to 19, found 20 (at /zstd_level)"},
    {"FormatNobodyKnows", R"(["oci"])", R"(["oci", "img"])", Schema::refuses,
     "5:39: error: expected an image format, found 'img' (at /formats/1); one of oci, sif"},
    {"FormatsWithoutOci", R"(["oci"])", R"(["sif"])", Schema::refuses,
     R"(5:31: error: 'oci' is missing (at /formats); a SIF is made from the OCI image: "oci", "sif")"},
    {"FormatTwice", R"(["oci"])", R"(["oci", "oci"])", Schema::refuses,
     "5:39: error: 'oci' is named twice (at /formats/1)"},
    {"DurationWithoutUnit", R"("6h")", R"("6")", Schema::refuses,
     R"(6:22: error: expected a duration, found '6' (at /limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"DurationIsANumber", R"("6h")", "6", Schema::refuses,
     R"(6:22: error: expected a duration with its unit, found a number (at /limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"DurationWithUnknownUnit", R"("6h")", R"("6 hours")", Schema::refuses,
     R"(6:22: error: expected a duration, found '6 hours' (at /limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"DurationWithoutNumber", R"("45m")", R"("m")", Schema::refuses,
     R"(6:39: error: expected a duration, found 'm' (at /limits/silence); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"FractionOfAnHour", R"("45m")", R"("0.75h")", Schema::refuses,
     R"(6:39: error: expected a duration, found '0.75h' (at /limits/silence); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"DurationTooLong", R"("6h")", R"("99999999999999999h")", Schema::accepts,
     R"(6:22: error: expected a duration, found '99999999999999999h' (at /limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"DurationBeyondNumbers", R"("6h")", R"("99999999999999999999999s")", Schema::accepts,
     R"(6:22: error: expected a duration, found '99999999999999999999999s' (at /limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"SizeWithDecimalUnit", R"("64MiB")", R"("64MB")", Schema::refuses,
     R"(6:53: error: expected a size, found '64MB' (at /limits/log); a whole number and B, KiB, MiB or GiB, such as "256MiB"; "0B" is no limit)"},
    {"SizeTooLarge", R"("64MiB")", R"("17179869184GiB")", Schema::accepts,
     R"(6:53: error: expected a size, found '17179869184GiB' (at /limits/log); a whole number and B, KiB, MiB or GiB, such as "256MiB"; "0B" is no limit)"},
    {"VariableWithEquals", R"("PIP_*")", R"("PIP_INDEX=x")", Schema::refuses,
     "7:35: error: expected the name of an environment variable, found 'PIP_INDEX=x' (at "
     "/pass_environment/1); letters, digits and _; * and ? stand for others, as in PIP_*"},
    {"RelativeCertificates", R"("/etc/ssl/certs/ca-certificates.crt")", R"("ca.crt")", Schema::refuses,
     "8:22: error: expected an absolute path, found 'ca.crt' (at /ca_certificates)"},
    {"AbsentCertificates", R"("/etc/ssl/certs/ca-certificates.crt")", R"("/etc/ssl/ca.crt")", Schema::accepts,
     "8:22: error: there is no file '/etc/ssl/ca.crt' on this machine (at /ca_certificates)"},
    {"ConfigurationIsAFolder", R"("/etc/pip.conf")", R"("/etc/ssl")", Schema::accepts,
     "9:24: error: expected a file, '/etc/ssl' is a folder (at /pip_configuration)"},
    {"PublishNowhere", R"("registry": "registry.site:5000/ai", )", "", Schema::refuses,
     "13:14: error: the key 'registry' is missing (at /publish)"},
    {"PublishToNothing", R"("registry.site:5000/ai")", R"("")", Schema::refuses,
     "13:27: error: expected a line of text, found an empty string (at /publish/registry)"},
    {"RelativeKey", R"("/etc/kiln/site.pem")", R"("site.pem")", Schema::refuses,
     "13:59: error: expected an absolute path, found 'site.pem' (at /publish/key)"},
    {"PassphraseOfNoKey", R"("key": "/etc/kiln/site.pem", )", "", Schema::refuses,
     "13:71: error: it goes with \"key\", which is missing (at /publish/passphrase_file)"},
};

class SiteMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(SiteMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kSite, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read_text(json); }), "site.json:" + GetParam().error);
  const bool refused = !violations_of_schema("site", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, SiteMistake, ::testing::ValuesIn(kSiteMistakes), name_of_mistake);

TEST(Site, SaysWhatANightMayMove) {
  const UpdatePolicy none = read_text(R"({"nightly": {"update": {}}})").update;
  EXPECT_EQ(none.bases, std::chrono::hours(7 * 24));
  EXPECT_EQ(none.archives, std::chrono::hours(7 * 24));
  EXPECT_TRUE(none.archspec);
  EXPECT_EQ(none.proposals, 3);
  EXPECT_EQ(read_text(R"({"nightly": {"update": {"bases": "never"}}})").update.bases, std::nullopt);
  for (const char* bad :
       {R"({"bases": "weekly"})", R"({"bases": 7})", R"({"bases": "7 d"})", R"({"archspec": "7d"})",
        R"({"proposals": -1})", R"({"proposals": 2000})", R"({"sources": "each"})"}) {
    const std::string json = std::string(R"({"nightly": {"update": )") + bad + "}}";
    EXPECT_THROW(read_text(json), Error) << bad;
    EXPECT_FALSE(violations_of_schema("site", json).empty()) << bad;
  }
}

TEST(Site, NamesImagesInItsOwnWords) {
  auto aliases = [](const std::string& list) {
    return read_text(R"({"publish": {"registry": "h", "aliases": )" + list + "}}").publish.aliases;
  };
  const auto two = aliases(R"([{"name": "modak:2.1-gpu-src", "images": ["version=2.1*", "target=nvidia*"]},
                               {"name": "site/ai:PyTorch_1.0", "images": ["pytorch:*"]}])");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].name(), "modak:2.1-gpu-src");
  EXPECT_EQ(two[0].images, (Strings{"version=2.1*", "target=nvidia*"}));
  EXPECT_EQ(two[1].repository, "site/ai");
  EXPECT_EQ(two[1].tag, "PyTorch_1.0");
  for (const char* bad :
       {R"([{"name": "modak", "images": ["a"]}])", R"([{"name": "Modak:a", "images": ["a"]}])",
        R"([{"name": "modak:-a", "images": ["a"]}])", R"([{"name": "m:a", "images": []}])",
        R"([{"name": "m:a", "images": ["a", "a"]}])", R"([{"name": "m:a"}])",
        R"([{"name": ":a", "images": ["a"]}])", R"([{"name": "m:a b", "images": ["a"]}])"}) {
    EXPECT_THROW(aliases(bad), Error) << bad;
    EXPECT_FALSE(
        violations_of_schema("site", std::string(R"({"publish": {"registry": "h", "aliases": )") + bad + "}}")
            .empty())
        << bad;
  }
  EXPECT_EQ(input_error(
                [&] { aliases(R"([{"name": "m:a", "images": ["b"]}, {"name": "m:a", "images": ["c"]}])"); }),
            "site.json:1:86: error: 'm:a' is named twice (at /publish/aliases/1/name); one name, one choice");
}

TEST(Site, SaysWhereStepsAreShared) {
  auto steps = [](const std::string& place) { return read_text(R"({"steps": )" + place + "}").shared_steps; };
  const StepSharing registry =
      steps(R"({"registry": "http://h:5000/ai/steps", "key": "/k", "keep_for": "7d"})");
  EXPECT_EQ(registry.registry, "http://h:5000/ai/steps");
  EXPECT_TRUE(registry.is_used());
  EXPECT_TRUE(registry.writes());
  EXPECT_EQ(registry.keep_for, std::chrono::hours(7 * 24));
  EXPECT_FALSE(steps(R"({"registry": "h/s", "trust": ["/a.pub", "/b.pub"]})").writes());
  EXPECT_TRUE(steps(R"({"folder": "/f", "private": true})").writes());
  EXPECT_FALSE(read_text("{}").shared_steps.is_used());
  for (const char* bad :
       {R"({})", R"({"registry": "h/s"})", R"({"registry": "h/s", "folder": "/f", "key": "/k"})",
        R"({"registry": "h/s", "private": true})", R"({"folder": "/f"})",
        R"({"folder": "f", "private": true})", R"({"folder": "/f", "trust": []})",
        R"({"registry": "h/s", "trust": ["a.pub"]})",
        R"({"folder": "/f", "private": true, "passphrase_file": "/p"})",
        R"({"folder": "/f", "private": false})",
        R"({"folder": "/f", "private": true, "keep_for": "long"})"}) {
    EXPECT_THROW(steps(bad), Error) << bad;
    EXPECT_FALSE(violations_of_schema("site", std::string(R"({"steps": )") + bad + "}").empty()) << bad;
  }
  EXPECT_EQ(
      input_error([&] { steps(R"({"registry": "h/s"})"); }),
      "site.json:1:11: error: nothing that comes from there would be believed (at /steps); \"trust\" names "
      "public keys, \"key\" signs; \"private\": true for a folder that only this user writes to");
}

TEST(Site, SaysWhatGcLeaves) {
  const Retention some =
      read_text(
          R"({"gc": {"keep_for": "36h", "keep_snapshots": 3, "keep_steps_for": "0s", "keep": [41, "a:*"]}})")
          .retention;
  EXPECT_EQ(some.keep_for, std::chrono::hours(36));
  EXPECT_EQ(some.keep_snapshots, 3);
  EXPECT_EQ(some.keep_steps_for.count(), 0);
  EXPECT_EQ(some.keep, (Strings{"41", "a:*"}));
  EXPECT_FALSE(read_text(R"({"gc": {}})").collect_registry);
  EXPECT_TRUE(read_text(R"({"gc": {"registry": true}, "publish": {"registry": "h"}})").collect_registry);
  EXPECT_EQ(input_error([] { read_text(R"({"gc": {"registry": true}})"); }),
            "site.json:1:21: error: there is no \"publish\" with a registry to collect in (at /gc/registry)");
  const Retention none = read_text(R"({"gc": {}})").retention;
  EXPECT_EQ(none.keep_for, std::chrono::hours(30 * 24));
  EXPECT_EQ(none.keep_snapshots, 10);
  for (const char* bad : {R"({"gc": {"keep_for": 30}})", R"({"gc": {"keep_for": "a month"}})",
                          R"({"gc": {"keep_snapshots": 0}})", R"({"gc": {"keep": [0]}})",
                          R"({"gc": {"keep": [""]}})", R"({"gc": {"days": 3}})"})
    EXPECT_THROW(read_text(bad), Error) << bad;
}

}  // namespace
}  // namespace kiln::testing
