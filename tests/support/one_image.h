// A plan of one image in two steps, and a build of it in which a fake ninja makes what the test says.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "factory/engine/architecture.h"
#include "factory/run/build.h"
#include "factory/state/lock.h"
#include "factory/state/record_store.h"
#include "support/built_image.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

// A plan of one image in two steps.
inline BuildPlan one_image(const std::string& target) {
  Resolver resolver({RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                     RecipeDraft(Kind::framework, "hello", {"2.1"}).method("distro", "echo")});
  Matrix one = matrix({axis("framework", {"hello"}), axis("base", {"debian"}), axis("target", {target})});
  one.name = "one";
  return plan_matrix(std::move(one), resolver.input());
}

inline const char* target_of(const std::string& architecture) {
  return architecture == "arm64" ? "neoverse_v1" : "x86_64_v3";
}

// The real files, and what /proc would say of emulators.
class FilesWithEmulators final : public FileSystem {
 public:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override {
    auto set = emulators.find(path.string());
    if (path.string().starts_with("/proc/"))
      return set == emulators.end() ? std::nullopt : std::optional(set->second);
    return real_.read(path, most);
  }
  void write(const fs::path& path, std::string_view bytes) override { real_.write_output(path, bytes); }
  bool exists(const fs::path& path) const override { return real_.exists(path); }
  bool is_directory(const fs::path& path) const override { return real_.is_directory(path); }
  std::vector<std::string> list(const fs::path& folder) const override { return real_.list(folder); }
  void make_directories(const fs::path& path) override { real_.make_directories(path); }
  void remove_all(const fs::path& path) override { real_.remove_all(path); }
  void rename(const fs::path& from, const fs::path& to) override { real_.rename(from, to); }

  std::map<std::string, std::string> emulators;

 private:
  RealFileSystem real_;
};

struct OneImage {
  TemporaryFolder folder;
  FilesWithEmulators files;
  FakeCommandRunner runner;
  FakeClock clock;
  StatePaths state{folder / "state"};
  Site site;
  RecipeBook recipes;
  BuildPlan plan;
  ResolvedImage image = plan.image(0);

  explicit OneImage(const std::string& architecture = own_architecture())
      : plan(one_image(target_of(architecture))) {}

  void die_with_claim(const std::string& key) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Claim claim(state, key, clock, [](const std::string&) {});
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
  }

  BuildReport run() {
    Progress progress(
        ProgressStyle::none, clock, [](const std::string&) {}, false);
    BuildSetup setup{plan, {0}, recipes, site, state, files, runner, clock, {}};
    return build(setup, {2, true, "/usr/bin/kiln"}, progress);
  }

  fs::path built_file() const { return state.built(image.record_name()); }
  std::string key(std::size_t step) const { return plan.steps().hex(image.steps().at(step)); }

  // What `kiln step` leaves: the layers of the steps below, and one of its own with these bytes.
  void make_step(std::size_t number, const std::string& bytes = "") {
    BlobStore store(state.store());
    StepRecord record;
    if (number > 0) record.chain = RecordReader(state, files).step(key(number - 1))->chain;
    record.key = key(number);
    std::string content = bytes.empty() ? "layer of " + record.key : bytes;
    record.chain.layers.push_back({store.put(content, std::string(media_type::kLayerZstd)),
                                   Digest::of("tar of " + content), record.key, "step"});
    RecordWriter(state, files).write(record);
    steps_run.push_back(number);
  }
  // As ninja does: the steps without a record, then the image.
  void make_what_is_missing() {
    for (std::size_t step = 0; step < image.steps().size(); ++step)
      if (!files.exists(state.step(key(step)))) make_step(step);
    make_built();
  }
  void make_built() {
    std::vector<Descriptor> layers;
    if (auto last = RecordReader(state, files).step(key(1)))
      for (const BuiltLayer& layer : last->chain.layers) layers.push_back(layer.blob);
    testing::make_built(names_of(image), state, files, layers);
  }
  Digest layer(std::size_t step) const {
    return RecordReader(state, files).step(key(step))->chain.layers.back().blob.digest;
  }

  std::vector<std::size_t> steps_run{};
};

}  // namespace kiln::testing
