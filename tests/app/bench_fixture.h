// Images of PyTorch, a workload and a machine that measures them, without containers.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/app/image_bench.h"
#include "support/built_image.h"
#include "support/fake_effects.h"
#include "support/memory_folder.h"
#include "support/plan_fixture.h"

namespace kiln::testing {

// The distribution's PyTorch is the stock image. `more`: axes in addition to those of one cell.
inline Catalogue bench_catalogue(std::vector<Axis> more) {
  std::vector<RecipeDraft> drafts = demo_recipes();
  for (RecipeDraft& draft : drafts)
    if (draft.get().name == "pytorch") draft.get().methods.front().stock = true;
  drafts.push_back(RecipeDraft(Kind::workload, "mnist-cnn", {"1"}).method("run", "train"));
  RecipeBook recipes = book(std::move(drafts));
  std::vector<Axis> axes = {axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                            axis("base", {"debian"})};
  for (Axis& one : more) axes.push_back(std::move(one));
  const TargetBook targets(archspec());
  BuildPlan plan = plan_matrix(matrix(std::move(axes)), {recipes, targets, archspec()});
  return {std::move(recipes), std::move(plan)};
}

inline HostDescription bench_host() {
  HostDescription host;
  host.cpu = "zen3";
  host.model = "EPYC";
  host.cores = 2;
  return host;
}

inline BenchRun run_of(const BenchRequest& request, std::int64_t now) {
  BenchRun run;
  run.workload = request.workload.name;
  run.unit = "ms/step";
  run.samples = {10, 11, 10};
  run.key = request.image.key;
  run.name = request.image.repository + ":" + request.image.tag;
  run.host = request.host;
  run.round = request.round;
  run.session = request.session;
  run.workload_files = request.workload_files;
  run.taken = rfc3339(now);
  run.kiln = request.kiln;
  return run;
}

// A state folder and an index, in which images are built and published as the test says.
class BenchFixture : public ::testing::Test {
 protected:
  explicit BenchFixture(std::vector<Axis> more) : catalogue_(bench_catalogue(std::move(more))) {}

  ResolvedImage image(std::uint32_t number) const { return catalogue_.plan.image(number); }
  std::string name(std::uint32_t number) const { return image(number).reference(); }
  fs::path last_step(std::uint32_t number) const { return state_.step(image(number).spec().last_step().key); }
  void build(std::uint32_t number) { files_.write(last_step(number), "{}"); }
  void publish(const ImageNumbers& numbers) {
    std::vector<ImageRecord> records;
    for (const std::uint32_t number : numbers)
      records.push_back(make_built(names_of(image(number)), state_, files_));
    index_.publish(records, {}, "2026-11-20T10:00:00Z", catalogue_.plan.name());
  }

  MemoryFolder folder_;
  RealFileSystem files_;
  FakeClock clock_;
  StatePaths state_{folder_.path()};
  Catalogue catalogue_;
  Index index_ = Index::open(folder_.path(), Index::Mode::write);
};

}  // namespace kiln::testing
