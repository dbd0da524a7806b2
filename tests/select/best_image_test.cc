// The winner read out of the index is that of select_image(), whatever was published, measured, withdrawn or
// lost. Random ones: oracle.select asks every question of an index, too.
#include "registry/select/best_image.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "index/index_fixture.h"
#include "registry/index/image_profiles.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::kNow;
using testing::measurement_of;
using testing::query;

class BestImage : public testing::IndexTest {
 protected:
  ImageRecord stored(const std::string& tag, const std::string& version, const std::string& cpu) {
    ImageRecord record = image(tag, tag);
    record.optimised = true;
    record.version = Version(version);
    record.cpu = cpu;
    record.key = Digest::of("bits of " + tag).hex();
    return record;
  }
  // The tag that both ways answer.
  std::string best(const ImageQuery& question = query(), const Host& on = {}) {
    const Index index = open(Index::Mode::read);
    const auto entries = index.entries_of(question.application);
    const Selection selection = select_image(question, entries, on, archspec());
    const auto best = best_image(index, question, on, archspec());
    const std::string plain =
        selection.winner ? to_json(selection.winner->entry->image).dump() : std::string("none");
    EXPECT_EQ(best ? to_json(best->image).dump() : "none", plain);
    return best ? best->image.tag + best->image.code : "none";
  }
};

TEST_F(BestImage, IsThatOfAllEntries) {
  const ImageRecord old = stored("old", "2.5.0", "x86_64_v3"),
                    avx512 = stored("avx512", "2.6.0", "x86_64_v4"),
                    plain = stored("plain", "2.6.0", "x86_64_v2");
  open().publish({old, avx512, plain}, {}, kNow, "night");
  EXPECT_EQ(best(), "plain") << "the widest reach";
  EXPECT_EQ(best(query(), host("haswell")), "old") << "the better code";
  EXPECT_EQ(best(query(), host("zen4")), "avx512");
  ImageQuery versioned = query();
  versioned.version = VersionRange::parse("2.6");
  EXPECT_EQ(best(versioned, host("haswell")), "plain");
  versioned.version = VersionRange::parse("9");
  EXPECT_EQ(best(versioned), "none");
  versioned.application = "nothing";
  EXPECT_EQ(best(versioned), "none");
}

TEST_F(BestImage, FollowsWhatHappensToItsImages) {
  const ImageRecord one = stored("one", "2.6.0", "x86_64_v3"), two = stored("two", "2.6.0", "x86_64_v2");
  open().publish({one, two}, {}, kNow, "night");
  EXPECT_EQ(best(query(), host("haswell")), "one");
  Measurement fast = measurement_of(two.manifest, 100);
  fast.host.cpu = "haswell";
  open().record(fast);
  EXPECT_EQ(best(query(), host("haswell")), "two") << "measured";
  EXPECT_EQ(best(query(), host("zen2")), "one") << "not where it compares";
  open().publish({}, {}, kNow, "night", {{}, {{two.name(), two.key}}});
  EXPECT_EQ(best(query(), host("haswell")), "one") << "the other fails";
  ImageQuery lenient = query();
  lenient.allow_failing = true;
  EXPECT_EQ(best(lenient, host("haswell")), "two");
  open().retire({one.identity()}, "wrong results", kNow);
  EXPECT_EQ(best(query(), host("haswell")), "none");
  open().rollback(1);
  EXPECT_EQ(best(query(), host("zen2")), "two") << "what is retired stays so";
  fs::remove(store.path(two.manifest));
  open().recover();
  EXPECT_EQ(best(query(), host("zen2")), "none") << "the other is lost";
}

