#include <gtest/gtest.h>

#include "factory/base/error.h"
#include "factory/bench/published_tables.h"
#include "factory/run/kept_files.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

ExternalTable table_with(const std::string& host, const std::string& rate) {
  return timm_table("model,img_size,samples_per_sec,step_time,batch_size,param_count\nresnet50,224," + rate +
                        ",100,10,25\n",
                    "benchmark-infer-fp32-nchw-pt240-cpu-x-dynamo.csv", {{"host", host}});
}

struct World {
  FakeFileSystem files;
  StatePaths state{"state"};
  KeptTables tables{state, files};
};

TEST(KeptTables, ANewerTableReplacesTheOneOfItsSeries) {
  World world;
  EXPECT_TRUE(world.tables.all().empty());
  EXPECT_FALSE(world.tables.put(table_with("b", "100")));
  EXPECT_FALSE(world.tables.put(table_with("a", "100")));
  EXPECT_TRUE(world.tables.put(table_with("b", "101")));
  const auto all = world.tables.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].facts.host, "a");
  EXPECT_NE(all[1].text.find("101"), std::string::npos);
  EXPECT_TRUE(world.tables.remove(all[0].facts.series()));
  EXPECT_FALSE(world.tables.remove(all[0].facts.series()));
  EXPECT_EQ(world.tables.all().size(), 1U);
}

TEST(KeptTables, SeveralTablesAreKeptTogether) {
  World world;
  world.tables.put(table_with("b", "100"));
  const std::vector<ExternalTable> tables = {table_with("a", "100"), table_with("b", "101")};
  EXPECT_EQ(world.tables.put(tables), std::vector<std::string>{tables[1].facts.series()});
  EXPECT_EQ(world.tables.all().size(), 2U);
  EXPECT_TRUE(world.tables.put(std::span<const ExternalTable>()).empty());
}

// A disk that is full after some writes.
class FullDisk final : public FileSystem {
 public:
  void write(const fs::path& path, std::string_view bytes) override {
    if (writes_left-- == 0) throw Error(ExitCode::store, path.string() + ": no space left on device");
    memory.write(path, bytes);
  }
  bool exists(const fs::path& path) const override { return memory.exists(path); }
  bool is_directory(const fs::path& path) const override { return memory.is_directory(path); }
  std::vector<std::string> list(const fs::path& folder) const override { return memory.list(folder); }
  void make_directories(const fs::path& path) override { memory.make_directories(path); }
  void remove_all(const fs::path& path) override { memory.remove_all(path); }
  void rename(const fs::path& from, const fs::path& to) override { memory.rename(from, to); }

  FakeFileSystem memory;
  int writes_left = 0;

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override {
    return memory.read(path, most);
  }
};

TEST(KeptTables, AllTablesAreWrittenOrNone) {
  FullDisk disk;
  const StatePaths state{"state"};
  KeptTables tables(state, disk);
  disk.writes_left = 1;
  tables.put(table_with("b", "100"));
  const auto before = disk.memory.files;
  const std::vector<ExternalTable> some = {table_with("b", "101"), table_with("a", "100"),
                                           table_with("c", "100")};
  for (int writes = 0; writes < 3; ++writes) {
    disk.writes_left = writes;
    EXPECT_THROW(tables.put(some), Error);
    EXPECT_EQ(disk.memory.files, before) << writes;
  }
}

TEST(KeptTables, AChangedTableIsRefused) {
  World world;
  world.tables.put(table_with("a", "100"));
  for (auto& [name, text] : world.files.files)
    if (const auto at = text.find("resnet50"); at != text.npos) text.replace(at, 8, "resnet51");
  try {
    world.tables.all();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.format().find("a kept table is not what was written: the content was changed"),
              std::string::npos)
        << error.format();
  }
}

// Its rows would count twice, and no series would remove it.
TEST(KeptTables, ATableUnderAnotherNameIsRefused) {
  World world;
  world.tables.put(table_with("a", "100"));
  world.files.write(world.state.bench_table("0123"), world.files.files.begin()->second);
  try {
    world.tables.all();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.format().find("0123.json: error: a kept table is not what was written: its name is not "
                                  "that of its series"),
              std::string::npos)
        << error.format();
  }
}

// Escaped twice, in the table and in its sum's text.
TEST(KeptTables, TheLargestTableIsReadAgain) {
  World world;
  ExternalTable table = table_with("a", "100");
  const std::string text = table.text + std::string((512u << 10) - table.text.size(), '\n');
  world.tables.put(timm_table(text, "benchmark-infer-fp32-nchw-pt240-cpu-x-dynamo.csv", {}));
  ASSERT_EQ(world.tables.all().size(), 1U);
  EXPECT_EQ(world.tables.all().front().text, text);
}

}  // namespace
}  // namespace kiln::testing
