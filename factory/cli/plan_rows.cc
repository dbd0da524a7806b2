#include "cli/plan_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <system_error>

#include "base/json_stream.h"
#include "cli/lock_use.h"
#include "cli/plan_text.h"
#include "cli/standing.h"
#include "cli/table.h"

namespace kiln {
namespace {

// Each one's record is a file to read: of more, --explain and --format json say what they took.
constexpr std::size_t kMostMeasured = 1000;

class PlannerCells : public CellList {
 public:
  PlannerCells(Planner& planner, const std::string& name) : planner_(&planner), name_(&name) {}
  const std::string& name() const override { return *name_; }
  std::size_t images() const override { return planner_->images(); }
  CellNames image(std::size_t number) override {
    planner_->go_to(number);
    const ImageRequest& request = planner_->request();
    return {request.id, planner_->tag(), planner_->repository() + ":" + planner_->tag(), request.axes};
  }
  std::size_t excluded() const override { return planner_->excluded(); }
  ExcludedCell excluded_cell(std::size_t number) override { return planner_->excluded(number); }

 private:
  Planner* planner_;
  const std::string* name_;
};

// A catalogue and the state folder, read; its planner at the first cell.
class OpenPlan {
 public:
  OpenPlan(const CellOptions& options, Invocation& invocation)
      : options_(options),
        invocation_(invocation),
        lock_(find_lockfile(options.matrix, invocation)),
        read_(invocation.read(options.matrix, lock_ ? &*lock_ : nullptr)),
        planner_(read_.matrix, {read_.recipes, read_.targets, invocation.cpus()}),
        paths_(invocation.state()),
        site_(invocation.site()),
        state_(read_.matrix.name, site_, paths_, invocation.files) {}

  // Goes through all images, and says on stderr what is to be said of them.
  void plan(const std::function<void()>& at_image) {
    LockNeedCollector needs(read_.recipes, invocation_.cpus());
    while (planner_.next()) {
      if (lock_) needs.add(planner_.image().spec);
      at_image();
    }
    invocation_.note_plan(name(), planner_.warnings(), planner_.images(), planner_.excluded());
    if (lock_) check_lock(needs.needs(), *lock_, options_.matrix, invocation_);
  }

  // REQUIRES: plan() has returned.
  ChosenCells choose() {
    ChosenCells chosen;
    if (options_.every_cell()) {
      chosen.images.resize(planner_.images());
      chosen.excluded.resize(planner_.excluded());
      std::iota(chosen.images.begin(), chosen.images.end(), 0);
      std::iota(chosen.excluded.begin(), chosen.excluded.end(), 0);
      return chosen;
    }
    PlannerCells cells(planner_, name());
    chosen = match_cells(cells, options_.patterns());
    for (const std::string& warning : chosen.warnings) invocation_.note("warning: " + warning);
    return chosen;
  }

  const std::string& name() const { return read_.matrix.name; }
  Planner& planner() { return planner_; }
  const Planner& planner() const { return planner_; }
  const StateView& state() const { return state_; }

 private:
  const CellOptions& options_;
  Invocation& invocation_;
  std::optional<Lockfile> lock_;
  CatalogueFiles read_;
  Planner planner_;
  StatePaths paths_;
  Site site_;
  StateView state_;
};

// Of the images that the planner has counted; nothing is measured where that would be more than `most` steps.
Sharing sharing_of(const OpenPlan& open, std::size_t most) {
  Sharing sharing;
  sharing.steps = open.planner().steps();
  sharing.without = open.planner().steps_before_sharing();
  sharing.shared = open.planner().shared_steps();
  if (sharing.shared <= most)
    open.planner().each_shared_step([&](const std::string& key, std::size_t uses) {
      sharing.add_saved(uses - 1, open.state().cost(key));
    });
  return sharing;
}

void print_excluded(const Planner& planner, const std::vector<std::uint32_t>& excluded) {
  if (excluded.empty()) return;
  Table table({"EXCLUDED", "REASON"});
  for (std::uint32_t number : excluded) {
    ExcludedCell cell = planner.excluded(number);
    table.add({axes_text(cell.axes), cell.reason});
  }
  fmt::print("\n");
  table.print();
}

// The steps of all images, in little space. One that components share has the title that the first image of
// the catalogue gives it, whichever images are chosen.
class StepList {
 public:
  // Those of the image that the planner has gone to and no one before it had.
  void add_new(const Planner& planner) {
    for (const SketchedStep& step : planner.new_sketched_steps())
      steps_.push_back({&step.pattern->step, step.step, step.parent, step.from});
  }

