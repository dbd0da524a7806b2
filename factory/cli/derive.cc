// kiln derive: an application upon images of a matrix, as cells of that matrix in this state folder.
#include "factory/cli/derive.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/app/deriving.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/image_name.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/plan_text.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/cell_state.h"
#include "factory/run/publish.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// The parts of a derivation with the options of the command.
class CommandParts final : public DerivingParts {
 public:
  CommandParts(const DeriveOptions& options, const StatePaths& state, Invocation& invocation)
      : options_(options), state_(state), site_(invocation.site()), invocation_(invocation) {}

  Catalogue plain() override {
    invocation_.with_derived = false;
    return invocation_.load(options_.matrix);
  }
  Catalogue with_derived(const Derivation* tried) override {
    invocation_.with_derived = true;
    if (tried != nullptr) invocation_.tried = *tried;
    return invocation_.load(options_.matrix);
  }
  std::vector<IndexEntry> entries() override {
    if (!invocation_.has_index()) return {};
    return invocation_.index(Index::Mode::read).entries();
  }
  std::vector<IndexEntry> entries_of(const std::string& application) override {
    if (!invocation_.has_index()) return {};
    return invocation_.index(Index::Mode::read).entries_of(application);
  }
  std::vector<TagSpan> history(const ImageRecord& image) override {
    if (!invocation_.has_index()) return {};
    return invocation_.index(Index::Mode::read).history(image.repository, image.tag);
  }
  std::optional<ImageRecord> find(const std::string& image) override {
    auto record = find_record(image, invocation_);
    if (!record) name_of(image, invocation_);  // which says what is wrong with the name
    return record;
  }
  BuildReport build(const Catalogue& catalogue, const ImageNumbers& images) override {
    StateNames names(state_, invocation_.files);
    const StateView view(catalogue.plan, site_, state_, invocation_.files, names);
    look_for_room(catalogue.plan, images, view, site_, invocation_);
    return build_images(catalogue, images, {options_.jobs}, site_, invocation_);
  }
  void note(const std::string& line) override { invocation_.note(line); }

 private:
  const DeriveOptions& options_;
  const StatePaths& state_;
  const Site site_;
  Invocation& invocation_;
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
  for (const std::string& file : {options.files.requirements, options.files.run, options.files.test})
    keep_readable(file);
  const StatePaths state = invocation.state();
  const ApplicationInputs inputs = read_inputs(options.name, options.files, state.root(), invocation.files);
  CommandParts parts(options, state, invocation);
  const DerivingRequest request{options.name, options.matrix, options.images};
  Deriver deriver(request, inputs, state, invocation.files, parts);
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
  const StatePaths state = invocation.state();
  CommandParts parts(options, state, invocation);
  const DerivingRequest request{options.name, options.matrix, options.images, true};
  Deriver deriver(request, inputs, state, invocation.files, parts);
  deriver.prepare();
  if (auto known = deriver.known()) return *std::move(known);
  invocation.options.wait = true;  // the job needs the image, even if another kiln builds
  const WriterLock lock = lock_state(invocation, "kiln job with the application " + options.name);
  deriver.prepare();  // another process may have built meanwhile
  const Derived derived = deriver.derive();
  if (const auto error = why_unbuilt(derived.report)) throw Error(*error);
  const BuildPlan& plan = derived.catalogue.plan;
  const Published published = publish_built(plan, derived.images, state, invocation.files, invocation.clock);
  const ResolvedImage image = plan.image(derived.images.front());
  if (published.is_new)
    invocation.note(fmt::format("published {} as snapshot {}", image.reference(), published.snapshot));
  deriver.refuse_retired_image(image.key());
  auto record = RecordReader(state, invocation.files).image(image.record_name());
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
  add_value(*command, "--requirements", options->files.requirements, "FILE",
            "install the Python packages of this file");
  add_value(*command, "--copy", options->files.copy, "DIR",
            "copy the files of this folder to /opt/NAME, or to PATH in DIR:PATH");
  add_value(*command, "--run", options->files.run, "SCRIPT",
            "run this POSIX shell script in the image, after the others");
  add_value(*command, "--test", options->files.test, "SCRIPT",
            "test of the application: this script must succeed");
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
