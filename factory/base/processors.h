#pragma once

namespace kiln {

unsigned usable_processors();  // that this process may run on, at least 1
// Compilers that the machine's memory bears at once, at 2 GiB each; at least 1.
unsigned compilers_in_memory();

}  // namespace kiln
