// Quoting for the scripts, which bash reads.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// One argument of a command, on one line: sbatch reads lines that begin with `#PBS` or `#BSUB` wherever they
// are, also within quotes behind commands.
std::string job_quoted(std::string_view text);
std::string job_word(std::string_view text);  // bare where no shell sees anything in it

}  // namespace kiln
