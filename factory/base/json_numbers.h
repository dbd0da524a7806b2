// Numbers of a JSON text as they were written: the version 2.10 is 2.1 once it has been a number.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kiln {

// By JSON pointer.
using WrittenNumbers = std::map<std::string, std::string>;

// Those that end in a zero which a number does not keep; mostly there are none. REQUIRES:
// JsonDocument::parse() takes the text.
WrittenNumbers written_numbers(std::string_view text);

}  // namespace kiln
