// kiln derive: an application upon images of a matrix, as cells of that matrix in this state folder.
#include "factory/cli/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/image_name.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/plan_text.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/cell_logs.h"
#include "factory/run/cell_state.h"
#include "factory/run/publish.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr const char* kApplicationKind = "application";

bool is_derived(const ImageRecord& record) {
  return std::ranges::count(record.components, kApplicationKind, &ComponentRecord::kind) > 0;
}

// A name that another image answers to would take its questions.
void refuse_taken(const std::string& name, const RecipeBook& recipes, Invocation& invocation) {
  if (const std::string refused = refused_name(name); !refused.empty())
    throw Error(ExitCode::usage, fmt::format("--name '{}': {}", name, refused));
  auto taken = [&](const std::string& by) {
    throw Error(ExitCode::usage, fmt::format("--name '{}' is the name of {}", name, by),
                "choose another name");
  };
  for (const auto& [key, recipe] : recipes.all())
    if (lower_case(key.second) == name)
      taken(fmt::format("the component {}/{}", name_of(key.first), key.second));
  if (!invocation.has_index()) return;
  for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
    if (!is_derived(entry.image) &&
        (entry.image.repository == name || lower_case(entry.image.application) == name))
      taken(entry.image.name());
}

void refuse_other_matrix(const Derivation& derivation, const DerivedStore& store) {
  for (const Derivation& one : store.all([](const Error&) {}))
    if (one.name == derivation.name && one.matrix != derivation.matrix)
      throw Error(ExitCode::usage,
                  fmt::format("--name '{}' is a derived image of the matrix '{}'", one.name, one.matrix),
                  "choose another name");
}

// The entry of these bits in the current snapshot; nullopt: they are not published.
std::optional<IndexEntry> published_entry(const std::string& application, const std::string& key,
                                          const Invocation& invocation) {
  if (!invocation.has_index()) return std::nullopt;
  for (IndexEntry& entry : invocation.index(Index::Mode::read).entries_of(application))
    if (entry.image.key == key) return std::move(entry);
  return std::nullopt;
}

void refuse_retired(const std::optional<IndexEntry>& entry) {
  if (entry && !entry->retired.empty())
    throw Error(ExitCode::no_match, fmt::format("{} is retired: {}", entry->image.name(), entry->retired),
                "`kiln index retire --undo` takes it back");
}

ImageRecord record_of(const std::string& image, Invocation& invocation) {
  auto record = find_record(image, invocation);
  if (!record) name_of(image, invocation);  // which says what is wrong with the name
  if (!record || record->external())
    throw Error(ExitCode::no_match, fmt::format("'{}' is no image that kiln built", image),
                "`kiln index list` shows those of the index");
  if (is_derived(*record))
    throw Error(ExitCode::usage, fmt::format("{} is itself a derived image", record->name()),
                "derive from its parent, with all that the application needs");
  refuse_retired(published_entry(record->application, record->key, invocation));
  return *std::move(record);
}

// The cell of the record, which must be built by the recipes of today: an application upon other bits would
// be rebuilt by the next night.
AxisValues parent_axes(const ImageRecord& record, const Catalogue& catalogue, const std::string& matrix,
                       StateNames& names) {
  const BuildPlan& plan = catalogue.plan;
  for (std::uint32_t number : all_images(plan)) {
    const ResolvedImage image = plan.image(number);
    if (image.id() != record.cell) continue;
    if (names.is_built(image, plan.steps())) return image.request().axes;
    const bool is_older = image.key() != record.key;
    throw Error(ExitCode::no_match,
                fmt::format("{} is not built {}, or fails a test", record.name(),
                            is_older ? "by the recipes of today" : "in this state folder"),
                fmt::format("run `kiln build -f {} {}` first", matrix, record.cell));
  }
  throw Error(ExitCode::no_match,
              fmt::format("{} is of the cell {}, which {} does not have", record.name(), record.cell, matrix),
              "name the matrix that it was built from with -f");
}

