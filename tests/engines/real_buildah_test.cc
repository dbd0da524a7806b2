// The steps of a tiny image through the real buildah and skopeo: a root file system of busybox, as root,
// without network.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "factory/engine/buildah.h"
#include "factory/oci/layout.h"
#include "factory/package/package.h"
#include "factory/run/script.h"
#include "factory/run/step.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::TemporaryFolder;

// A folder, a plan and everything that run_step needs.
class RealBuildah : public ::testing::Test {
 protected:
  RealBuildah() {
    environment["PATH"] = std::getenv("PATH");
    environment["HOME"] = folder.path();
    site.ca_certificates = "";
    site.step_limits = CommandLimits{std::chrono::seconds(100), std::chrono::seconds(50), 1 << 20};
  }

  // Adds a step with one file, its script, to the plan; the key is made as resolve makes it.
  Step& add(StepKind kind, const std::string& component, const std::string& parent,
            const std::string& script) {
    Step step;
    step.kind = kind;
    step.component = component;
    step.title = component + " " + std::string(name_of(kind));
    step.parent = parent;
    step.script = std::string(name_of(kind)) + ".sh";
    step.files = {step.script};
    folder.write("recipes/" + component + "/" + step.script, script);
    recipe_folders[component] = folder / ("recipes/" + component);
    Json inputs = {{"kind", name_of(kind)},
                   {"parent", parent},
                   {"component", component},
                   {"script", {{"name", step.script}, {"digest", Digest::of(script).text()}}},
                   {"files", Json::object()}};
    step.inputs = inputs.dump();
    step.key = Digest::of(step.inputs).hex();
    return steps[step.key] = step;
  }

  Step& add_busybox() {
    return add(StepKind::rootfs, "base/busybox", "", R"sh(
mkdir -p root/bin root/etc root/tmp root/run root/var/log root/opt
cp "$(command -v busybox)" root/bin/busybox
for name in sh ls cat ln mkdir rm mv echo touch chown chmod env ip wc id sleep test grep; do ln -s busybox "root/bin/$name"; done
echo "root:x:0:0:root:/root:/bin/sh" >root/etc/passwd
mkdir root/old && echo old >root/old/file && echo gone >root/gone && echo log >root/var/log/log
tar -C root -cf "$KILN_OUTPUT" .
)sh");
  }

  StepSetup setup() { return {site, state, files, runner, clock, environment, recipe_folders}; }

  StepOutcome run(const Step& step) {
    StepOutcome outcome = run_step(steps.at(step.key), setup());  // a caller may hold an older copy
    if (outcome == StepOutcome::failed) ADD_FAILURE() << folder.read("state/logs/" + step.key + ".log");
    return outcome;
  }

  // Returns once the file has the line, however long that takes.
  void await_line(const std::string& file, const std::string& line) {
    auto is_there = [&] {
      const std::string text = files.read(folder / file).value_or("");
      return text.find("\n" + line + "\n") != std::string::npos;
    };
    while (!is_there()) ::usleep(10'000);
  }

  StepRecord record(const Step& step) {
    return step_record_from_json(
        JsonDocument::parse(folder.read("state/steps/" + step.key + ".json"), "record").root());
  }

  std::string shell(const std::string& text) {
    Command command;
    command.argv = {"/bin/sh", "-c", text};
    command.environment = environment;
    CommandResult result = runner.run(command);
    EXPECT_TRUE(result.ok()) << text << "\n" << result.tail;
    return result.output;
  }

  std::string entries(const BuiltLayer& layer) {
    return shell("zstd -dcq " + BlobStore(state.store()).path(layer.blob.digest).string() + " | tar -tf -");
  }

  TemporaryFolder folder;
  std::map<std::string, Step> steps;
  Site site;
  StatePaths state{folder / "state"};
  RealFileSystem files;
  RealCommandRunner runner;
  RealClock clock;
  std::map<std::string, std::string> environment;
  std::map<std::string, fs::path> recipe_folders;
};

constexpr const char* kChanges = R"sh(
echo new >/new
rm -rf /old /gone && mkdir /old && echo fresh >/old/fresh
echo noise >/var/log/noise; echo noise >/tmp/noise
test "$(cat run.sh | wc -l)" -gt 3
if touch here 2>/dev/null; then echo "the recipe's folder is writable"; exit 1; fi
test "$QUOTES" = "it's \$HOME \`x\` \"y\"
second"
test "$HOME" = /root && test "$KILN_VERSION" = 1.0 && test -n "$KILN_JOBS"
)sh";

