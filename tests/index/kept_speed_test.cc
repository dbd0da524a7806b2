// Settings that were measured, in the index next to the speeds.
#include "registry/index/kept_speed.h"

#include "index_fixture.h"
#include "support/input_errors.h"
#include "support/tuned_samples.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::tuned_record;

class KeptSpeeds : public testing::IndexTest {
 protected:
  ImageRecord published(const std::string& tag, const std::string& content, char bits = 'a') {
    ImageRecord one = image(tag, content);
    one.key = std::string(64, bits);
    open().publish({one}, {}, kNow, "demo");
    return one;
  }
  TunedRecord setting_of(const ImageRecord& image) { return tuned_record(image.manifest, image.key); }
  // Values of OMP_NUM_THREADS that the image with this tag has.
  std::vector<std::string> threads(const std::string& tag) {
    std::vector<std::string> found;
    for (const IndexEntry& entry : open(Index::Mode::read).entries())
      for (const TunedRecord& one : entry.tuned)
        if (entry.image.tag == tag) found.push_back(one.settings.at("OMP_NUM_THREADS"));
    return found;
  }
};
using Values = std::vector<std::string>;

TEST_F(KeptSpeeds, ASettingBelongsToTheBits) {
  const ImageRecord one = published("a", "1");
  published("b", "another name");
  published("c", "other bits", 'c');
  open().record(setting_of(one));
  EXPECT_EQ(threads("a"), Values{"1"});
  EXPECT_EQ(threads("b"), Values{"1"});
  EXPECT_EQ(threads("c"), Values{});
  const auto entries = open(Index::Mode::read).entries();
  EXPECT_TRUE(entries.front().measurements.empty()) << "a setting is no speed of an image";
  published("a", "rebuilt", 'd');
  EXPECT_EQ(threads("a"), Values{}) << "another image";
}

TEST_F(KeptSpeeds, TheLastTuningOfAKindCounts) {
  const ImageRecord one = published("a", "1");
  TunedRecord first = setting_of(one), later = first, elsewhere = first;
  later.settings["OMP_NUM_THREADS"] = "2";
  later.taken = "2026-11-25T12:00:00Z";
  elsewhere.host.cores = 8;
  elsewhere.settings["OMP_NUM_THREADS"] = "8";
  Index index = open();
  index.record(first);
  index.record(elsewhere);
  index.record(later);
  EXPECT_EQ(threads("a"), (Values{"8", "2"}));
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT count(*) FROM measurements"), 2);
}

TEST_F(KeptSpeeds, WithinTheNoiseNothingIsRecorded) {
  const ImageRecord one = published("a", "1");
  TunedRecord noise = setting_of(one);
  noise.recommended = false;
  noise.gain = {"", 1.01, 0.98, 1.04};
  open().record(noise);
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT count(*) FROM measurements"), 0);
  open().record(setting_of(one));
  EXPECT_EQ(threads("a"), Values{"1"});
  noise.taken = "2026-11-25T12:00:00Z";
  open().record(noise);
  EXPECT_EQ(threads("a"), Values{}) << "a later tuning took it back";
}

TEST_F(KeptSpeeds, ALaterTuningUnderAnotherManifestCounts) {
  const ImageRecord one = published("a", "1"), labelled = published("b", "new labels");
  open().record(setting_of(one));
  TunedRecord later = setting_of(labelled);
  later.recommended = false;
  later.taken = "2026-11-25T12:00:00Z";
  open().record(later);
  EXPECT_EQ(threads("a"), Values{});
}

TEST_F(KeptSpeeds, SidecarsProveThem) {
  const ImageRecord one = published("a", "1");
  open().record(testing::measurement_of(one.manifest, 100));
  open().record(setting_of(one));
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_TRUE(open().recover().is_whole());
  EXPECT_EQ(threads("a"), Values{"1"});
  EXPECT_EQ(open().entries().front().measurements.size(), 1u);
}

TEST_F(KeptSpeeds, ADamagedOneIsRefused) {
  open().record(setting_of(published("a", "1")));
  sql("UPDATE measurements SET record = replace(record, '\"1\"', '\"9\"')");
  EXPECT_EQ(testing::error_of([&] { open(Index::Mode::read).entries(); }).code(), ExitCode::store);
  EXPECT_EQ(open().entries().front().tuned.front().settings.at("OMP_NUM_THREADS"), "1") << "made again";
}

TEST_F(KeptSpeeds, AForgedSidecarIsNamedAndNotTaken) {
  const ImageRecord one = published("a", "1");
  const std::string name = one.manifest.hex() + "-1";
  Json forged = to_json(setting_of(one));
  forged["gain"]["low"] = 0.5;
  store.write_sidecar(BlobStore::Sidecar::measurement, name, forged.dump());
  const RecoveryReport report = open().recover();
  EXPECT_EQ(report.unreadable, std::vector<std::string>{"measurements/" + name + ".json"});
  EXPECT_EQ(threads("a"), Values{});
  const std::string why = testing::input_error(
      [&] { kept_speed_from_json(JsonDocument::parse(forged.dump(), "forged.json").root()); });
  EXPECT_NE(why.find("forged.json"), std::string::npos) << why;
  EXPECT_NE(why.find("(at /recommended)"), std::string::npos) << why;
}

TEST_F(KeptSpeeds, AModelIsKeptUntilItIsTakenBack) {
  EXPECT_EQ(open().model(), std::nullopt);
  published("a", "1");
  open().keep_model(R"({"format":1})");
  EXPECT_EQ(open(Index::Mode::read).model(), R"({"format":1})");
  EXPECT_EQ(open().current(), 1) << "no snapshot";
  published("b", "2", 'b');
  EXPECT_TRUE(open().recover().is_whole());
  EXPECT_EQ(open(Index::Mode::read).model(), R"({"format":1})");
  open().keep_model("");
  EXPECT_EQ(open(Index::Mode::read).model(), std::nullopt);
}

}  // namespace
}  // namespace kiln
