#include "factory/app/deriving.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/run/cell_logs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr const char* kApplicationKind = "application";

bool is_derived(const ImageRecord& record) {
  return std::ranges::count(record.components, kApplicationKind, &ComponentRecord::kind) > 0;
}

// A name that another image answers to would take its questions.
void refuse_taken(const std::string& name, const RecipeBook& recipes,
                  const std::vector<IndexEntry>& published) {
  if (const std::string refused = refused_name(name); !refused.empty())
    throw Error(ExitCode::usage, fmt::format("--name '{}': {}", name, refused));
  auto taken = [&](const std::string& by) {
    throw Error(ExitCode::usage, fmt::format("--name '{}' is the name of {}", name, by),
                "choose another name");
  };
  for (const auto& [key, recipe] : recipes.all())
    if (lower_case(key.second) == name)
      taken(fmt::format("the component {}/{}", name_of(key.first), key.second));
  for (const IndexEntry& entry : published)
    if (!is_derived(entry.image) &&
        (entry.image.repository == name || lower_case(entry.image.application) == name))
      taken(entry.image.name());
}

void refuse_retired(const std::optional<IndexEntry>& entry) {
  if (entry && !entry->retired.empty())
    throw Error(ExitCode::no_match, fmt::format("{} is retired: {}", entry->image.name(), entry->retired),
                "`kiln index retire --undo` takes it back");
}

// The cell of the record, which must be built by the recipes of today: an application upon other bits would
// be rebuilt by the next night.
AxisValues parent_axes(const ImageRecord& record, const BuildPlan& plan, const std::string& matrix,
                       StateNames& names) {
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

void add_parent(AxisValues axes, Derivation& derivation) {
  auto& parents = derivation.parents;
  if (std::ranges::find(parents, axes) == parents.end()) parents.push_back(std::move(axes));
}

// Damaged records are passed over: every plan of the matrix warns of them.
std::vector<Derivation> all_recorded(const DerivedStore& store) {
  return store.all([](const Error&) {});
}

}  // namespace

Deriver::Deriver(const DerivingRequest& request, const ApplicationInputs& inputs, const StatePaths& state,
                 FileSystem& files, DerivingParts& parts)
    : request_(request),
      state_(state),
      files_(files),
      parts_(parts),
      store_(state, files),
      recipes_(application_recipes(request.name, inputs)) {}

void Deriver::prepare() {
  const Catalogue catalogue = parts_.plain();
  refuse_taken(request_.name, catalogue.recipes, parts_.entries());
  StateNames names(state_, files_);
  derivation_ = {request_.name, catalogue.plan.name(), {}, digest_of(recipes_)};
  for (const std::string& image : request_.images) add_parent(parent(image, catalogue, names), derivation_);
}

std::optional<ImageRecord> Deriver::known() {
  const AxisValues& upon = derivation_.parents.front();
  const bool is_recorded = std::ranges::any_of(all_recorded(store_), [&](const Derivation& one) {
    return one.name == derivation_.name && one.matrix == derivation_.matrix &&
           one.recipes == derivation_.recipes && std::ranges::find(one.parents, upon) != one.parents.end();
  });
  if (!is_recorded) return std::nullopt;
  const Catalogue catalogue = parts_.with_derived(nullptr);
  StateNames names(state_, files_);
  for (const std::uint32_t number : images_of(catalogue.plan, request_.name, derivation_.parents)) {
    const ResolvedImage image = catalogue.plan.image(number);
    if (!names.is_built(image, catalogue.plan.steps()) || !names.is_packaged(image)) return std::nullopt;
    const auto entry = published_entry(request_.name, image.key());
    refuse_retired(entry);
    if (entry) return entry->image;
  }
  return std::nullopt;
}

