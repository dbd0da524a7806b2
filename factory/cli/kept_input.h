// Input from stdin or a pipe, of commands that begin anew: a user without root does so in a user namespace
// (need_root_for_steps()).
#pragma once

#include <string>

namespace kiln {

// `-`, /dev/stdin, or a shell's <(…).
bool is_stream(const std::string& file);

// What is read from a stream can be read a second time from then on. Others: nothing. Throws Error(store).
void keep_readable(const std::string& file);

}  // namespace kiln
