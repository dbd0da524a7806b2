#pragma once

namespace kiln {

unsigned usable_processors();  // that this process may run on, at least 1

}  // namespace kiln
