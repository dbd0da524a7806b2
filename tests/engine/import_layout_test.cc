#include "factory/engine/import_layout.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/oci/blob_store.h"
#include "factory/oci/layer_write.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class DockerArchives : public ::testing::Test {
 protected:
  DockerArchives() {
    step.key = std::string(64, 'a');
    runner.respond = [this](const Command& command) {
      given = fs::path(command.argv.back());
      for (const std::string& name : files.list(given)) text[name] = files.read(given / name).value();
      return CommandResult{};
    };
  }

  void add_layer(const std::string& plain) {
    BlobStore store(folder / "store");
    BlobStore::Writer writer = store.writer();
    auto compressor = make_compressor(LayerCompression::zstd, 3, 1, writer);
    compressor->write(plain);
    compressor->finish();
    step.chain.layers.push_back(
        {writer.commit(std::string(media_type::kLayerZstd)), Digest::of(plain), "made by", ""});
  }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  RealFileSystem files;
  testing::FakeClock clock;
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
  StepRecord step;
  fs::path given;                           // the folder that was given to the daemon
  std::map<std::string, std::string> text;  // its files at that time
};

TEST_F(DockerArchives, HasThePlainLayersInTheirOrder) {
  add_layer("below");
  add_layer("above");
  EXPECT_TRUE(DockerArchive(step, "localhost/kiln:a", setup).load().ok());
  EXPECT_EQ(text["0.tar"], "below");
  EXPECT_EQ(text["1.tar"], "above");
  const Json manifest = Json::parse(text["manifest.json"]);
  ASSERT_EQ(manifest.size(), 1u);
  EXPECT_EQ(manifest[0]["RepoTags"], Json::array({"localhost/kiln:a"}));
  EXPECT_EQ(manifest[0]["Layers"], Json::array({"0.tar", "1.tar"}));
  const Json config = Json::parse(text[manifest[0]["Config"].get<std::string>()]);
  EXPECT_EQ(config["rootfs"]["diff_ids"],
            Json::array({Digest::of("below").text(), Digest::of("above").text()}));
  EXPECT_EQ(config["history"].size(), 2u);
}

TEST_F(DockerArchives, LeavesNothing) {
  add_layer("below");
  fs::path where;
  {
    const DockerArchive archive(step, "localhost/kiln:a", setup);
    where = archive.folder();
    EXPECT_TRUE(fs::exists(where));
  }
  EXPECT_FALSE(fs::exists(where));
}

TEST_F(DockerArchives, ALayerOfOtherBytesIsNotGiven) {
  add_layer("below");
  step.chain.layers.front().diff_id = Digest::of("something else");
  try {
    const DockerArchive archive(step, "localhost/kiln:a", setup);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.hint().find("fsck"), std::string::npos);
  }
  EXPECT_TRUE(files.list(folder / "engine").empty());
}

}  // namespace
}  // namespace kiln