TEST_F(BestImage, ReadsWhatMayStillWin) {
  ImageRecord stock = stored("stock", "2.7.0", "x86_64_v3");
  stock.optimised = false;
  const ImageRecord built = stored("built", "2.6.0", "x86_64_v2"),
                    candidate = stored("rc", "2.8.0rc1", "x86_64_v3");
  open().publish({stock, candidate}, {}, kNow, "night");
  EXPECT_EQ(best(query(), host("haswell")), "stock") << "a release before an optimised candidate of one";
  open().publish({built}, {}, kNow, "night");
  EXPECT_EQ(best(query(), host("haswell")), "built");
  Measurement fast = measurement_of(stock.manifest, 100);
  fast.host.cpu = "haswell";
  open().record(fast);
  EXPECT_EQ(best(query(), host("haswell")), "stock") << "measured, and the other is not";
  EXPECT_EQ(best(), "built") << "without a host no speed compares";
  open().retire({stock.identity(), built.identity()}, "wrong results", kNow);
  EXPECT_EQ(best(query(), host("haswell")), "rc");
}

TEST_F(BestImage, KnowsWhatIsSlowerThanStock) {
  ImageRecord stock = stored("stock", "2.6.0", "x86_64_v2");
  stock.optimised = false;
  const ImageRecord slower = stored("slower", "2.6.0", "x86_64_v3"),
                    proven = stored("proven", "2.6.0", "x86_64_v2");
  open().publish({stock, slower, proven}, {}, kNow, "night");
  const auto measure = [&](const ImageRecord& image, double median, double low, double high) {
    Measurement one = measurement_of(image.manifest, median);
    one.host.cpu = "haswell";
    one.rounds = kProvingRounds;
    one.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
    open().record(one);
  };
  measure(slower, 120, 0.7, 0.9);
  EXPECT_EQ(best(query(), host("haswell")), "proven") << "not measured yet";
  measure(proven, 100, 1.1, 1.2);
  EXPECT_EQ(best(query(), host("haswell")), "proven");
  ImageQuery strict = query();
  strict.strict_gains = true;
  EXPECT_EQ(best(strict, host("haswell")), "proven");
  EXPECT_EQ(best(strict, host("zen2")), "none") << "not on this kind of host";
  EXPECT_EQ(best(strict), "none");
  open().retire({proven.identity()}, "wrong results", kNow);
  EXPECT_EQ(best(query(), host("haswell")), "stock") << "though it was never measured";
  EXPECT_EQ(best(strict, host("haswell")), "none");
  open().retire({stock.identity()}, "wrong results", kNow);
  EXPECT_EQ(best(query(), host("haswell")), "slower");
}

TEST_F(BestImage, AStockImageMayWinByItsMachineCode) {
  ImageRecord stock = stored("stock", "2.6.0", "x86_64_v3"), ptx = stored("ptx", "2.6.0", "x86_64_v3");
  stock.optimised = false;
  stock.accelerators = {"nvidia:sm_80"};
  ptx.accelerators = {"nvidia:sm_75"};
  open().publish({stock, ptx}, {}, kNow, "night");
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  EXPECT_EQ(best(asked, host("icelake", {"nvidia:sm_80"})), "stock");
  EXPECT_EQ(best(asked, host("icelake", {"nvidia:sm_75"})), "ptx") << "its own code";
  EXPECT_EQ(best(asked, host("icelake", {"nvidia:sm_90"})), "ptx") << "both by PTX";
}

TEST_F(BestImage, MappingsOfOneReference) {
  std::vector<ImageRecord> mappings;
  for (const char* code : {"b", "a", "c"}) {
    ImageRecord mapping;
    mapping.application = "pytorch";
    mapping.optimised = true;
    mapping.code = code;
    mapping.reference = "docker://pytorch/pytorch:2.6";
    mappings.push_back(mapping);
  }
  mappings.back().reference = "docker://a";
  Index index = open();
  testing::import_all(index, mappings);
  EXPECT_EQ(best(), "c") << "the first by name";
  index.retire({mappings.back().identity()}, "gone", kNow);
  EXPECT_EQ(best(), "a") << "then by code";
}

TEST_F(BestImage, AMappingWhoseCompilersNoRecipeNamed) {
  std::vector<ImageRecord> mappings;
  for (const char* code : {"a-xla", "plain"}) {
    ImageRecord mapping;
    mapping.application = "pytorch";
    mapping.optimised = true;
    mapping.code = code;
    mapping.reference = fmt::format("docker://pytorch/{}", code);
    mappings.push_back(mapping);
  }
  mappings.front().selectors = {{"xla", "true"}};
  Index index = open();
  testing::import_all(index, mappings);
  EXPECT_EQ(best(), "plain");
  ImageQuery asked = query();
  asked.compilers["xla"] = true;
  EXPECT_EQ(best(asked), "a-xla");
}

