// Finds the endpoint of a request.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/serve/endpoint.h"
#include "registry/serve/error_response.h"

namespace kiln {

struct Route {
  std::string_view method;
  std::string_view path;          // "/v1/images/{repository}/{tag}"
  std::string_view name;          // of metrics: "image"
  Endpoint endpoint = nullptr;    // nullptr: the service's own, which needs more than endpoints have
  std::string_view parameters{};  // of the query: "limit snapshot"; others are refused
  bool cached = false;            // the answer is that of the index and the request alone
  bool writes = false;            // needs a token
  ErrorStyle style = ErrorStyle::own;
  bool whole = false;  // reads all of a snapshot, which takes time and memory: one at a time
};

std::span<const Route> all_routes();

struct RouteMatch {
  const Route* route = nullptr;      // nullptr: no route takes the request
  std::vector<std::string> names{};  // what stands in place of {…}
  std::string allow{};               // "GET, HEAD": where the path is there, and the method is not
  ErrorStyle style = ErrorStyle::own;
};
RouteMatch find_route(const ReceivedRequest& request);

// Throws Error(usage) for a member of the query that the route does not have; the peer's take all.
void check_parameters(const Route& route, const ReceivedRequest& request);

}  // namespace kiln
