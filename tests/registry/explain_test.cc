// What people read of a choice.
#include "registry/select.h"
#include "select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::measured;
using testing::optimised;
using testing::query;
using testing::with;

TEST(Explain, SaysWhyWithNumbers) {
  std::vector<IndexEntry> entries = {
      measured(image("stock"), 303),
      measured(optimised(with(image("openblas"), "library", "openblas")), 185),
      measured(optimised(image("blis")), 200),
      with(image("inductor"), "compiler", "inductor"),
      image("avx512", "2.6.0", "skylake_avx512"),
      optimised(image("new")),
  };
  entries[1].stale = true;
  Selection selection = select_image(query(), entries, host("haswell"), archspec());
  EXPECT_EQ(explain(selection),
            "pytorch:openblas\n"
            "  built for x86_64_v3; host haswell runs it\n"
            "  has every choice: pytorch 2.6.0, optimised build\n"
            "  measured 185.0 ms/step, quartiles 184.0 to 187.0 (mnist-cnn, Xeon A, 2 cores): 1.08 times as "
            "fast as pytorch:blis, 1.64 "
            "times as fast as pytorch:stock\n"
            "  stale: its last rebuild failed, an earlier image stands in\n"
            "also qualify, best first:\n"
            "  pytorch:blis: 200.0 ms/step, quartiles 199.0 to 202.0\n"
            "  pytorch:stock: 303.0 ms/step, quartiles 302.0 to 305.0\n"
            "  pytorch:new: not measured\n"
            "do not qualify, nearest first:\n"
            "  pytorch:inductor: has inductor, which is not asked for\n"
            "  pytorch:avx512: needs avx512f; host haswell lacks it\n");
  Json json = to_json(selection);
  EXPECT_EQ(json["selected"]["name"], "pytorch:openblas");
  EXPECT_EQ(json["selected"]["measurement"]["median"], 185);
  EXPECT_EQ(json["reasons"].size(), 4u);
  EXPECT_EQ(json["others"][4]["failed"], "needs avx512f; host haswell lacks it");
  EXPECT_EQ(json["others"][0]["qualifies"], true);
}

TEST(Explain, SaysWhatIsDoubtfulInAMeasurement) {
  std::vector<IndexEntry> entries = {measured(image("a"), 100), measured(image("b"), 200)};
  entries[0].measurements[0].high = 130;
  entries[1].measurements[0].busy = 1.5;
  const std::string text = explain(select_image(query(), entries, host("haswell"), archspec()));
  EXPECT_NE(
      text.find("measured 100.0 ms/step, quartiles 99.0 to 130.0; doubtful: quartiles 31 % apart (mnist-cnn"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("pytorch:b: 200.0 ms/step, quartiles 199.0 to 202.0; doubtful: 1.5 of 2 processors busy "
                "with other work\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace kiln
