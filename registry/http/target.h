// The target of a request (RFC 9112, section 3.2): the origin form, "/v1/images?limit=3", or the absolute one
// with a host before it. It is not trusted, and never the name of a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

struct HttpTarget {
  std::vector<std::string> segments{};                       // of the path, decoded; "/" has none
  std::vector<std::pair<std::string, std::string>> query{};  // decoded, in order; a name stands once
};

// Throws Error(input): for another form (a tunnel's), an empty segment, `.` and `..` however they
// are written, a percent sign without two hex digits, what is not UTF-8, a control character, a name of the
// query that stands twice, more than 64 of either.
HttpTarget parse_target(std::string_view target);

// Without percent-encoding; nullopt when it is not valid, or decodes to what is no text. A plus sign is a
// blank where `plus_is_blank`, as forms write it.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);

}  // namespace kiln