TEST_F(RealBuildah, AStepMakesALayerOfWhatChanged) {
  Step base = add_busybox();
  Step& step = add(StepKind::run, "framework/thing", base.key, kChanges);
  step.parameters["KILN_VERSION"] = "1.0";
  step.parameters["QUOTES"] = "it's $HOME `x` \"y\"\nsecond";
  ASSERT_EQ(run(base), StepOutcome::done);
  ASSERT_EQ(run(step), StepOutcome::done);
  ASSERT_EQ(record(step).chain.layers.size(), 2u);
  EXPECT_EQ(entries(record(step).chain.layers[1]),
            "dev/\netc/\n.wh.gone\nnew\nold/\nold/.wh..wh..opq\nold/fresh\nproc/\nrun/\nsys/\ntmp/\nvar/"
            "\nvar/log/\n");
  EXPECT_EQ(run(step), StepOutcome::up_to_date);
  // The engine's store is a cache.
  EXPECT_TRUE(files.list(fs::path(state.engine().string() + ".sessions")).empty());
}

TEST_F(RealBuildah, TheEngineStoreMayGoAtAnyTime) {
  Step base = add_busybox();
  Step step = add(StepKind::run, "framework/one", base.key,
                  "echo one >/one; mkdir -p /deep/er; rm /gone\n# 3\n# 4\n");
  Step next =
      add(StepKind::run, "framework/two", step.key, "cat /one >/two; test ! -e /gone; ls -ld /deep/er\n");
  ASSERT_EQ(run(base), StepOutcome::done);
  ASSERT_EQ(run(step), StepOutcome::done);
  ASSERT_EQ(run(next), StepOutcome::done);
  Digest first = record(next).chain.layers.back().blob.digest;
  files.remove_all(state.engine());
  files.remove_all(state.step(next.key));
  ASSERT_EQ(run(next), StepOutcome::done);
  EXPECT_EQ(record(next).chain.layers.back().blob.digest, first);
}

TEST_F(RealBuildah, TwoStepsImportOneParentAtOnce) {
  Step base = add_busybox();
  std::vector<std::string> keys;
  for (const char* name : {"library/one", "library/two", "library/three"})
    keys.push_back(add(StepKind::run, name, base.key, "echo new >/new\n").key);
  ASSERT_EQ(run(base), StepOutcome::done);
  files.remove_all(state.engine());
  std::vector<pid_t> children;
  for (const std::string& key : keys) {
    children.push_back(::fork());
    if (children.back() == 0) ::_exit(run_step(steps.at(key), setup()) == StepOutcome::done ? 0 : 1);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    int status = 1;
    ::waitpid(children[i], &status, 0);
    EXPECT_EQ(status, 0) << folder.read("state/logs/" + keys[i] + ".log");
    EXPECT_EQ(record(steps.at(keys[i])).chain.layers.back().diff_id,
              record(steps.at(keys[0])).chain.layers.back().diff_id);
  }
}

TEST_F(RealBuildah, AKilledStepLeavesNothingThatHurts) {
  Step base = add_busybox();
  Step step = add(StepKind::run, "framework/thing", base.key,
                  "echo half >/half; echo half\n[ -z \"${STAY:-}\" ] || sleep 1000\necho whole >/whole\n");
  ASSERT_EQ(run(base), StepOutcome::done);
  site.pass_environment = {"STAY"};
  environment["STAY"] = "yes";
  pid_t child = ::fork();
  if (child == 0) ::_exit(run_step(step, setup()) == StepOutcome::done ? 0 : 1);
  environment.erase("STAY");
  await_line("state/logs/" + step.key + ".log", "half");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(files.exists(state.step(step.key)));
  EXPECT_EQ(files.list(state.engine().string() + ".sessions").size(), 1u);
  ASSERT_EQ(run(step), StepOutcome::done);
  EXPECT_NE(entries(record(step).chain.layers.back()).find("whole\n"), std::string::npos);
  EXPECT_EQ(files.list(state.engine().string() + ".sessions").size(), 0u);
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});
  EXPECT_EQ(shell("grep -c " + (state.engine() / "").string() + " /proc/self/mountinfo || true"), "0\n");
}

