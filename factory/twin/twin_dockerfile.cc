// Dockerfile → TwinImage.
#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/render/render.h"
#include "factory/twin/twin_reading.h"

namespace kiln {
namespace {

constexpr std::string_view kMounts = "/run/kiln";

class DockerfileTwin {
 public:
  DockerfileTwin(const Dockerfile& dockerfile, std::vector<std::string>& problems)
      : dockerfile_(dockerfile), problems_(problems), count_(dockerfile.stages.size()) {
    if (count_ >= 3 && dockerfile.stages[count_ - 2].name == "kiln-test") count_ -= 2;
  }
  TwinImage read();

 private:
  bool read_base(std::size_t index);
  void read_stage(std::size_t index);
  void read_instruction(const DockerInstruction& one, std::size_t stage, TwinStage& out);
  void read_run(const DockerInstruction& one, std::size_t stage, TwinStage& out);
  bool read_mount(const std::string& mount, std::size_t stage, TwinStep& step) const;
  void read_copy(const DockerInstruction& one, std::size_t stage, TwinStage& out);
  void read_pairs(const DockerInstruction& one, NamedWords& out);
  void read_tests();
  void read_test(const DockerInstruction& one);
  void problem(Position place, std::string_view what) {
    problems_.push_back(fmt::format("{}:{}: {}", dockerfile_.file, place.line, what));
  }
  std::string expand(const std::string& word, Position place) const {
    auto none = [](std::string_view) -> std::optional<std::string> { return "(variable)"; };
    return expand_docker_word(word, none, dockerfile_.escape, dockerfile_.file, place);
  }

