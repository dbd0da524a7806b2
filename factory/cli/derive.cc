// kiln derive: an application upon images of a matrix, as cells of that matrix in this state folder.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/image_name.h"
#include "factory/cli/options.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/usage.h"
#include "factory/derive/derivation.h"
#include "factory/derive/folder_archive.h"
#include "factory/run/cell_state.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostText = 4u << 20;  // of a script or a requirements file
constexpr const char* kApplicationKind = "application";

struct DeriveOptions {
  std::string matrix;
  std::vector<std::string> images;
  std::string name;
  std::string requirements;
  std::string copy;
  std::string run;
  std::string test;
  std::string format = "table";
  int jobs = 0;
};

std::optional<std::string> input_text(const std::string& file, const Invocation& invocation) {
  if (file.empty()) return std::nullopt;
  invocation.need_file(file);
  std::string text = invocation.files.read(file, kMostText).value_or("");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(ExitCode::input, SourceLocation{file, 0, 0, ""}, "the file is empty");
  return text;
}

// DIR, or DIR:/path.
std::pair<fs::path, std::string> copy_words(const std::string& copy, const std::string& name) {
  const std::size_t colon = copy.rfind(":/");
  if (colon == std::string::npos) return {copy, "/opt/" + name};
  const std::string path = copy.substr(colon + 1);
  const fs::path normal = fs::path(path).lexically_normal();
  if (normal != path || normal == "/" || !normal.has_filename())
    throw Error(ExitCode::usage, fmt::format("--copy: '{}' is no path of a folder in an image", path),
                "an absolute path such as /opt/" + name + ", without '.', '..' and a '/' at its end");
  return {copy.substr(0, colon), path};
}

ApplicationInputs read_inputs(const DeriveOptions& options, const Invocation& invocation) {
  if (options.requirements.empty() && options.copy.empty() && options.run.empty())
    throw Error(ExitCode::usage, "nothing to add to the image", "name --requirements, --copy or --run");
  ApplicationInputs inputs;
  inputs.requirements = input_text(options.requirements, invocation);
  if (!options.copy.empty()) {
    fs::path folder;
    std::tie(folder, inputs.files_at) = copy_words(options.copy, options.name);
    inputs.files = folder_archive(folder);
  }
  inputs.run = input_text(options.run, invocation);
  inputs.test = input_text(options.test, invocation);
  return inputs;
}

