// render: ImageSpec → text. Byte-stable, complete, buildable without kiln. The last pure stage.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/recipe/recipe.h"
#include "factory/site/site.h"

namespace kiln {

// A Dockerfile for `docker build`, `podman build` and `buildah bud` with the build context of
// `render_context`. A base made by a rootfs script is `FROM scratch` + `ADD rootfs.tar`; the header says how
// to make that file.
std::string render_dockerfile(const ImageSpec& spec);

// A definition file for `apptainer build` / `singularity build`, run in the folder of the build context.
std::string render_singularity(const ImageSpec& spec);

// The files that both of them need in their folder, path → bytes. The recipes' files are
// "scripts/<kind>-<name>/<path>". kiln's files are "rootfs.sh" (makes rootfs.tar on the build host, and
// site/base if the base's recipe has a `site` script), "setup.sh" (%setup) and "site/" (read by every RUN).
std::map<std::string, std::string> render_context(const ImageSpec& spec, const RecipeBook& recipes);

// The same in one file each, which needs no other file: the Dockerfile writes the scripts in a separate
// stage, %post in heredocs. The script that makes a root file system is in comments, and the header says how
// to run it. Throws Error(input), with name and size, for files that are not text or over 64 KiB, and for
// over 256 KiB of them.
std::string render_inline_dockerfile(const ImageSpec& spec, const RecipeBook& recipes);
std::string render_inline_singularity(const ImageSpec& spec, const RecipeBook& recipes);
// Their names: "<repository>_<tag>" and this ending.
inline constexpr std::string_view kInlineDockerfile = ".Dockerfile";
inline constexpr std::string_view kInlineDefinition = ".def";

// The variables that every script finds, as shell words, which the twin proof looks for. `home` adds
// HOME=/root.
const std::vector<std::string>& always_there(bool home);

// build.ninja: one edge a step, one a test, one an image. Outputs are the step records named by key, so that
// a key that exists is never built again; inputs are order-only.
struct NinjaOptions {
  std::string kiln;                   // path of this program
  std::string state;                  // state folder, absolute
  std::vector<std::string> launcher;  // before each command
  std::string plan;                   // name of the plan: `kiln step --state <state> --plan <name> <key>`
  std::vector<std::string> arguments = {};  // further ones of `kiln step`
  // Keys of steps that are done and have all that those below them made: they ask for none of them.
  std::set<std::string> closed{};
  std::string folder = {};  // of ninja's log, below the state folder; "": the state folder itself
};
std::string render_ninja(const BuildPlan& plan, const NinjaOptions& options);

// The same image by image. Steps and titles are those of the first image that has them.
class NinjaText {
 public:
  explicit NinjaText(const NinjaOptions& options);
  void add(const ImageSpec& image);  // throws Error(input) for an id that ninja cannot write
  std::string finish();

 private:
  void add_step(const Step& step);

  std::set<std::string> closed_;
  std::string text_;
  std::string cells_;                           // their lines at the end
  std::string all_;                             // the ids
  std::map<std::string, std::string> records_;  // by key of the steps that are written
  std::map<std::string, std::string> images_;   // records of the images that are written, by key
};

}  // namespace kiln
