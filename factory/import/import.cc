#include "factory/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/text.h"
#include "factory/import/import_parts.h"
#include "factory/import/imported_files.h"
#include "factory/import/legacy_bases.h"
#include "factory/plan/build_plan.h"

namespace kiln {
namespace {

class FolderImport {
 public:
  FolderImport(const FileSystem& files, const fs::path& root, const ImportOptions& options,
               const Microarchitectures& cpus)
      : tree_(find_definitions(files, root)), options_(options), cpus_(cpus) {
    tree_.bases = options.bases;
  }
  Import run();

 private:
  void drop_own_output();
  std::optional<OwnOutput> own_output_of(const std::string& path) const;
  void read_all();
  void tell_unused_bases();
  void drop_second_names();
  void drop_local_bases();
  void drop(const std::string& path, const std::string& rule, const std::string& why);
  void join_twins();
  bool are_of_two_frameworks(const TwinPair& pair);
  void make_cell(const TwinPair& pair);
  void note(const Error& error, const std::string& path) {
    const SourceLocation& where = error.where();
    std::string text = error.message() + (error.hint().empty() ? "" : "; " + error.hint());
    out_.notes.push_back({where.file.empty() ? path : where.file, where.line, "not-imported", text});
  }
  void prove() const;

  LegacyTree tree_;
  const ImportOptions& options_;
  const Microarchitectures& cpus_;
  std::map<std::string, LegacyImage> images_;   // by path
  std::map<std::string, std::string> digests_;  // path → of its bytes
  std::vector<ImportCell> cells_;
  Import out_;
};

Import FolderImport::run() {
  TargetBook(cpus_).get(options_.cpu + "," + options_.gpu, {});  // a mistake in the options is theirs
  tree_.architecture = Target{"", options_.cpu, {}, ""}.platform_architecture(cpus_);
  if (tree_.paths.empty())
    throw Error(ExitCode::input,
                fmt::format("no Dockerfile and no definition file below {}", tree_.root.string()),
                "files are called Dockerfile*, *.dockerfile, Singularity* or *.def");
  for (const auto& [folder, why] : tree_.unreadable) out_.notes.push_back({folder, 0, "not-imported", why});
  drop_own_output();
  read_all();
  tell_unused_bases();
  drop_second_names();
  drop_local_bases();
  join_twins();
  std::erase_if(cells_, [&](ImportCell& one) {
    try {
      std::vector<ImportCell> alone = {one};
      place_cells(alone);
      return false;
    } catch (const Error& error) {
      note(error, one.legacy.path);
      return true;
    }
  });
  if (cells_.empty()) {
    std::string why = out_.notes.empty() ? "" : format(out_.notes.front());
    throw Error(ExitCode::input,
                fmt::format("none of the {} files below {} could be imported", tree_.paths.size(),
                            tree_.root.string()),
                why);
  }
  place_cells(cells_);
  out_.files = write_recipes(cells_);
  out_.matrix = fmt::format("matrix/{}.json", options_.name);
  out_.files[out_.matrix] = write_matrix(cells_, options_.name);
  for (ImportCell& one : cells_) {
    out_.images.push_back({one.axes(), one.files});
    out_.notes.insert(out_.notes.end(), one.legacy.notes.begin(), one.legacy.notes.end());
  }
  auto order = [](const ImportNote& note) { return std::tie(note.file, note.line, note.rule, note.text); };
  std::ranges::sort(out_.notes, {}, order);
  out_.notes.erase(std::unique(out_.notes.begin(), out_.notes.end()), out_.notes.end());
  prove();
  return std::move(out_);
}

// What kiln generated says where its recipes are; a copy of them, without what the files mount, would be
// less.
void FolderImport::drop_own_output() {
  std::set<std::string> cells;
  std::set<std::string> recipes;
  std::erase_if(tree_.paths, [&](const std::string& path) {
    auto own = own_output_of(path);
    if (!own) return false;
    out_.notes.push_back(
        {path, 0, "kilns-own",
         fmt::format("kiln generated it from the cell {}: {}", own->cell, where_recipes_are(own->recipes))});
    cells.insert(own->cell);
    recipes.insert(own->recipes.begin(), own->recipes.end());
    out_.own.push_back(std::move(*own));
    return true;
  });
  if (!tree_.paths.empty()) return;
  throw Error(ExitCode::input,
              fmt::format("kiln itself generated {} below {}, from {}: there is nothing to import",
                          out_.own.size() == 1 ? "the file" : fmt::format("all {} files", out_.own.size()),
                          tree_.root.string(), counted(cells.size(), "cell")),
              where_recipes_are(recipes));
}

std::optional<OwnOutput> FolderImport::own_output_of(const std::string& path) const {
  try {
    return read_own_output(path, read_definition_text(tree_, path));
  } catch (const Error&) {
    return std::nullopt;  // read_all() says why
  }
}

void FolderImport::read_all() {
  for (const std::string& path : tree_.paths) {
    try {
      std::string text = read_definition_text(tree_, path, &out_.notes);
      digests_[path] = Digest::of(text).hex();
      bool docker = is_dockerfile_name(last_part(path));
      images_[path] =
          docker ? read_legacy_dockerfile(tree_, path, text) : read_legacy_definition(tree_, path, text);
    } catch (const Error& error) {
      note(error, path);
    }
  }
}

void FolderImport::tell_unused_bases() {
  std::set<std::string> used;
  for (const auto& [path, image] : images_)
    for (const std::string& base : image.given_bases) used.merge(std::set{base, other_library_form(base)});
  for (const auto& [written, given] : options_.bases)
    if (!used.contains(written))
      out_.notes.push_back({"--base", 0, "given-base", fmt::format("no file starts from '{}'", written)});
}

void FolderImport::drop(const std::string& path, const std::string& rule, const std::string& why) {
  out_.notes.push_back({path, 0, rule, why});
  const std::vector<ImportNote>& own = images_[path].notes;
  if (rule == "local-base") out_.notes.insert(out_.notes.end(), own.begin(), own.end());
  images_.erase(path);
  std::erase(tree_.paths, path);
}

// `Singularity` is often another name of the newest `Singularity.<version>`.
void FolderImport::drop_second_names() {
  std::map<std::string, std::string> named;  // folder, format and bytes → path
  auto key = [&](const std::string& path, const FormName& name) {
    return fmt::format("{}\n{}{}", fs::path(path).parent_path().string(), name.docker, digests_[path]);
  };
  for (const auto& [path, image] : images_)
    if (FormName name = form_name_of(path); !name.bare) named[key(path, name)] = path;
  for (const std::string& path : std::vector<std::string>(tree_.paths)) {
    FormName name = form_name_of(path);
    if (!name.bare || !images_.contains(path)) continue;
    if (auto other = named.find(key(path, name)); other != named.end())
      drop(path, "same-file", fmt::format("it is {}, byte for byte", last_part(other->second)));
  }
}

// A definition file that others start from (localimage) is part of those, and no image of its own.
void FolderImport::drop_local_bases() {
  std::set<std::string> parents;
  for (const auto& [path, image] : images_) parents.insert(image.parents.begin(), image.parents.end());
  for (const std::string& path : parents)
    if (images_.contains(path))
      drop(path, "local-base",
           "it is the base of the images that start from it, and becomes no separate image");
}

void FolderImport::join_twins() {
  TwinPairs twins = pair_twins(tree_.paths);
  out_.notes.insert(out_.notes.end(), twins.notes.begin(), twins.notes.end());
  for (const TwinPair& pair : twins.pairs) {
    if (!pair.only || !are_of_two_frameworks(pair)) {
      make_cell(pair);
      continue;
    }
    make_cell({pair.docker, ""});
    make_cell({"", pair.definition});
  }
}

// What only lies in one folder need not be one image: their packages, clones and bases have the last word.
bool FolderImport::are_of_two_frameworks(const TwinPair& pair) {
  std::vector<std::string> frameworks;
  for (const std::string& path : {pair.docker, pair.definition}) {
    auto image = images_.find(path);
    if (image == images_.end()) return false;
    LegacyImage nameless = image->second;
    nameless.stem.clear();
    frameworks.push_back(cell_of(nameless, options_, cpus_).framework);
  }
  const std::string unknown = component_name("");
  if (frameworks[0] == frameworks[1] || frameworks[0] == unknown || frameworks[1] == unknown) return false;
  out_.notes.push_back(
      {pair.docker, 0, "twins",
       fmt::format("{} is next to it, but is {}, and this one is {}: each becomes a separate image",
                   last_part(pair.definition), frameworks[1], frameworks[0])});
  return true;
}

// The Dockerfile's commands are taken, and the name that says more.
void FolderImport::make_cell(const TwinPair& pair) {
  auto docker = images_.find(pair.docker);
  auto definition = images_.find(pair.definition);
  if (docker == images_.end()) std::swap(docker, definition);
  if (docker == images_.end()) return;  // neither could be read
  ImportCell one;
  one.legacy = std::move(docker->second);
  one.files = {docker->first};
  if (definition != images_.end()) {
    const LegacyImage& twin = definition->second;
    auto drift = twin_drift(one.legacy, twin);
    out_.differences.insert(out_.differences.end(), drift.begin(), drift.end());
    one.files.push_back(twin.path);
    if (one.legacy.test.empty()) one.legacy.test = twin.test;
    if (form_name_of(one.legacy.path).bare) one.legacy.stem = twin.stem;
    out_.notes.insert(out_.notes.end(), twin.notes.begin(), twin.notes.end());
  }
  one.cell = cell_of(one.legacy, options_, cpus_);
  cells_.push_back(std::move(one));
}

// What is about to be written is read back: it plans, and its cells are the images, no more and no less.
void FolderImport::prove() const {
  MemoryFiles disk(out_.files);
  RecipeBook recipes = RecipeBook::read(disk, {"recipes"});
  recipes.refuse_broken();
  TargetBook targets(cpus_);
  BuildPlan plan = plan_matrix(read_matrix(disk, out_.matrix), {recipes, targets, cpus_});
  std::set<AxisValues> wanted;
  for (const ImportedImage& image : out_.images) wanted.insert(image.axes);
  std::set<AxisValues> planned;
  for (std::size_t number = 0; number < plan.size(); ++number) {
    AxisValues axes = plan.image(number).request().axes;
    std::erase_if(axes, [](const auto& axis) { return axis.second == "none"; });
    planned.insert(std::move(axes));
  }
  if (planned == wanted && plan.size() == out_.images.size()) return;
  throw Error(
      ExitCode::images_failed,
      fmt::format("the imported matrix plans {} images, the folder has {}", planned.size(), wanted.size()),
      "this is an error in kiln, which wrote nothing; please report it");
}

}  // namespace

Import import_folder(const FileSystem& files, const fs::path& root, const ImportOptions& options,
                     const Microarchitectures& cpus) {
  return FolderImport(files, root, options, cpus).run();
}

std::string format(const ImportNote& note) {
  std::string place = note.line == 0 ? note.file : fmt::format("{}:{}", note.file, note.line);
  return fmt::format("{}: {} [{}]", place, note.text, note.rule);
}

std::string format(const ImportDifference& difference) {
  auto side = [](const std::string& file, int line, const std::string& says) {
    return line == 0 ? fmt::format("{}: not there", file) : fmt::format("{}:{}: {}", file, line, says);
  };
  std::string here = difference.line == 0
                         ? fmt::format("{}: differs: {}: not there", difference.file, difference.what)
                         : fmt::format("{}:{}: differs: {}: {}", difference.file, difference.line,
                                       difference.what, difference.here);
  return fmt::format("{} / {}", here, side(difference.other_file, difference.other_line, difference.there));
}

Json to_json(const Import& import) {
  Json json = {{"matrix", import.matrix},    {"files", Json::array()},    {"images", Json::array()},
               {"kilns_own", Json::array()}, {"left_out", Json::array()}, {"differences", Json::array()}};
  for (const auto& [path, bytes] : import.files) json["files"].push_back(path);
  for (const ImportedImage& image : import.images)
    json["images"].push_back({{"axes", image.axes}, {"files", image.files}});
  for (const OwnOutput& own : import.own)
    json["kilns_own"].push_back(
        {{"file", own.file}, {"cell", own.cell}, {"key", own.key}, {"recipes", own.recipes}});
  for (const ImportNote& note : import.notes)
    json["left_out"].push_back(
        {{"file", note.file}, {"line", note.line}, {"rule", note.rule}, {"text", note.text}});
  for (const ImportDifference& one : import.differences)
    json["differences"].push_back({{"what", one.what},
                                   {"file", one.file},
                                   {"line", one.line},
                                   {"here", one.here},
                                   {"other_file", one.other_file},
                                   {"other_line", one.other_line},
                                   {"there", one.there}});
  return json;
}

}  // namespace kiln
