// The commands that start an image, for each of the engines that sites have. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/record/image_record.h"

namespace kiln {

struct RunCommand {
  std::string engine;  // "Apptainer", "Slurm with pyxis"
  std::string text;    // lines of a shell
};

struct RunCommands {
  // What a reader should know first: that it is in no registry, that only some engines can have it.
  std::vector<std::string> notes;
  std::vector<RunCommand> commands;  // empty: the notes say why
};

RunCommands run_commands(const ImageRecord& image);

}  // namespace kiln