Derived Deriver::derive() {
  refuse_other_matrix();
  Derivation derivation = derivation_;
  if (request_.keeps_parents) add_known_parents(derivation);
  store_.keep_recipes(recipes_);
  Derived derived{parts_.with_derived(&derivation)};
  derived.images = images_of(derived.catalogue.plan, request_.name, derivation_.parents);
  if (request_.keeps_parents) refuse_retired_bits(derived);
  refuse_unbuildable(derived);
  derived.report = parts_.build(derived.catalogue, derived.images);
  if (derived.report.exit_code() == ExitCode::ok)
    store_.record(derivation);
  else
    tell_failed(derived);
  store_.drop_unused();
  return derived;
}

void Deriver::refuse_retired_image(const std::string& key) {
  refuse_retired(published_entry(request_.name, key));
}

// The entry of these bits in the current snapshot; nullopt: they are not published.
std::optional<IndexEntry> Deriver::published_entry(const std::string& application, const std::string& key) {
  for (IndexEntry& entry : parts_.entries_of(application))
    if (entry.image.key == key) return std::move(entry);
  return std::nullopt;
}

AxisValues Deriver::parent(const std::string& image, const Catalogue& catalogue, StateNames& names) {
  const auto record = parts_.find(image);
  if (!record || record->external())
    throw Error(ExitCode::no_match, fmt::format("'{}' is no image that kiln built", image),
                "`kiln index list` shows those of the index");
  if (is_derived(*record))
    throw Error(ExitCode::usage, fmt::format("{} is itself a derived image", record->name()),
                "derive from its parent, with all that the application needs");
  refuse_retired(published_entry(record->application, record->key));
  return parent_axes(*record, catalogue.plan, request_.matrix, names);
}

void Deriver::refuse_other_matrix() const {
  for (const Derivation& one : all_recorded(store_))
    if (one.name == derivation_.name && one.matrix != derivation_.matrix)
      throw Error(ExitCode::usage,
                  fmt::format("--name '{}' is a derived image of the matrix '{}'", one.name, one.matrix),
                  "choose another name");
}

// Of other files, its images upon other parents would be of an application that their jobs did not bring.
void Deriver::add_known_parents(Derivation& derivation) {
  for (const Derivation& known : all_recorded(store_)) {
    if (known.name != derivation.name) continue;
    if (known.recipes == derivation.recipes)
      for (const AxisValues& parent : known.parents) add_parent(parent, derivation);
    else
      parts_.note(fmt::format("note: {} was derived from other files before; its tags now mean the new ones",
                              known.name));
  }
}

// Bits that were published and retired: their tag may have others by now, which a job must not replace.
void Deriver::refuse_retired_bits(const Derived& derived) {
  const RecordReader records(state_, files_);
  for (const std::uint32_t number : derived.images) {
    const auto record = records.image(derived.catalogue.plan.image(number).record_name());
    if (!record) continue;
    const std::vector<TagSpan> spans = parts_.history(*record);
    const auto last = std::find_if(spans.rbegin(), spans.rend(), [&](const TagSpan& span) {
      return span.image == record->identity().hex();
    });
    if (last != spans.rend() && !last->retired.empty())
      throw Error(ExitCode::no_match,
                  fmt::format("{} of these files is retired: {}", record->name(), last->retired),
                  "change the application's files, or give it another name");
  }
}

void Deriver::refuse_unbuildable(const Derived& derived) const {
  for (const auto& [key, recipe] : derived.catalogue.recipes.broken())
    if (key.first == Kind::application &&
        (key.second == request_.name || key.second.starts_with(request_.name + ".")))
      throw recipe.why;
  if (derived.images.empty())
    throw Error(ExitCode::input,
                fmt::format("the matrix '{}' takes no application", derived.catalogue.plan.name()),
                "its constraints may exclude the cells: `kiln plan` has the reasons");
}

// The matrix has no cell of an application that is not recorded, so `kiln log` does not find it.
void Deriver::tell_failed(const Derived& derived) {
  parts_.note(fmt::format("{} is not recorded: derive it again", request_.name));
  for (const ImageOutcome& image : derived.report.images)
    if (image.outcome == Outcome::failed)
      parts_.note(fmt::format("its logs: {}", (state_.logs() / log_folder_name(image.id)).string()));
}

}  // namespace kiln
