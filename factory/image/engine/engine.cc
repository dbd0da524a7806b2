#include "image/engine/engine.h"

#include <fmt/format.h>

#include "image/engine/buildah.h"

namespace kiln {

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSetup& setup) {
  if (name == "buildah") return std::make_unique<BuildahEngine>(setup);
  throw Error(ExitCode::usage, fmt::format("unknown engine '{}'", name), did_you_mean(name, {"buildah"}));
}

}  // namespace kiln
