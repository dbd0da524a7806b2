#include "factory/app/application_inputs.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

template <typename Action>
Error inputs_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ExitCode::ok, ""};
}

TEST(CopyWords, AreAFolderAndAPathOfTheImage) {
  EXPECT_EQ(copy_words("src", "train").folder, "src");
  EXPECT_EQ(copy_words("src", "train").at, "/opt/train");
  EXPECT_EQ(copy_words("a:b:/srv/x", "train").folder, "a:b");
  EXPECT_EQ(copy_words("a:b:/srv/x", "train").at, "/srv/x");
  EXPECT_EQ(copy_words("a:b", "train").folder, "a:b");
}

TEST(CopyWords, RefusePathsThatNoFolderOfAnImageHas) {
  for (const char* path : {"/", "/opt/", "/opt/.", "/opt/..", "/o\npt", "/o\xffpt"}) {
    const Error error = inputs_error([&] { copy_words(std::string("src:") + path, "train"); });
    EXPECT_EQ(error.code(), ExitCode::usage) << path;
    EXPECT_NE(error.message().find("is no path of a folder in an image"), std::string::npos) << path;
  }
  EXPECT_EQ(inputs_error([] { copy_words("src:/tmp", "train"); }).message(),
            "--copy: kiln empties '/tmp' in every image");
}

class Inputs : public ::testing::Test {
 protected:
  ApplicationInputs read(const ApplicationFiles& named) {
    return read_inputs("train", named, "/state", files_);
  }
  Error refused(const ApplicationFiles& named) {
    return inputs_error([&] { read(named); });
  }
  testing::FakeFileSystem files_;
};

TEST_F(Inputs, AreTheTextsOfTheirFiles) {
  files_.files = {{"r.txt", "numpy\n"}, {"run.sh", "echo 1\n"}, {"test.sh", "true\n"}};
  const ApplicationInputs inputs = read({"r.txt", "", "", "run.sh", "test.sh"});
  EXPECT_EQ(inputs.requirements, "numpy\n");
  EXPECT_EQ(inputs.run, "echo 1\n");
  EXPECT_EQ(inputs.test, "true\n");
  EXPECT_FALSE(inputs.files);
}

TEST_F(Inputs, AddSomethingThatIsNoTest) {
  files_.files = {{"test.sh", "true\n"}};
  const Error error = refused({"", "", "", "", "test.sh"});
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(), "nothing to add to the image");
}

TEST_F(Inputs, AreFilesWithText) {
  files_.files = {{"empty", " \t\r\n"}, {"zero", std::string("a\0b", 3)}, {"folder/x", "x"}};
  EXPECT_EQ(refused({"missing", "", "", "", ""}).code(), ExitCode::input);
  EXPECT_EQ(refused({"folder", "", "", "", ""}).code(), ExitCode::input);
  EXPECT_EQ(refused({"empty", "", "", "", ""}).message(), "the file is empty");
  EXPECT_EQ(refused({"", "", "", "zero", ""}).message(), "the file has a NUL byte");
}

TEST_F(Inputs, AScriptHasNoLinesOfWindows) {
  files_.files = {{"run.sh", "echo 1\n  echo 2\r\n"}, {"r.txt", "numpy\r\n"}};
  const Error error = refused({"", "", "", "run.sh", ""});
  EXPECT_EQ(error.format().substr(0, 44), "run.sh:2:9: error: the line ends in CR LF; /") << error.format();
  EXPECT_EQ(refused({"r.txt", "", "", "", "run.sh"}).message(), "the line ends in CR LF");
  EXPECT_EQ(read({"r.txt", "", "", "", ""}).requirements, "numpy\r\n") << "pip reads them";
}

TEST(CopiedInputs, AreAtTheirPath) {
  testing::TemporaryFolder folder;
  const RealFileSystem files;
  folder.write("src/a.py", "1\n");
  ApplicationFiles named;
  named.copy = (folder.path() / "src").string();
  EXPECT_EQ(read_inputs("train", named, "/state", files).files_at, "/opt/train");
  EXPECT_TRUE(read_inputs("train", named, "/state", files).files);
  named.copy += ":/srv/train";
  EXPECT_EQ(read_inputs("train", named, "/state", files).files_at, "/srv/train");
  named.copy = (folder.path() / "src").string();
  named.copy_at = "/srv/x";
  EXPECT_EQ(read_inputs("train", named, "/state", files).files_at, "/srv/x");
}

TEST(NeedInside, RefusesALinkOutOfTheFolder) {
  testing::TemporaryFolder folder;
  folder.write("document/run.sh", "true\n");
  folder.write("document-2/secret", "s");
  const fs::path document = folder.path() / "document";
  fs::create_symlink(folder.path() / "document-2/secret", document / "link");
  fs::create_symlink("run.sh", document / "inner");
  EXPECT_NO_THROW(need_inside(document, ""));
  EXPECT_NO_THROW(need_inside(document, "run.sh"));
  EXPECT_NO_THROW(need_inside(document, "inner"));
  EXPECT_NO_THROW(need_inside(document, "sub/../run.sh"));
  for (const char* out : {"link", "../document-2/secret", "..", "/etc/passwd"})
    EXPECT_THROW(need_inside(document, out), Error) << out;
}

}  // namespace
}  // namespace kiln