  // Those that images counted by the planner need, by key.
  void write(const OpenPlan& open, JsonStream& out) {
    const StepStore& store = open.planner().step_store();
    std::vector<const Listed*> used;
    for (const Listed& step : steps_)
      if (store.uses(step.number) > 0) used.push_back(&step);
    std::sort(used.begin(), used.end(), [&](const Listed* one, const Listed* other) {
      return store.key(one->number) < store.key(other->number);
    });
    for (const Listed* step : used) {
      std::string key = store.hex(step->number);
      out.item(key, {{"title", step->pattern->title},
                     {"kind", name_of(step->pattern->kind)},
                     {"component", step->pattern->component},
                     {"parent", store.hex(step->parent)},
                     {"from", store.hex(step->from)},
                     {"state", word_for(open.state().step(key))}});
    }
  }

 private:
  struct Listed {
    const Step* pattern;
    StepStore::Number number;
    StepStore::Number parent;
    StepStore::Number from;
  };
  std::deque<Listed> steps_;
};

Json cell_json(const Planner& planner, const Standing& standing) {
  std::vector<std::string> steps;
  std::vector<std::string> tests;
  planner.each_sketched_step([&](const SketchedStep& step, bool test) {
    (test ? tests : steps).push_back(planner.step_store().hex(step.step));
  });
  return {{"id", planner.request().id},
          {"axes", planner.request().axes},
          {"repository", planner.repository()},
          {"tag", planner.tag()},
          {"immutable_tag", planner.immutable_tag()},
          {"key", planner.key()},
          {"steps", std::move(steps)},
          {"tests", std::move(tests)},
          {"state", name_of(standing.state)},
          {"why", standing.why}};
}

void put_on_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

}  // namespace

void print_plan_table(const CellOptions& options, Invocation& invocation) {
  OpenPlan open(options, invocation);
  Planner& planner = open.planner();
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  PlanCounts counts;
  auto add_row = [&] {
    Standing standing = open.state().standing(planner);
    counts.add(standing.state);
    table.add({planner.request().id, planner.repository() + ":" + planner.tag(),
               std::string(name_of(standing.state)), short_reason(standing.why)});
  };
  const bool all = options.every_cell();
  open.plan([&] {
    if (all) add_row();
  });
  ChosenCells chosen = open.choose();
  if (!all) {
    planner.forget_steps();
    for (std::uint32_t number : chosen.images) {
      planner.go_to(number);
      planner.count_steps();
      add_row();
    }
  }
  counts.excluded = chosen.excluded.size();
  Sharing sharing = sharing_of(open, all ? kMostMeasured : SIZE_MAX);
  table.print();
  print_excluded(planner, chosen.excluded);
  fmt::print("\n{}", plan_summary(counts, sharing));
}

// All that can fail is done before the first byte is written: of half a document nobody sees that it is half.
void print_plan_document(const CellOptions& options, Invocation& invocation) {
  OpenPlan open(options, invocation);
  Planner& planner = open.planner();
  StepList steps;
  open.plan([&] { steps.add_new(planner); });
  ChosenCells chosen = open.choose();
  std::vector<Standing> standings;
  planner.forget_steps();
  for (std::uint32_t number : chosen.images) {
    planner.go_to(number);
    planner.count_steps();
    standings.push_back(open.state().standing(planner));
  }
  Sharing sharing = sharing_of(open, SIZE_MAX);

  JsonStream out(put_on_stdout);
  out.begin_array("cells");
  for (std::size_t index = 0; index < chosen.images.size(); ++index) {
    planner.go_to(chosen.images[index]);
    out.item(cell_json(planner, standings[index]));
  }
  out.end();
  out.begin_array("excluded");
  for (std::uint32_t number : chosen.excluded) out.item(to_json(planner.excluded(number)));
  out.end();
  out.member("name", open.name());
  out.member("sharing", to_json(sharing));
  out.begin_object("steps");
  steps.write(open, out);
  out.end();
  out.member("warnings", planner.warnings());
  out.finish();
  put_on_stdout("\n");
}

}  // namespace kiln
