#include "registry/deploy/command_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/input_errors.h"

namespace kiln {
namespace {

std::vector<CommandWord> words_in(const Json& json, std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> own;
  return read_command(JsonDocument::parse(json.dump(), "c.json").root(), notes ? *notes : own);
}
std::string command_in(const Json& json) { return command_text(words_in(json)); }

TEST(CommandWords, AreThoseOfAShell) {
  EXPECT_EQ(command_in("python3 train.py"), "python3 train.py");
  EXPECT_EQ(command_in(" a  b\t'c d' \"e f\" g\\ h\n"), "a b 'c d' 'e f' 'g h'");
  EXPECT_EQ(command_in("a \\\n-b"), "a -b");
  EXPECT_EQ(command_in("it\\'s ''"), "'it'\\''s' ''");
  EXPECT_EQ(command_in("\"a\\\"b\\\\c\\d\""), "'a\"b\\c\\d'");
  EXPECT_EQ(command_in(Json::array({"a b", ";", "$(id)", "x\n#SBATCH --uid=0"})),
            "'a b' ';' '$(id)' 'x'$'\\n''#SBATCH --uid=0'");
  EXPECT_EQ(command_in(""), "");
}

TEST(CommandWords, VariablesAreExpandedInTheContainer) {
  EXPECT_EQ(command_in("${ASTER_ROOT}/bin/aster $HOME"),
            "sh -c 'exec \"${ASTER_ROOT}\"/bin/aster \"${HOME}\"'");
  EXPECT_EQ(command_in("\"$A b\" '$C'"), "sh -c 'exec \"${A}\"'\\'' b'\\'' '\\''$C'\\'''");
}

TEST(CommandWords, AShellsOwnWordsAreRefused) {
  for (const char* command : {"a; b", "a && b", "a | b", "a > b", "$(id)", "`id`", "\"`id`\"", "(a)", "a\nb",
                              "a 'b", "a \"b", "${A:-b}", "$1", "$", "a \\", "a\x07"})
    EXPECT_NE(testing::input_error([&] { words_in(command); }), "no error") << command;
  EXPECT_EQ(testing::input_error([&] { words_in("a; b"); }),
            "c.json:1:1: error: ';' needs a shell, and kiln runs the command without one; quote it if it is "
            "part of a "
            "word, or write "
            "a script and run that; an array of strings is taken as it is");
}

TEST(CommandWords, PatternsStayAndAreNoted) {
  std::vector<std::string> notes;
  EXPECT_EQ(command_text(words_in("ls *.csv", &notes)), "ls '*.csv'");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("'*' is passed on as it is"));
}

}  // namespace
}  // namespace kiln