TEST_F(RealBuildah, TheSameStepsGiveTheSameLayers) {
  Step base = add_busybox();
  Step step =
      add(StepKind::run, "framework/one", base.key, "echo one >/one; ln /one /also; ln -s one /link\n");
  std::vector<Digest> layers;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run(base), StepOutcome::done);
    ASSERT_EQ(run(step), StepOutcome::done);
    for (const BuiltLayer& layer : record(step).chain.layers) layers.push_back(layer.blob.digest);
    files.remove_all(state.root());
  }
  EXPECT_EQ(layers[0], layers[2]);
  EXPECT_EQ(layers[1], layers[3]);
}

TEST_F(RealBuildah, ABuildStageLeavesOnlyWhatIsCopied) {
  Step base = add_busybox();
  Step build = add(StepKind::run, "library/lib", base.key, R"sh(
mkdir -p /opt/kiln/lib/bin && cd /opt/kiln/lib && echo tool >bin/tool && chmod 4711 bin/tool && chown 7:8 bin && ln bin/tool bin/also
ln -s /etc/passwd link && echo source >/source
)sh");
  Step copy = add(StepKind::copy, "library/lib", base.key, "");
  steps[copy.key].from = build.key;
  steps[copy.key].copy = {"/opt/kiln/lib"};
  for (const Step* step : {&base, &build, &copy}) ASSERT_EQ(run(*step), StepOutcome::done);
  EXPECT_EQ(entries(record(copy).chain.layers.back()),
            "opt/\nopt/kiln/\nopt/kiln/lib/\nopt/kiln/lib/bin/\nopt/kiln/lib/bin/also\nopt/kiln/lib/bin/"
            "tool\nopt/kiln/lib/link\n");
  std::string details = shell(
      "zstd -dcq " + BlobStore(state.store()).path(record(copy).chain.layers.back().blob.digest).string() +
      " | tar --numeric-owner -tvf -");
  EXPECT_NE(details.find("drwxr-xr-x 7/8"), std::string::npos) << details;
  EXPECT_NE(details.find("-rws--x--x"), std::string::npos) << details;
  EXPECT_NE(details.find("tool link to opt/kiln/lib/bin/also"), std::string::npos) << details;
}

TEST_F(RealBuildah, ACopyOfNothingFailsAndSaysSo) {
  Step base = add_busybox();
  Step copy = add(StepKind::copy, "library/lib", base.key, "");
  steps[copy.key].from = base.key;
  steps[copy.key].copy = {"/opt/kiln/nothing"};
  ASSERT_EQ(run(base), StepOutcome::done);
  EXPECT_EQ(run_step(steps.at(copy.key), setup()), StepOutcome::failed);
  EXPECT_NE(folder.read("state/logs/" + copy.key + ".log")
                .find("the build stage left nothing at /opt/kiln/nothing"),
            std::string::npos);
}

TEST_F(RealBuildah, TestsHaveNoNetworkAndSayWhatTheyProved) {
  Step base = add_busybox();
  Step test = add(StepKind::test, "framework/thing", base.key, R"sh(
test "$(ip -o link | wc -l)" = 1
ip -o link | grep -q 'lo.*UP'
if ip route | grep .; then exit 1; fi
echo noise >&2
echo "proved"
)sh");
  ASSERT_EQ(run(base), StepOutcome::done);
  ASSERT_EQ(run(test), StepOutcome::done);
  auto record = test_record_from_json(
      JsonDocument::parse(folder.read("state/tests/" + test.key + ".json"), "t").root());
  EXPECT_EQ(record.last_line, "proved");
}