  const Dockerfile& dockerfile_;
  std::vector<std::string>& problems_;
  std::size_t count_;  // of the stages that make the image; those that test it come after
  const std::vector<std::string> always_ = always_there(true);
  TwinImage image_;
  std::vector<std::string> bases_;    // by index of the file's stage; "" for a stage of the plan
  std::vector<std::size_t> planned_;  // index of the file's stage → of the plan's
  std::vector<bool> used_;            // bases
  bool entry_reset_ = false;
};

TwinImage DockerfileTwin::read() {
  for (const Directive& directive : dockerfile_.directives) problem(directive.place, "a directive");
  for (const DockerInstruction& argument : dockerfile_.arguments) problem(argument.place, "an ARG");
  bases_.resize(count_);
  planned_.resize(count_);
  used_.assign(count_, true);
  for (std::size_t i = 0; i < count_; ++i)
    if (!read_base(i)) read_stage(i);
  for (std::size_t i = 0; i < count_; ++i)
    if (!used_[i]) problem(dockerfile_.stages[i].from.place, "a base that no stage starts from");
  read_tests();
  if (!image_.command.empty() && !entry_reset_)
    problems_.push_back(dockerfile_.file + ": the base's ENTRYPOINT stays");
  return std::move(image_);
}

// A stage that starts from nothing of this file is a base: `FROM scratch` and `ADD rootfs.tar /`, or an
// image.
bool DockerfileTwin::read_base(std::size_t index) {
  const DockerStage& stage = dockerfile_.stages[index];
  if (dockerfile_.stage_named(stage.base, index)) return false;
  if (!stage.from.flags.empty()) problem(stage.from.place, "a flag of FROM");
  used_[index] = false;
  bases_[index] = expand(stage.base, stage.from.place);
  std::size_t expected = 0;
  if (stage.base == "scratch") {
    expected = 1;
    const auto& body = stage.instructions;
    bool adds = !body.empty() && body[0].verb == DockerVerb::add && body[0].flags.empty() &&
                body[0].words.size() == 2 && body[0].heredocs.empty() && body[0].words[1].text == "/";
    if (!adds) {
      problem(stage.from.place, "FROM scratch without its root file system");
      return true;
    }
    bases_[index] = body[0].words[0].text;
  }
  for (std::size_t i = expected; i < stage.instructions.size(); ++i)
    problem(stage.instructions[i].place, fmt::format("{} in a base", name_of(stage.instructions[i].verb)));
  return true;
}

void DockerfileTwin::read_stage(std::size_t index) {
  const DockerStage& stage = dockerfile_.stages[index];
  if (!stage.from.flags.empty()) problem(stage.from.place, "a flag of FROM");
  std::size_t base = *dockerfile_.stage_named(stage.base, index);
  if (bases_[base].empty()) problem(stage.from.place, fmt::format("'{}' is no base", stage.base));
  used_[base] = true;
  planned_[index] = image_.stages.size();
  TwinStage out;
  out.base = bases_[base];
  out.line = stage.from.place.line;
  for (const DockerInstruction& one : stage.instructions) read_instruction(one, index, out);
  image_.stages.push_back(std::move(out));
}

void DockerfileTwin::read_instruction(const DockerInstruction& one, std::size_t stage, TwinStage& out) {
  bool last = stage + 1 == count_;
  bool steps_over = !image_.environment.empty() || !image_.labels.empty() || !image_.command.empty();
  bool step = one.verb == DockerVerb::run || one.verb == DockerVerb::copy;
  if (step && steps_over) problem(one.place, "a step after the image's configuration");
  if (one.verb == DockerVerb::run) {
    read_run(one, stage, out);
  } else if (one.verb == DockerVerb::copy) {
    read_copy(one, stage, out);
  } else if (last && one.verb == DockerVerb::env && image_.labels.empty() && image_.command.empty()) {
    read_pairs(one, image_.environment);
  } else if (last && one.verb == DockerVerb::label && image_.command.empty()) {
    read_pairs(one, image_.labels);
  } else if (last && one.verb == DockerVerb::entrypoint && one.exec && one.words.empty() && !entry_reset_) {
    entry_reset_ = true;  // as %runscript has no entry point of the base's
  } else if (last && one.verb == DockerVerb::cmd && one.exec && !one.words.empty() &&
             image_.command.empty()) {
    for (const DockerWord& word : one.words) image_.command.push_back(word.text);
  } else {
    problem(one.place, fmt::format("{} does not belong here", name_of(one.verb)));
  }
}

// The mounts that the folder of a script needs, in their order.
std::vector<std::string> mounts_of(const std::string& folder) {
  return {fmt::format("type=bind,source=scripts/{0},target={1}/{0}", folder, kMounts),
          fmt::format("type=bind,source=site,target={}/site", kMounts),
          fmt::format("type=secret,id=pip.conf,target={}/secrets/pip.conf", kMounts),
          fmt::format("type=secret,id=gitconfig,target={}/secrets/gitconfig", kMounts),
          fmt::format("type=secret,id=ca-certificates.crt,target={}/secrets/ca-certificates.crt", kMounts)};
}

// The recipe's secret that a mount hands in, as kiln writes it; "" of any other mount.
std::string secret_of(const std::string& mount) {
  constexpr std::string_view kBefore = "type=secret,id=";
  if (!mount.starts_with(kBefore)) return "";
  std::string name = mount.substr(kBefore.size(), mount.find(',', kBefore.size()) - kBefore.size());
  return mount == fmt::format("{0}{1},target={2}/secrets/{1},required=true", kBefore, name, kMounts) ? name
                                                                                                     : "";
}

// `type=bind,from=STAGE,source=PATH,target=PATH`: a path of an earlier stage. Adds it to the step's.
bool DockerfileTwin::read_mount(const std::string& mount, std::size_t stage, TwinStep& step) const {
  constexpr std::string_view kBefore = "type=bind,from=";
  if (!mount.starts_with(kBefore)) return false;
  const std::vector<std::string_view> words = split(std::string_view(mount).substr(kBefore.size()), ',');
  if (words.size() != 3 || !words[1].starts_with("source=/")) return false;
  const std::string path(words[1].substr(std::string_view("source=").size()));
  auto from = dockerfile_.copied_stage(std::string(words[0]), stage);
  if (words[2] != "target=" + path || !from || !bases_[*from].empty()) return false;
  if (!step.paths.empty() && step.from != planned_[*from]) return false;
  step.from = planned_[*from];
  step.paths.push_back(path);
  return true;
}

void DockerfileTwin::read_run(const DockerInstruction& one, std::size_t stage, TwinStage& out) {
  ShellTokens tokens = shell_tokens(one.text);
  TokenCursor cursor(tokens.tokens.begin(), tokens.tokens.end());
  std::optional<TwinScript> script;
  bool plain = !one.exec && one.heredocs.empty() && tokens.complete;
  if (plain && cursor.accept_all(". /run/kiln/site/environment.sh &&"))
    script = read_script(cursor, kMounts, always_);
  if (!script || !cursor.done()) return problem(one.place, "a command that kiln does not write");
  std::vector<std::string> mounts;
  TwinStep step;
  for (const DockerFlag& flag : one.flags) {
    std::string mount = flag.name == "mount" ? flag.value : "--" + flag.name;
    if (read_mount(mount, stage, step)) continue;
    if (std::string name = secret_of(mount); !name.empty())
      script->secrets.push_back(std::move(name));
    else
      mounts.push_back(std::move(mount));
  }
  if (mounts != mounts_of(script->folder)) problem(one.place, "other mounts than those of a step");
  script->line = one.place.line;
  step.run = std::move(*script);
  step.line = one.place.line;
  out.steps.push_back(std::move(step));
}

// The COPY instructions of one step stand together; which belong together the plan knows.
void DockerfileTwin::read_copy(const DockerInstruction& one, std::size_t stage, TwinStage& out) {
  auto from = one.flags.size() == 1 && one.flags[0].name == "from"
                  ? dockerfile_.copied_stage(one.flags[0].value, stage)
                  : std::nullopt;
  bool known = from && bases_[*from].empty() && one.words.size() == 2 && one.heredocs.empty() && !one.exec;
  if (!known || one.words[0].text != one.words[1].text)
    return problem(one.place, "a copy that kiln does not write");
  out.steps.push_back({{}, planned_[*from], {expand(one.words[0].text, one.place)}, one.place.line});
}

void DockerfileTwin::read_pairs(const DockerInstruction& one, NamedWords& out) {
  if (!out.empty()) problem(one.place, fmt::format("a second {}", name_of(one.verb)));
  for (const DockerPair& pair : one.pairs)
    out.emplace_back(expand(pair.name, pair.place), expand(pair.value, pair.place));
}

// `FROM image AS kiln-test`, a RUN for each test, and `FROM image` again.
void DockerfileTwin::read_tests() {
  const auto& stages = dockerfile_.stages;
  if (count_ == stages.size()) return;
  const DockerStage& test = stages[count_];
  const DockerStage& last = stages.back();
  if (last.base != stages[count_ - 1].name || !last.name.empty() || !last.instructions.empty() ||
      test.base != last.base || !last.from.flags.empty() || !test.from.flags.empty())
    problem(last.from.place, "the last stage is not the image alone");
  for (const DockerInstruction& one : test.instructions) read_test(one);
}

void DockerfileTwin::read_test(const DockerInstruction& one) {
  ShellTokens tokens = shell_tokens(one.text);
  TokenCursor cursor(tokens.tokens.begin(), tokens.tokens.end());
  std::optional<TwinScript> test;
  if (one.verb == DockerVerb::run && !one.exec && one.heredocs.empty() && tokens.complete)
    test = read_script(cursor, kMounts, always_there(false));
  if (!test || !cursor.done() || one.flags.size() != 1 || one.flags[0].name != "mount" ||
      one.flags[0].value != fmt::format("type=bind,source=scripts/{0},target={1}/{0}", test->folder, kMounts))
    return problem(one.place, "a test that kiln does not write");
  test->line = one.place.line;
  image_.tests.push_back(std::move(*test));
}

}  // namespace

TwinImage read_twin(const Dockerfile& dockerfile, std::vector<std::string>& problems) {
  return DockerfileTwin(dockerfile, problems).read();
}

}  // namespace kiln
