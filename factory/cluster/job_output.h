// What a job prints, as it grows: events of its step are handed on, the rest is for people.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "factory/run/progress.h"

namespace kiln {

class JobOutput {
 public:
  JobOutput(std::filesystem::path file, std::function<void(const StepEvent&)> hear)
      : file_(std::move(file)), hear_(std::move(hear)) {}

  // What was added since the last time; a line that is not whole yet waits for the next. A file that became
  // shorter is that of a job which Slurm ran again.
  void read();

 private:
  std::filesystem::path file_;
  std::function<void(const StepEvent&)> hear_;
  std::uintmax_t at_ = 0;  // bytes read
  std::string pending_;
};

}  // namespace kiln
