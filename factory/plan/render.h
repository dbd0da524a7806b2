// render: ImageSpec → text. Byte-stable, complete, buildable without kiln. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/build_plan.h"
#include "plan/recipe.h"
#include "plan/site.h"

namespace kiln {

// A Dockerfile for `docker build`, `podman build` and `buildah bud` with the build context of `render_context`.
// A base made by a rootfs script is `FROM scratch` + `ADD rootfs.tar`; the header says how to make that file.
std::string render_dockerfile(const ImageSpec& spec);

// A definition file for `apptainer build` / `singularity build`, run in the folder of the build context.
std::string render_singularity(const ImageSpec& spec);

// The files both of them need beside them, path → bytes: "scripts/<kind>-<name>/<path>" of the recipes; of ours
// "rootfs.sh" (makes rootfs.tar on the build host), "setup.sh" (%setup) and "site/" (read by every RUN).
std::map<std::string, std::string> render_context(const ImageSpec& spec, const RecipeBook& recipes);

// build.ninja: one edge a step, one a test, one an image. Outputs are the step records named by key, so that a key that
// exists is never built again; inputs are order-only.
struct NinjaOptions {
  std::string kiln;                   // path of this program
  std::string state;                  // state folder, absolute
  std::vector<std::string> launcher;  // before each command
  std::string plan;                   // name of the plan: `kiln step --state <state> --plan <name> <key>`
};
std::string render_ninja(const BuildPlan& plan, const NinjaOptions& options);

// Quoting, exposed for tests: text of a recipe can never become an instruction or a section.
std::string quote_shell(std::string_view value);       // POSIX single quotes
std::string quote_docker_env(std::string_view value);  // ENV/LABEL value in double quotes
std::string quote_ninja(std::string_view value);       // path or value in build.ninja

}  // namespace kiln