// The cells of the application `name` upon these parents.
ImageNumbers images_of(const BuildPlan& plan, const std::string& name,
                       const std::vector<AxisValues>& parents) {
  std::vector<AxisValues> wanted;
  for (const AxisValues& parent : parents) wanted.push_back(derived_axes(parent, name));
  ImageNumbers images;
  for (std::uint32_t number : all_images(plan)) {
    const AxisValues& axes = plan.image(number).request().axes;
    if (std::ranges::find(wanted, axes) != wanted.end()) images.push_back(number);
  }
  return images;
}

// What a derivation made: the matrix with its cells, and those.
struct Derived {
  Catalogue catalogue;
  ImageNumbers images;
  BuildReport report;
};

class Deriver {
 public:
  // `keeps_parents`: the parents of an earlier derivation of this name stay, in addition to the new ones.
  Deriver(const DeriveOptions& options, const ApplicationInputs& inputs, bool keeps_parents,
          Invocation& invocation)
      : options_(options),
        keeps_parents_(keeps_parents),
        invocation_(invocation),
        state_(invocation.state()),
        site_(invocation.site()),
        store_(state_, invocation.files),
        recipes_(application_recipes(options.name, inputs)) {}

  // Finds the parents, of what the recipes are now.
  void prepare() { derivation_ = find_parents(digest_of(recipes_)); }

  // The record of the one image, if an earlier derivation of these files built and published it. Throws
  // Error(no_match) for a retired one. REQUIRES: prepare(), and one parent.
  std::optional<ImageRecord> known() {
    const auto recorded = store_.all([](const Error&) {});
    const bool is_recorded = std::ranges::any_of(recorded, [this](const Derivation& one) {
      const auto& parents = one.parents;
      return one.name == derivation_.name && one.matrix == derivation_.matrix &&
             one.recipes == derivation_.recipes &&
             std::ranges::find(parents, derivation_.parents.front()) != parents.end();
    });
    if (!is_recorded) return std::nullopt;
    invocation_.with_derived = true;
    const Catalogue catalogue = invocation_.load(options_.matrix);
    StateNames names(state_, invocation_.files);
    for (const std::uint32_t number : images_of(catalogue.plan, options_.name, derivation_.parents)) {
      const ResolvedImage image = catalogue.plan.image(number);
      if (!names.is_built(image, catalogue.plan.steps()) || !names.is_packaged(image)) return std::nullopt;
      const auto entry = published_entry(options_.name, image.key(), invocation_);
      refuse_retired(entry);
      if (entry) return entry->image;
    }
    return std::nullopt;
  }

  // REQUIRES: prepare(), need_root_for_steps(), lock_state().
  Derived derive() {
    Derivation derivation = derivation_;
    refuse_other_matrix(derivation, store_);
    if (keeps_parents_) add_known_parents(derivation);
    store_.keep_recipes(recipes_);
    invocation_.with_derived = true;
    invocation_.tried = derivation;
    Derived derived{invocation_.load(options_.matrix), {}, {}};
    derived.images = images_of(derived.catalogue.plan, options_.name, derivation_.parents);
    if (keeps_parents_) refuse_retired_bits(derived);
    derived.report = build(derived.catalogue, derived.images);
    if (derived.report.exit_code() == ExitCode::ok)
      store_.record(derivation);
    else
      tell_failed(derived);
    store_.drop_unused();
    return derived;
  }

 private:
  // Bits that were published and retired: their tag may have others by now, which a job must not replace.
  void refuse_retired_bits(const Derived& derived) const {
    if (!invocation_.has_index()) return;
    const Index index = invocation_.index(Index::Mode::read);
    const RecordReader records(state_, invocation_.files);
    for (const std::uint32_t number : derived.images) {
      const auto record = records.image(derived.catalogue.plan.image(number).record_name());
      if (!record) continue;
      const std::vector<TagSpan> spans = index.history(record->repository, record->tag);
      const auto last = std::find_if(spans.rbegin(), spans.rend(), [&](const TagSpan& span) {
        return span.image == record->identity().hex();
      });
      if (last != spans.rend() && !last->retired.empty())
        throw Error(ExitCode::no_match,
                    fmt::format("{} of these files is retired: {}", record->name(), last->retired),
                    "change the application's files, or give it another name");
    }
  }