// What its row does not tell decides against the newest choices, and what is equal in code and version is
// compared in what only the profile has.
TEST_F(BestImage, ProfilesDecideAmongTheBest) {
  std::vector<ImageRecord> images;
  for (int minor = 1; minor <= 12; ++minor)
    for (const char* method : {"pip", "source"}) {
      ImageRecord record = stored(fmt::format("{}-{}", method, minor), fmt::format("2.{}", minor),
                                  minor > 9 ? "x86_64_v2" : "x86_64_v3");
      record.method = minor < 8 ? method : "hub";
      if (record.method == "pip") record.tests.emplace();  // none that it passed
      images.push_back(record);
    }
  open().publish(images, {}, kNow, "night");
  ImageQuery asked = query();
  EXPECT_EQ(best(asked, host("haswell")), "pip-9") << "better code before newer versions";
  EXPECT_EQ(best(asked), "pip-12");
  asked.method = "source";
  EXPECT_EQ(best(asked, host("haswell")), "source-7");
  EXPECT_EQ(best(asked), "source-7") << "by its method, which no row has";
  asked.method = "";
  asked.version = VersionRange::parse("<2.8");
  EXPECT_EQ(best(asked, host("haswell")), "source-7") << "tested";
  asked.version = VersionRange::parse("2.3");
  asked.selectors["backend"] = "theano";
  EXPECT_EQ(best(asked, host("haswell")), "none");
}

TEST_F(BestImage, EqualPartsAreOneProfile) {
  std::vector<ImageRecord> images;
  for (int i = 0; i < 40; ++i)
    images.push_back(stored(fmt::format("tag-{}", i), i % 2 == 0 ? "2.5.0" : "2.6.0",
                            i % 4 < 2 ? "x86_64_v2" : "x86_64_v3"));
  open().publish(images, {}, kNow, "night");
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT count(*) FROM profiles"), 4);
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT count(*) FROM choices"), 2);
  images[1].version = Version("2.7.0");
  open().publish({images[1]}, {}, kNow, "night");
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT sum(images) FROM choices"), 40);
  EXPECT_EQ(testing::number_in(folder.path(), "SELECT count(*) FROM choices"), 3);
}

TEST(ImageParts, TogetherHaveAllThatIsJudged) {
  IndexEntry entry = testing::on(testing::image("a"), {"nvidia:sm_80"});
  entry.image.evidence.verdict = "exceeds";
  entry.image.evidence.exceeding = {"avx512f"};
  entry.image.evidence.shown_by = {{"avx512f", "/opt/lib/libx.so"}};
  entry.image.needs.driver = Version("525.60.13");
  entry.image.attachments = {{"sif", {"sif", Digest::of("sif"), 7, {}}, {}}};
  const ImageRecord choice = choice_profile(entry.image), place = host_profile(entry.image);
  EXPECT_EQ(choice.version.text(), "2.6.0");
  EXPECT_EQ(choice.cpu, "");
  EXPECT_FALSE(choice.external() || place.external());
  EXPECT_EQ(place.evidence.exceeding, testing::Strings{"avx512f"});
  EXPECT_TRUE(place.evidence.shown_by.empty()) << "another file would be another place";
  EXPECT_EQ(place.needs.driver.text(), "525.60.13");
  EXPECT_NE(place.attachment("sif"), nullptr);
  for (const ImageRecord& part : {choice, place}) {
    const JsonDocument read = JsonDocument::parse(to_json(part).dump(), "part");
    EXPECT_EQ(to_json(image_record_from_json(read.root())), to_json(part));
  }
  entry.image.manifest = {};
  EXPECT_TRUE(choice_profile(entry.image).external() && host_profile(entry.image).external());
}

}  // namespace
}  // namespace kiln
