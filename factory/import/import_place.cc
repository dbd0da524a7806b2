// Bases, and cells that would be one.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/import/import_parts.h"
#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_script.h"

namespace kiln {

// Build stages that have another base than their image.

namespace {

// "nvidia/cuda" and "11.0-devel" of "nvidia/cuda:11.0-devel"; a port's colon belongs to the repository.
std::pair<std::string, std::string> split_reference(const std::string& reference) {
  const std::size_t colon = reference.find(':', reference.rfind('/') + 1);
  if (colon == std::string::npos || contains(reference, '@')) return {reference, ""};
  return {reference.substr(0, colon), reference.substr(colon + 1)};
}

bool same_repository(const std::string& one, const std::string& other) {
  return split_reference(one).first == split_reference(other).first;
}

// A build stage belongs to a method, and what it stands upon to a version of a base.
bool may_stand_apart(const ImportCell& one) {
  const LegacyImage& image = one.legacy;
  return image.parents.empty() && !image.copies.empty() &&
         same_repository(image.base.value, image.build_base.value) &&
         is_name(split_reference(image.build_base.value).second) &&
         is_name(split_reference(image.base.value).second) &&
         std::ranges::all_of(image.copies, [](const std::string& path) {
           return path.starts_with('/') && is_recipe_path(std::string_view(path).substr(1));
         });
}

// Both on one: what CUDA's devel builds runs on it; else the image's counts.
void share_one_base(LegacyImage& image) {
  const std::string build = image.build_base.value;
  const bool takes_build = same_repository(image.base.value, build) && contains(build, "devel");
  image.note(image.build_base.line, "build-base",
             fmt::format("the build stage starts from {}, the image from {}: both get the {}", build,
                         image.base.value, takes_build ? "build stage's" : "image's"));
  if (takes_build) image.base.value = build;
  image.build_base = {};
}

}  // namespace

// Decides what build stages of another base stand upon: a version of the image's base where both are of one
// repository and all images of that base agree, else one base for both, with a note.
static void settle_build_bases(std::vector<ImportCell>& cells) {
  std::map<std::string, int> of_method;
  std::map<std::string, std::set<std::string>>
      builds_on;  // base → what build stages of its images stand upon
  for (const ImportCell& one : cells) {
    ++of_method[one.cell.framework + " " + one.cell.method];
    const LegacyImage& image = one.legacy;
    if (!image.build_body.empty())
      builds_on[image.base.value].insert(image.build_base.value.empty() ? image.base.value
                                                                        : image.build_base.value);
  }
  for (ImportCell& one : cells) {
    const std::string& build = one.legacy.build_base.value;
    if (build.empty()) continue;
    const bool alone = of_method[one.cell.framework + " " + one.cell.method] == 1;
    const bool agreed = builds_on[one.legacy.base.value].size() == 1 &&
                        (!builds_on.contains(build) || builds_on[build] == std::set{build});
    if (!alone || !agreed || !may_stand_apart(one)) share_one_base(one.legacy);
  }
}

namespace {

bool is_reference(const std::string& text) {
  return !text.empty() && is_letter_or_digit(text[0]) &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/:@") ==
             std::string::npos;
}

struct Reference {
  std::string repository;  // with its registry
  std::string tag;
  std::string digest;  // 64 hex digits
};

// docker.io and library/ are what Docker adds.
Reference parse_reference(std::string text) {
  Reference reference;
  if (std::size_t at = text.find('@'); at != std::string::npos) {
    std::string digest = text.substr(at + 1);
    reference.digest = digest.substr(digest.find(':') + 1);
    text.resize(at);
  }
  std::size_t slash = text.rfind('/');
  std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && (slash == std::string::npos || colon > slash)) {
    reference.tag = text.substr(colon + 1);
    text.resize(colon);
  }
  std::string first = text.substr(0, text.find('/'));
  bool registry =
      contains(text, '/') && (first.find_first_of(".:") != std::string::npos || first == "localhost");
  if (!registry) text.insert(0, contains(text, '/') ? "docker.io/" : "docker.io/library/");
  reference.repository = text;
  return reference;
}

bool floats(const std::string& tag) {
  return tag.empty() || is_one_of(tag, "latest stable devel nightly master main edge rolling testing") ||
         contains(tag, "latest") || contains(tag, "nightly");
}

class BaseNames {
 public:
  // Throws Error(input) for what is no reference.
  ImportBase of(LegacyImage& image);

