#include "factory/run/damaged_steps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "factory/state/record_store.h"
#include "support/small_state.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class Trust : public ::testing::Test {
 protected:
  Trust() { EXPECT_EQ(small.build().exit_code(), ExitCode::ok); }
  std::string key(std::size_t step) const {
    return small.plan.steps().hex(small.plan.image(0).steps().at(step));
  }
  LayerChain chain(std::size_t step) const {
    return RecordReader(small.state, small.files).step(key(step))->chain;
  }
  fs::path layer(std::size_t step) const { return store.path(chain(step).layers.back().blob.digest); }
  std::vector<std::string> found(bool whole_chain) const {
    return damaged_steps(small.plan, all_images(small.plan), small.state, small.files, whole_chain);
  }

  testing::SmallState small;
  BlobStore store{small.state.store()};
};

TEST_F(Trust, StepsWithTheirLayersAreBelieved) {
  EXPECT_TRUE(found(false).empty());
  EXPECT_TRUE(found(true).empty());
  EXPECT_EQ(seen_damage(chain(1), store), "");
  EXPECT_EQ(take_damaged_layers(chain(1), store), "");
}

TEST_F(Trust, AStepIsNotBelievedWithoutItsOwnLayers) {
  fs::resize_file(layer(0), 3);
  EXPECT_EQ(found(false), std::vector<std::string>{key(0)});
  EXPECT_EQ(found(true).size(), 3u) << "two images have steps upon it";
  EXPECT_EQ(seen_damage(chain(1), store).find("layer 1, sha256:"), 0u) << seen_damage(chain(1), store);
}

TEST_F(Trust, ADamagedRecordIsNotBelieved) {
  const fs::path record = small.state.step(key(1));
  for (std::uintmax_t size : {fs::file_size(record) / 2, std::uintmax_t{0}}) {
    fs::resize_file(record, size);
    EXPECT_EQ(found(false), std::vector<std::string>{key(1)});
  }
  fs::remove(record);
  EXPECT_TRUE(found(false).empty()) << "nothing is said that could be believed";
}

TEST_F(Trust, ATestWhoseRecordIsDamagedRunsAgain) {
  const std::string test = small.plan.steps().hex(small.plan.image(0).tests().front());
  const std::string whole = testing::read_bytes(small.state.test(test));
  for (const std::string& text :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("nonsense")}) {
    testing::write_bytes(small.state.test(test), text);
    EXPECT_EQ(found(false), std::vector<std::string>{test}) << text;
    small.ran.clear();
    EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
    EXPECT_EQ(small.ran, std::vector<std::string>{"test test hello 1"}) << text;
    EXPECT_TRUE(found(false).empty());
  }
}

TEST_F(Trust, OnlyDamagedLayersAreTaken) {
  std::string bytes = testing::read_bytes(layer(1));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 16);
  testing::write_bytes(layer(1), bytes);
  EXPECT_EQ(seen_damage(chain(1), store), "") << "it has its size";
  const fs::path taken = layer(1);
  const std::string said = take_damaged_layers(chain(1), store);
  EXPECT_EQ(said, "layer 2, " + chain(1).layers[1].blob.digest.text() +
                      ", does not have the bytes that were written");
  EXPECT_FALSE(fs::exists(taken));
  EXPECT_TRUE(fs::exists(layer(0)));
  EXPECT_EQ(found(false), std::vector<std::string>{key(1)});
}

void set_time(const std::filesystem::path& file, std::int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

std::int64_t time_of(const std::filesystem::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return status.st_mtim.tv_sec;
}

TEST(RecordTimes, BeforeNinjasTimeAreRenewed) {
  const testing::TemporaryFolder folder;
  const StatePaths state(folder.path());
  constexpr std::int64_t k1901 = -2147483648, k2020 = 1577836800;
  for (const char* name : {"steps/a.json", "tests/a.json", "built/a.json", "plans/a.json", "steps/b.json"})
    set_time(folder.write(name, ""), k1901);
  set_time(folder / "steps/b.json", 0);
  set_time(folder.write("steps/c.json", ""), k2020);
  EXPECT_EQ(renew_record_times(state), 4u);
  for (const char* name : {"steps/a.json", "tests/a.json", "built/a.json", "steps/b.json"})
    EXPECT_GT(time_of(folder / name), k2020) << name;
  EXPECT_EQ(time_of(folder / "steps/c.json"), k2020);
  EXPECT_EQ(time_of(folder / "plans/a.json"), k1901) << "ninja does not look at it";
  EXPECT_EQ(renew_record_times(state), 0u);
  EXPECT_EQ(renew_record_times(StatePaths(folder / "absent")), 0u);
}

}  // namespace
}  // namespace kiln
