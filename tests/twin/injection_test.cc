// Text from a recipe or a matrix never becomes an instruction or a section: hostile strings in every place
// where text from outside lands are either refused by the reader that owns the place, or come back from the
// parsers as they went in.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "factory/render/render.h"
#include "factory/twin/twin.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

// Of shells, Dockerfiles, definition files and Unicode, in the order in which they are drawn.
const std::vector<std::string> kHostilePieces = {"'",
                                                 "\"",
                                                 "\\",
                                                 "\\\\",
                                                 "$",
                                                 "$(",
                                                 "${",
                                                 "`",
                                                 "{{",
                                                 "{",
                                                 "}}",
                                                 "{{ x }}",
                                                 "%",
                                                 "%post",
                                                 "\n%post\n",
                                                 "# syntax=x",
                                                 "#",
                                                 "\n# escape=`\n",
                                                 "EOF",
                                                 "<<EOF",
                                                 "<<-EOF",
                                                 "\nEOF\n",
                                                 "\nRUN id\n",
                                                 "\nFROM x\n",
                                                 "RUN ",
                                                 "\nBootstrap: docker\n",
                                                 "Bootstrap: ",
                                                 "Stage: x",
                                                 " ",
                                                 "  ",
                                                 "\t",
                                                 "\n",
                                                 "\r",
                                                 "\r\n",
                                                 "\v",
                                                 "\f",
                                                 std::string(1, '\0'),
                                                 "\xc2\x85",
                                                 "\xc2\xa0",
                                                 "\xe2\x80\xa8",
                                                 "\xe2\x80\xa9",
                                                 "\xe2\x80\x8b",
                                                 "\xef\xbb\xbf",
                                                 "é",
                                                 "\xf0\x9f\x94\xa5",
                                                 "a",
                                                 "b c",
                                                 "=",
                                                 "&&",
                                                 ";",
                                                 "|",
                                                 ">",
                                                 "<",
                                                 "(",
                                                 ")",
                                                 "[\"x\"]",
                                                 "*",
                                                 "?",
                                                 "~",
                                                 "!",
                                                 "..",
                                                 "/",
                                                 "-",
                                                 "--mount=x",
                                                 "\\\n",
                                                 "\x7f",
                                                 "\x1b[0m"};

// The same strings in every run.
class Hostile {
 public:
  explicit Hostile(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string value;
    for (auto length = 1 + random_() % 6; length > 0; --length)
      value += kHostilePieces[random_() % kHostilePieces.size()];
    return value;
  }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::string line() {  // what readers let through as a line of text
    std::string value = text();
    std::erase_if(value, [](char c) { return (static_cast<unsigned char>(c) < 0x20) || c == '\x7f'; });
    return value;
  }

 private:
  std::mt19937 random_;
};

struct Outcome {
  int proved = 0;
  int refused = 0;
  void of(const ImageSpec& spec) {
    std::string dockerfile;
    std::string definition;
    try {
      dockerfile = render_dockerfile(spec);
      definition = render_singularity(spec);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << error.format();
      ++refused;
      return;
    }
    auto lines = twin_differences(spec, dockerfile, definition);
    EXPECT_TRUE(lines.empty()) << lines.front();
    ++proved;
  }
};