 private:
  std::string name_of(const LegacyImage& image, const Reference& reference);
  std::string name_of(const Reference& reference);
  std::map<std::string, std::string> repositories_;  // component → repository, with the digest
};

// A base that definition files of the folder make is called after the last of them.
std::string BaseNames::name_of(const LegacyImage& image, const Reference& reference) {
  if (image.parents.empty()) return name_of(reference);
  const std::string whole =
      fmt::format("{}\n{}", fmt::join(image.parents, "\n"), reference.repository + reference.digest);
  const std::string stem = component_name(stem_of(image.parents.back()));
  std::string name = stem;
  for (int number = 2; repositories_.contains(name) && repositories_[name] != whole; ++number)
    name = fmt::format("{}-{}", stem, number);
  repositories_[name] = whole;
  return name;
}

std::string BaseNames::name_of(const Reference& reference) {
  std::string whole =
      reference.repository + (reference.digest.empty() ? "" : "@" + reference.tag + reference.digest);
  std::string rest = reference.repository;
  std::string name = component_name(last_part(rest));
  if (std::size_t slash = rest.rfind('/');
      is_one_of(last_part(rest), "release python base image runtime devel cpu gpu") &&
      slash != std::string::npos) {
    rest.resize(slash);
    if (last_part(rest) != "library") name = component_name(last_part(rest)) + "-" + name;
  }
  if (reference.repository.starts_with(kUndecidedRegistry)) name = "library-" + name;
  if (!reference.digest.empty()) name += "-" + reference.digest.substr(0, 8);
  for (auto found = repositories_.find(name); found != repositories_.end() && found->second != whole;
       found = repositories_.find(name)) {
    std::size_t slash = rest.rfind('/');
    if (slash == std::string::npos) {
      name += "x";
      continue;
    }
    rest.resize(slash);
    name = component_name(last_part(rest)) + "-" + name;
  }
  repositories_[name] = whole;
  return name;
}

std::string describe_base(const LegacyImage& image, const Reference& reference) {
  if (reference.repository.starts_with(kUndecidedRegistry))
    return fmt::format(
        "Imported: to be decided. {} is an image of the Singularity library, which no registry has",
        reference.repository.substr(kUndecidedRegistry.size()));
  std::string made;
  for (const std::string& parent : image.parents)
    made += (made.empty() ? ", with " : ", ") + printable_name(parent);
  return fmt::format("Imported: {}{}", reference.repository, made);
}

// Told once of a base that several images share.
void note_base(LegacyImage& image, const std::string& rule, const std::string& text) {
  const bool own = image.base_file.empty();
  image.notes.push_back(
      {own ? image.path : image.base_file, own ? image.base.line : image.base_line, rule, text});
}

// kiln pulls from registries alone, and which image of one is the same nobody but the site knows.
void note_library(LegacyImage& image) {
  const std::string& text = image.base.value;
  if (!text.starts_with(kUndecidedRegistry)) return;
  const std::string written = text.substr(kUndecidedRegistry.size());
  note_base(image, "library-base",
            fmt::format("{} is an image of {}, which kiln cannot pull; {}", written,
                        image.library.empty() ? "the Singularity library" : "the library " + image.library,
                        how_to_give_base("library://" + written)));
}

ImportBase BaseNames::of(LegacyImage& image) {
  const std::string& text = image.base.value;
  if (!is_reference(text))
    throw Error(ExitCode::input, {image.path, image.base.line, 1, ""},
                fmt::format("'{}' is not a valid image reference", text));
  Reference reference = parse_reference(text);
  note_library(image);
  if (reference.digest.empty() && floats(reference.tag))
    note_base(image, "floating-base", fmt::format("{} is another image every day", text));
  ImportBase base{name_of(image, reference), reference.tag.empty() ? "latest" : reference.tag,
                  reference.repository + ":{version}", describe_base(image, reference)};
  if (!reference.digest.empty()) {
    if (reference.tag.empty()) base.version = reference.digest.substr(0, 12);
    base.image =
        reference.repository + (reference.tag.empty() ? "" : ":{version}") + "@sha256:" + reference.digest;
  }
  if (!image.build_base.value.empty()) base.build_on = parse_reference(image.build_base.value).tag;
  if (!is_name(base.version))
    throw Error(ExitCode::input, {image.path, image.base.line, 1, ""},
                fmt::format("kiln cannot use the tag of {} as a version", text));
  return base;
}

// What a tag tells apart: two cells must not get one.
std::string tag_key(const ImportCell& one) {
  bool number = is_digit(one.base.version[0]);
  return fmt::format("{} {} {} {} {} {}", one.cell.framework, one.cell.version, one.cell.method,
                     one.cell.compiler, one.cell.target(),
                     (number ? one.base.component : "") + one.base.version);
}

// "1.4" and "1.4.0" are one version: the first that was seen names it.
void unify_versions(std::vector<ImportCell>& cells) {
  std::map<std::string, std::vector<std::string>> versions;
  for (ImportCell& one : cells) {
    if (!is_name(one.cell.version)) one.cell.version = "0";
    std::vector<std::string>& known = versions[one.cell.framework];
    Version own(one.cell.version);
    auto same = std::ranges::find_if(known, [&](const std::string& text) { return Version(text) == own; });
    if (same == known.end()) {
      known.push_back(one.cell.version);
    } else {
      one.cell.version = *same;
    }
  }
}

}  // namespace

AxisValues ImportCell::axes() const {
  AxisValues values = {{"framework", cell.framework},
                       {"version", cell.version},
                       {"method", cell.method},
                       {"base", base.component + "@" + base.version},
                       {"target", cell.target()}};
  if (!cell.compiler.empty()) values["compiler"] = cell.compiler;
  if (!library.empty()) values["library"] = library;
  return values;
}

void place_cells(std::vector<ImportCell>& cells) {
  BaseNames bases;
  std::vector<ImportCell> placed;
  std::set<std::string> tags;
  unify_versions(cells);
  settle_build_bases(cells);
  for (ImportCell& one : cells) {
    one.base = bases.of(one.legacy);
    if (tags.contains(tag_key(one))) {
      std::string own = component_name(one.legacy.stem);
      one.legacy.note(
          0, "same-cell",
          fmt::format("another file is {} {} ({}) for {} as well: this one is called {}", one.cell.framework,
                      one.cell.version, one.cell.method, one.cell.target(), own));
      one.cell.framework = own;
      for (int number = 2; tags.contains(tag_key(one)); ++number)
        one.cell.framework = fmt::format("{}-{}", own, number);
    }
    tags.insert(tag_key(one));
    placed.push_back(std::move(one));
  }
  cells = std::move(placed);
  unify_versions(cells);
}

}  // namespace kiln