  // The matrix has no cell of an application that is not recorded, so `kiln log` does not find it.
  void tell_failed(const Derived& derived) const {
    invocation_.note(fmt::format("{} is not recorded: derive it again", options_.name));
    for (const ImageOutcome& image : derived.report.images)
      if (image.outcome == Outcome::failed)
        invocation_.note(fmt::format("its logs: {}", (state_.logs() / log_folder_name(image.id)).string()));
  }

  Derivation find_parents(const Digest& recipes) {
    invocation_.with_derived = false;
    const Catalogue catalogue = invocation_.load(options_.matrix);
    refuse_taken(options_.name, catalogue.recipes, invocation_);
    StateNames names(state_, invocation_.files);
    Derivation derivation{options_.name, catalogue.plan.name(), {}, recipes};
    for (const std::string& image : options_.images)
      add_parent(parent_axes(record_of(image, invocation_), catalogue, options_.matrix, names), derivation);
    return derivation;
  }

  static void add_parent(AxisValues axes, Derivation& derivation) {
    auto& parents = derivation.parents;
    if (std::ranges::find(parents, axes) == parents.end()) parents.push_back(std::move(axes));
  }

  // Of other files, its images upon other parents would be of an application that their jobs did not bring.
  void add_known_parents(Derivation& derivation) const {
    for (const Derivation& known : store_.all([](const Error&) {})) {
      if (known.name != derivation.name) continue;
      if (known.recipes == derivation.recipes)
        for (const AxisValues& parent : known.parents) add_parent(parent, derivation);
      else
        invocation_.note(fmt::format(
            "note: {} was derived from other files before; its tags now mean the new ones", known.name));
    }
  }

  BuildReport build(const Catalogue& catalogue, const ImageNumbers& images) {
    for (const auto& [key, recipe] : catalogue.recipes.broken())
      if (key.first == Kind::application &&
          (key.second == options_.name || key.second.starts_with(options_.name + ".")))
        throw recipe.why;
    if (images.empty())
      throw Error(ExitCode::input, fmt::format("the matrix '{}' takes no application", catalogue.plan.name()),
                  "its constraints may exclude the cells: `kiln plan` has the reasons");
    StateNames names(state_, invocation_.files);
    const StateView view(catalogue.plan, site_, state_, invocation_.files, names);
    look_for_room(catalogue.plan, images, view, site_, invocation_);
    return build_images(catalogue, images, {options_.jobs}, site_, invocation_);
  }

  const DeriveOptions& options_;
  bool keeps_parents_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site site_;
  const DerivedStore store_;
  const RecipeTexts recipes_;
  Derivation derivation_;  // upon the parents that were asked for
};

// What the command does beside deriving.
struct DerivedWork {
  bool list = false;
  std::string remove;
  std::string format = "table";
};

void check(const CLI::App& command, const DeriveOptions& options, const DerivedWork& other) {
  refuse_together(command, "--list", "--remove");
  for (const char* option : {"images", "--name", "--requirements", "--copy", "--run", "--test"})
    for (const char* work : {"--list", "--remove"}) refuse_together(command, work, option);
  if (other.list || !other.remove.empty()) return;
  if (options.matrix.empty() || options.images.empty() || options.name.empty())
    throw Error(ExitCode::usage, "kiln derive needs -f MATRIX, --name NAME and at least one image",
                "such as: kiln derive -f matrix/demo.json IMAGE --name train --copy src");
}

void list_derived(const std::string& format, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const DerivedStore store(state, invocation.files);
  const auto all = store.all([&](const Error& error) {
    invocation.note(error.format());
    invocation.exit_code = ExitCode::store;
  });
  if (format == "json") return print_json(json_list(all));
  Table table({"NAME", "MATRIX", "PARENT"});
  for (const Derivation& one : all)
    for (const AxisValues& parent : one.parents) table.add({one.name, one.matrix, axes_text(parent)});
  print_text(all.empty() ? "no application was added to an image\n" : table.text());
}