TEST_F(RealBuildah, AFailingScriptLeavesARecordALogAndNoContainer) {
  Step base = add_busybox();
  Step step = add(StepKind::run, "framework/thing", base.key, "echo before; false; echo after\n");
  ASSERT_EQ(run(base), StepOutcome::done);
  EXPECT_EQ(run_step(step, setup()), StepOutcome::failed);
  auto failure = failure_record_from_json(
      JsonDocument::parse(folder.read("state/failed/" + step.key + ".json"), "f").root());
  EXPECT_EQ(failure.what, "exit status 1: before");
  EXPECT_EQ(failure.failure, FailureClass::build);
  EXPECT_FALSE(files.exists(state.step(step.key)));
  std::string log = folder.read("state/logs/" + step.key + ".log");
  EXPECT_TRUE(log.starts_with("# framework/thing run\n")) << log;
  EXPECT_NE(log.find("\nbefore\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("\nafter\n"), std::string::npos) << log;
  std::string containers =
      shell("buildah --root " + (state.engine() / "root").string() + " --runroot " +
            (state.engine() / "run").string() + " --storage-driver overlay containers -q");
  EXPECT_EQ(containers, "");
}

TEST_F(RealBuildah, ASilentScriptIsStopped) {
  Step base = add_busybox();
  Step step = add(StepKind::run, "framework/thing", base.key, "echo now; sleep 60\n");
  ASSERT_EQ(run(base), StepOutcome::done);
  site.step_limits.silence = std::chrono::seconds(1);
  EXPECT_EQ(run_step(step, setup()), StepOutcome::failed);
  auto failure = failure_record_from_json(
      JsonDocument::parse(folder.read("state/failed/" + step.key + ".json"), "f").root());
  EXPECT_EQ(failure.what, "killed after 1 s of silence");
}

TEST_F(RealBuildah, RunInImageCapturesWhatAWorkloadPrints) {
  Step base = add_busybox();
  ASSERT_EQ(run(base), StepOutcome::done);
  folder.write("bench/run.sh", "echo \"$SAMPLES\"; echo noise >&2\n");
  const ImageRun wanted{{"/bin/sh", "-eu", "run.sh"},
                        folder / "bench",
                        {{"SAMPLES", "[1]"}},
                        folder / "state/logs/bench.log",
                        true};
  CommandResult result = run_in_image(record(base), wanted, setup());
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(result.output, "[1]\n");
  EXPECT_NE(folder.read("state/logs/bench.log").find("noise"), std::string::npos);
}

// What is packaged is an image to skopeo and buildah, and can be pulled as the base of another one.
TEST_F(RealBuildah, OtherToolsReadThePackageAndItCanBeABase) {
  Step base = add_busybox();
  ASSERT_EQ(run(base), StepOutcome::done);
  ImageSpec spec;
  spec.repository = "busybox";
  spec.tag = "1.0-distro";
  spec.immutable_tag = "1.0-distro-0123456789ab";
  spec.key = base.key;
  spec.components = {{Kind::base, "busybox", Version("1.0"), "distro"}};
  spec.environment = {{"GREETING", "hello"}};
  spec.command = {"/bin/sh"};
  spec.labels = {{"org.opencontainers.image.title", "busybox"}};
  const Artifact artifact = compose(spec, record(base).chain, {}, 315532800);
  const fs::path folder_of_layout = folder / "layout";
  write_layout(folder_of_layout, artifact.image, BlobStore(state.store()), files);
  const std::string layout = folder_of_layout.string();

  Json inspected = Json::parse(shell("skopeo inspect oci:" + layout + ":1.0-distro"));
  EXPECT_EQ(inspected["Digest"], artifact.manifest.digest.text());
  EXPECT_EQ(inspected["Labels"]["org.opencontainers.image.title"], "busybox");
  EXPECT_EQ(inspected["Created"], "1980-01-01T00:00:00Z");

  Step pull = add(StepKind::pull, "base/pulled", "", "");
  steps[pull.key].reference = "oci:" + layout + ":1.0-distro";
  Step step = add(StepKind::run, "framework/thing", pull.key, "test \"$GREETING\" = hello; echo new >/new\n");
  files.remove_all(state.engine());
  ASSERT_EQ(run(pull), StepOutcome::done);
  EXPECT_EQ(record(pull).chain.layers[0].blob, record(base).chain.layers[0].blob);
  ASSERT_EQ(run(step), StepOutcome::done);
}

}  // namespace
}  // namespace kiln