// Puts texts into one of the kPlaces places of a spec where text from outside can stand.
constexpr int kPlaces = 14;
void plant(ImageSpec& spec, int place, const std::function<std::string()>& text) {
  Step& step = spec.stages[1].steps[2];
  switch (place) {
    case 0:
      spec.labels["org.opencontainers.image.description"] = text();
      break;
    case 1:
      spec.labels[text()] = "x";
      break;
    case 2:
      spec.environment["HOSTILE"] = text();
      break;
    case 3:
      spec.environment[text()] = "x";
      break;
    case 4:
      spec.command.push_back(text());
      break;
    case 5:
      step.parameters["HOSTILE"] = text();
      break;
    case 6:
      step.parameters[text()] = "x";
      break;
    case 7:
      step.script = text();
      break;
    case 8:
      step.title = text();
      break;
    case 9:
      step.component = "framework/" + text();
      break;
    case 10:
      spec.stages[1].steps[1].copy[0] = "/" + text();
      break;
    case 11:
      spec.tests[0].parameters["HOSTILE"] = text();
      break;
    case 12:
      spec.request.id = text();
      spec.target.name = text();
      break;
    default: {
      std::string reference = text();
      for (Stage& stage : spec.stages) {
        stage.name = text();
        stage.steps[0].kind = StepKind::pull;
        stage.steps[0].script = "";
        stage.steps[0].reference = reference;
      }
    }
  }
}

// Straight into the emitters, which no reader guards here.
TEST(Injection, NothingInASpecBreaksOutOfItsPlace) {
  Outcome all;
  Hostile hostile(1);
  for (int i = 0; i < 3000; ++i) {
    ImageSpec spec = sample_spec();
    auto text = [&] { return hostile.chance(4) ? hostile.text() : hostile.line(); };
    for (int many = 1 + i % 3; many > 0; --many) plant(spec, (i * 3 + many) % kPlaces, text);
    all.of(spec);
  }
  EXPECT_GT(all.proved, 500);
  EXPECT_GT(all.refused, 500);
}

TEST(Injection, BracesOfACommandComeBack) {
  ImageSpec spec = sample_spec();
  spec.command.push_back("0" + std::string(57, '{') + ";{[" + std::string(6, '{') + ";{t{{{");
  EXPECT_EQ(twin_differences(spec, render_dockerfile(spec), render_singularity(spec)),
            std::vector<std::string>{});
}

TEST(Injection, ALabelIsNoFlagOfItsInstruction) {
  for (const char* name : {"--link", "-x", ".a", "_a", ""}) {
    ImageSpec spec = sample_spec();
    spec.labels[name] = "x";
    EXPECT_THROW(render_dockerfile(spec), Error) << name;
  }
  ImageSpec spec = sample_spec();
  spec.labels["0.a_b/c-d"] = "x";
  EXPECT_EQ(twin_differences(spec, render_dockerfile(spec), render_singularity(spec)),
            std::vector<std::string>{});
}

// A reference that is a word of FROM's own, or the name of a stage, is no reference.
TEST(Injection, AReferenceNeverMeansAStage) {
  for (const char* reference : {"scratch", "SCRATCH", "base", "Base", "base-2", "--platform=x", "-",
                                "build-openblas", "image", "0"}) {
    ImageSpec spec = sample_spec();
    spec.stages[0].steps[0].kind = StepKind::pull;
    spec.stages[0].steps[0].script = "";
    spec.stages[0].steps[0].reference = "docker.io/library/debian";
    spec.stages[0].steps[0].key = Digest::of("other").hex();
    spec.stages[1].steps[0].kind = StepKind::pull;
    spec.stages[1].steps[0].script = "";
    spec.stages[1].steps[0].reference = reference;
    Outcome one;
    one.of(spec);
    EXPECT_EQ(one.proved + one.refused, 1) << reference;
  }
}

// A recipe with hostile text in one of its places, and a matrix that asks for it.
struct Written {
  Json base = {{"versions", {{"1", Json::object()}}},
               {"methods", {{"hub", {{"image", "docker.io/library/debian:{version}"}}}}}};
  Json framework = {
      {"description", "a framework"},
      {"licenses", "MIT"},
      {"homepage", "https://x"},
      {"versions",
       {{"2.0", {{"facts", {{"note", "x"}}}, {"source", {{"url", "https://x/y"}, {"checksum", ""}}}}}}},
      {"methods",
       {{"pip",
         {{"script", "pip.sh"},
          {"parameters", {"KILN_FACT_NOTE", "KILN_SOURCE_URL", "KILN_VERSION"}},
          {"environment", {{"HOME_OF_IT", "x"}}},
          {"build", {{"script", "build.sh"}, {"copy", {"/opt/x"}}}}}}}},
      {"test", {{"script", "smoke.sh"}}}};
  Json matrix = {{"name", "m"},
                 {"axes",
                  {{"framework", {"f"}},
                   {"version", {"2.0"}},
                   {"method", {"pip"}},
                   {"base", {"b"}},
                   {"target", {"x86_64"}}}}};
};