bool is_derived(const ImageRecord& record) {
  return std::any_of(record.components.begin(), record.components.end(),
                     [](const ComponentRecord& one) { return one.kind == kApplicationKind; });
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

ImageRecord record_of(const std::string& image, Invocation& invocation) {
  auto record = find_record(image, invocation);
  if (!record) name_of(image, invocation);  // which says what is wrong with the name
  if (!record || record->external())
    throw Error(ExitCode::no_match, fmt::format("'{}' is no image that kiln built", image),
                "`kiln index list` shows those of the index");
  if (is_derived(*record))
    throw Error(ExitCode::usage, fmt::format("{} is itself a derived image", record->name()),
                "derive from its parent, with all that the application needs");
  return *std::move(record);
}

// The cell of the record. Its steps must be those that the record's image was built of.
AxisValues parent_axes(const ImageRecord& record, const Catalogue& catalogue, const std::string& matrix,
                       StateNames& names) {
  const BuildPlan& plan = catalogue.plan;
  const std::string build = fmt::format("kiln build -f {} {}", matrix, record.cell);
  for (std::uint32_t number : all_images(plan)) {
    const ResolvedImage image = plan.image(number);
    if (image.id() != record.cell) continue;
    if (image.key() != record.key)
      throw Error(
          ExitCode::no_match,
          fmt::format("{} was built from other recipes than those of today: its key is {}, theirs is {}",
                      record.name(), record.key.substr(0, 12), image.key().substr(0, 12)),
          fmt::format("`{}` builds it anew", build));
    if (!names.is_built(image, plan.steps()))
      throw Error(ExitCode::no_match,
                  fmt::format("{} is not built in this state folder, or fails a test", record.name()),
                  fmt::format("run `{}` first", build));
    return image.request().axes;
  }
  throw Error(ExitCode::no_match,
              fmt::format("{} is of the cell {}, which {} does not have", record.name(), record.cell, matrix),
              "name the matrix that it was built from with -f");
}

ImageNumbers images_of(const BuildPlan& plan, const Derivation& derivation) {
  ImageNumbers images;
  for (std::uint32_t number : all_images(plan)) {
    const auto components = plan.image(number).components();
    if (std::any_of(components.begin(), components.end(), [&](const ComponentUse& use) {
          return use.kind == Kind::application && use.name == derivation.name;
        }))
      images.push_back(number);
  }
  return images;
}

class Deriver {
 public:
  Deriver(const DeriveOptions& options, Invocation& invocation)
      : options_(options),
        invocation_(invocation),
        state_(invocation.state()),
        site_(invocation.site()),
        store_(state_, invocation.files) {}

  void run() {
    const ApplicationInputs inputs = read_inputs(options_, invocation_);
    const RecipeTexts recipes = application_recipes(options_.name, inputs);
    const Derivation derivation = find_parents(digest_of(recipes));
    invocation_.need_root_for_steps();
    const WriterLock lock = lock_state(invocation_, "kiln derive of " + options_.name);
    refuse_other_matrix(derivation, store_);
    store_.keep_recipes(recipes);
    invocation_.with_derived = true;
    invocation_.tried = derivation;
    const Catalogue catalogue = invocation_.load(options_.matrix);
    const BuildReport report = build(catalogue, images_of(catalogue.plan, derivation));
    print_build(report, options_.format);
    invocation_.exit_code = report.exit_code();
    if (report.exit_code() == ExitCode::ok)
      store_.record(derivation);
    else
      invocation_.note(fmt::format("{} is not recorded: derive it again", options_.name));
    store_.drop_unused();
  }

 private:
  Derivation find_parents(const Digest& recipes) {
    invocation_.with_derived = false;
    const Catalogue catalogue = invocation_.load(options_.matrix);
    refuse_taken(options_.name, catalogue.recipes, invocation_);
    StateNames names(state_, invocation_.files);
    Derivation derivation{options_.name, catalogue.plan.name(), {}, recipes};
    for (const std::string& image : options_.images) {
      AxisValues axes = parent_axes(record_of(image, invocation_), catalogue, options_.matrix, names);
      if (std::find(derivation.parents.begin(), derivation.parents.end(), axes) == derivation.parents.end())
        derivation.parents.push_back(std::move(axes));
    }
    return derivation;
  }

  BuildReport build(const Catalogue& catalogue, const ImageNumbers& images) {
    if (images.empty())
      throw Error(ExitCode::input, fmt::format("the matrix '{}' takes no application", catalogue.plan.name()),
                  "its constraints may exclude the cells: `kiln plan` has the reasons");
    StateNames names(state_, invocation_.files);
    const StateView view(catalogue.plan, site_, state_, invocation_.files, names);
    look_for_room(catalogue.plan, images, view, site_, invocation_);
    return build_images(catalogue, images, {options_.jobs}, site_, invocation_);
  }

  const DeriveOptions& options_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site site_;
  const DerivedStore store_;
};

}  // namespace

CLI::App* add_derive(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DeriveOptions>();
  CLI::App* command =
      add_below(app, "derive", "Add an application to built images, as images with a name of their own",
                "kiln derive -f matrix/demo.json pytorch:2.6.0-distro-x86_64-trixie --name train \\\n"
                "    --requirements requirements.txt --copy src --test smoke.sh\n"
                "kiln publish -f matrix/demo.json application=train");
  add_matrix_option(*command, options->matrix, "matrix file of the images");
  add_value(*command, "images", options->images, "IMAGE",
            "built images to add the application to: repository:tag, a digest or a cell")
      ->required();
  add_value(*command, "--name", options->name, "NAME",
            "name of the application, and repository of its images")
      ->required();
  add_value(*command, "--requirements", options->requirements, "FILE",
            "install the Python packages of this file");
  add_value(*command, "--copy", options->copy, "DIR",
            "copy the files of this folder to /opt/NAME, or to PATH in DIR:PATH");
  add_value(*command, "--run", options->run, "SCRIPT",
            "run this POSIX shell script in the image, after the others");
  add_value(*command, "--test", options->test, "SCRIPT", "test of the application: this script must succeed");
  add_jobs_option(*command, options->jobs);
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { Deriver(*options, invocation).run(); });
  return command;
}

}  // namespace kiln