void remove_derived(const std::string& name, Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln derive --remove " + name);
  const StatePaths state = invocation.state();
  const DerivedStore store(state, invocation.files);
  if (!store.has(name))
    throw Error(ExitCode::no_match, fmt::format("there is no application '{}'", name),
                "`kiln derive --list` shows them");
  store.forget(name);
  store.drop_unused();
  invocation.note(fmt::format(
      "removed {}; its published images stay until `kiln publish --prune` of their matrix", name));
}

void run_derive(const DeriveOptions& options, const std::string& format, Invocation& invocation) {
  for (const std::string& file : {options.requirements, options.run, options.test}) keep_readable(file);
  Deriver deriver(options, read_inputs(options, invocation), false, invocation);
  deriver.prepare();
  invocation.need_root_for_steps();
  const WriterLock lock = lock_state(invocation, "kiln derive of " + options.name);
  const Derived derived = deriver.derive();
  print_build(derived.report, format);
  invocation.exit_code = derived.report.exit_code();
}

}  // namespace

ImageRecord derived_image(const DeriveOptions& options, const ApplicationInputs& inputs,
                          Invocation& invocation) {
  Deriver deriver(options, inputs, true, invocation);
  deriver.prepare();
  if (auto known = deriver.known()) return *std::move(known);
  invocation.options.wait = true;  // the job needs the image, even if another kiln builds
  const WriterLock lock = lock_state(invocation, "kiln job with the application " + options.name);
  deriver.prepare();  // another process may have built meanwhile
  const Derived derived = deriver.derive();
  if (const auto error = why_unbuilt(derived.report)) throw Error(*error);
  const BuildPlan& plan = derived.catalogue.plan;
  const Published published =
      publish_built(plan, derived.images, invocation.state(), invocation.files, invocation.clock);
  const ResolvedImage image = plan.image(derived.images.front());
  if (published.is_new)
    invocation.note(fmt::format("published {} as snapshot {}", image.reference(), published.snapshot));
  refuse_retired(published_entry(options.name, image.key(), invocation));
  auto record = RecordReader(invocation.state(), invocation.files).image(image.record_name());
  if (!record) throw Error(ExitCode::store, image.reference() + " is built, and has no record");
  return *std::move(record);
}

CLI::App* add_derive(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DeriveOptions>();
  auto other = std::make_shared<DerivedWork>();
  CLI::App* command =
      add_below(app, "derive", "Add an application to built images, as images with a name of their own",
                "kiln derive -f matrix/demo.json pytorch:2.6.0-distro-x86_64-trixie --name train \\\n"
                "    --requirements requirements.txt --copy src --test smoke.sh\n"
                "kiln publish -f matrix/demo.json application=train\n"
                "kiln derive --list\n"
                "kiln derive --remove train");
  add_matrix_option(*command, options->matrix, "matrix file of the images")->required(false);
  add_value(*command, "images", options->images, "IMAGE",
            "built images to add the application to: repository:tag, a digest or a cell");
  add_value(*command, "--name", options->name, "NAME",
            "name of the application, and repository of its images");
  add_value(*command, "--requirements", options->requirements, "FILE",
            "install the Python packages of this file");
  add_value(*command, "--copy", options->copy, "DIR",
            "copy the files of this folder to /opt/NAME, or to PATH in DIR:PATH");
  add_value(*command, "--run", options->run, "SCRIPT",
            "run this POSIX shell script in the image, after the others");
  add_value(*command, "--test", options->test, "SCRIPT", "test of the application: this script must succeed");
  add_jobs_option(*command, options->jobs);
  add_wait_option(*command, invocation.options);
  command->add_flag("--list", other->list, "list the applications that were added to images");
  add_value(*command, "--remove", other->remove, "NAME",
            "remove this application from its matrix; its published images stay");
  add_format_option(*command, other->format);
  command->callback([options, other, command, &invocation] {
    check(*command, *options, *other);
    if (other->list)
      list_derived(other->format, invocation);
    else if (!other->remove.empty())
      remove_derived(other->remove, invocation);
    else
      run_derive(*options, other->format, invocation);
  });
  return command;
}

}  // namespace kiln