void spoil(Written& written, int place, const std::string& text) {
  Json& method = written.framework["methods"]["pip"];
  Json& version = written.framework["versions"]["2.0"];
  switch (place) {
    case 0:
      written.framework["description"] = text;
      break;
    case 1:
      written.framework["licenses"] = text;
      break;
    case 2:
      written.framework["homepage"] = text;
      break;
    case 3:
      version["facts"]["note"] = text;
      break;
    case 4:
      version["source"]["url"] = "https://x/" + text;
      break;
    case 5:
      method["environment"]["HOME_OF_IT"] = text;
      break;
    case 6:
      method["environment"][text] = "x";
      break;
    case 7:
      method["script"] = text;
      break;
    case 8:
      method["build"]["copy"] = {"/" + text};
      break;
    case 9:
      method["parameters"].push_back(text);
      break;
    case 10:
      written.base["methods"]["hub"]["image"] = text;
      break;
    case 11:
      written.matrix["name"] = text;
      break;
    case 12:
      version["facts"] = {{text, "x"}, {"note", "y"}};
      break;
    case 13:
      written.framework["versions"][text] = Json::object();
      written.matrix["axes"]["version"] = {text};
      break;
    case 14:
      written.matrix["axes"]["target"] = {text};
      break;
    case 15:
      written.matrix["axes"]["framework"] = {"f@" + text};
      break;
    default:
      written.matrix["axes"]["base"] = {text};
      break;
  }
}

// From the bytes of a recipe to the parsed twins.
bool survives(const Written& written, Outcome& outcome) {
  FakeFileSystem disk;
  const std::string folder = "recipes/framework/f/";
  disk.files = {
      {"recipes/base/b/recipe.json", written.base.dump(-1, ' ', false, Json::error_handler_t::ignore)},
      {folder + "recipe.json", written.framework.dump(-1, ' ', false, Json::error_handler_t::ignore)},
      {folder + "pip.sh", "true\n"},
      {folder + "build.sh", "true\n"},
      {folder + "smoke.sh", "true\n"},
      {"m.json", written.matrix.dump(-1, ' ', false, Json::error_handler_t::ignore)}};
  try {
    const Json& script = written.framework["methods"]["pip"]["script"];
    if (script.is_string()) disk.files.emplace(folder + script.get<std::string>(), "true\n");
    RecipeBook recipes = RecipeBook::read(disk, {"recipes"});
    TargetBook targets(archspec());
    BuildPlan plan = plan_matrix(read_matrix(disk, "m.json"), {recipes, targets, archspec()});
    for (const ImageSpec& image : specs_of(plan)) outcome.of(image);
    return plan.size() > 0;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.format();
    ++outcome.refused;
    return false;
  }
}

TEST(Injection, NothingInARecipeOrAMatrixBreaksOutOfItsPlace) {
  Written plain;
  plain.framework["versions"]["2.0"]["source"]["checksum"] = "git:" + std::string(40, 'a');
  Outcome all;
  ASSERT_TRUE(survives(plain, all));
  Hostile hostile(2);
  for (int place = 0; place < 17; ++place) {
    for (int i = 0; i < 60; ++i) {
      Written written = plain;
      spoil(written, place, i % 3 == 0 ? hostile.text() : hostile.line());
      survives(written, all);
    }
  }
  EXPECT_GT(all.proved, 250);
  EXPECT_GT(all.refused, 250);
}

}  // namespace
}  // namespace kiln::testing
