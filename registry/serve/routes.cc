#include "registry/serve/routes.h"

#include <fmt/format.h>

#include <array>

#include "factory/base/text.h"

namespace kiln {
namespace {

// The index and the request alone decide these answers.
constexpr Route own(std::string_view method, std::string_view path, std::string_view name, Endpoint endpoint,
                    std::string_view parameters = {}, bool whole = false) {
  return {method, path, name, endpoint, parameters, true, false, ErrorStyle::own, whole};
}
constexpr Route peer(std::string_view method, std::string_view path, std::string_view name, Endpoint endpoint,
                     bool whole = false) {
  return {method, path, name, endpoint, {}, true, false, ErrorStyle::peer, whole};
}
constexpr Route peer_write(std::string_view method, std::string_view path, std::string_view name,
                           Endpoint endpoint) {
  return {method, path, name, endpoint, {}, false, true, ErrorStyle::peer};
}

constexpr bool kWhole = true;
constexpr std::array kRoutes = {
    own("POST", "/v1/select", "select", answer_select,
        "host format snapshot limit allow_failing lenient explain"),
    own("POST", "/v1/explain", "explain", answer_explain, "host format snapshot limit allow_failing lenient"),
    own("POST", "/v1/job", "job", answer_job_script,
        "host infrastructure scheduler runtime snapshot allow_failing lenient"),
    own("GET", "/v1/images", "images", answer_images, "match snapshot limit offset", kWhole),
    own("GET", "/v1/images/{repository}/{tag}", "image", answer_image, "snapshot", kWhole),
    own("GET", "/v1/snapshots", "snapshots", answer_snapshots),
    Route{"GET", "/v1/demand", "demand", answer_demand, "unmet limit"},
    Route{"GET", "/healthz", "healthz", answer_health},
    Route{"GET", "/metrics", "metrics", nullptr},
    Route{"GET", "/openapi.json", "openapi", answer_openapi},
    peer("POST", "/get_image", "get_image", answer_get_image),
    peer("GET", "/container_mappings", "container_mappings", answer_mappings, kWhole),
    peer_write("POST", "/container_mappings", "new_container_mapping", answer_new_mapping),
    peer("GET", "/container_mappings/{opt_dsl_code}", "container_mapping", answer_mapping, kWhole),
    peer("POST", "/optimise", "optimise", answer_optimise),
    peer("POST", "/get_build", "get_build", answer_get_build),
    peer("POST", "/get_optimisation", "get_optimisation", answer_get_optimisation),
    peer("GET", "/infrastructures", "infrastructures", answer_site_documents),
    peer_write("POST", "/infrastructures", "new_infrastructure", answer_new_site_document),
    peer("GET", "/infrastructures/{id}", "infrastructure", answer_site_document),
    peer_write("DELETE", "/infrastructures/{id}", "no_infrastructure", answer_no_site_document),
    peer("GET", "/scripts", "scripts", answer_site_documents),
    peer_write("POST", "/scripts", "new_script", answer_new_site_document),
    peer("GET", "/scripts/{id}", "script", answer_site_document),
    peer_write("DELETE", "/scripts/{id}", "no_script", answer_no_site_document),
    peer("GET", "/scaling_models", "scaling_models", answer_site_documents),
    peer_write("POST", "/scaling_models", "new_scaling_model", answer_new_site_document),
    peer("GET", "/scaling_models/{id}", "scaling_model", answer_site_document),
    peer_write("DELETE", "/scaling_models/{id}", "no_scaling_model", answer_no_site_document),
};

// For people, and so in no /openapi.json.
constexpr Route kPageRoute{"GET", "", "page", answer_page};

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

// Without the first segment of a path, and that.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool match(std::string_view path, const std::vector<std::string>& segments, std::vector<std::string>& names) {
  names.clear();
  for (const std::string& segment : segments) {
    if (path.empty()) return false;
    const std::string_view wanted = next_segment(path);
    if (is_name(wanted))
      names.push_back(segment);
    else if (wanted != segment)
      return false;
  }
  return path.empty();
}

}  // namespace

std::span<const Route> all_routes() { return kRoutes; }

RouteMatch find_route(const ReceivedRequest& request) {
  RouteMatch found;
  const auto& segments = request.target.segments;
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  for (const Route& route : all_routes()) {
    if (!match(route.path, segments, found.names)) continue;
    found.style = route.style;
    if (route.method == method) {
      found.route = &route;
      return found;
    }
    found.allow += found.allow.empty() ? "" : ", ";
    found.allow += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (found.allow.empty() && method == "GET") found.route = &kPageRoute;
  return found;
}

void check_parameters(const Route& route, const ReceivedRequest& request) {
  const bool takes_any = route.style == ErrorStyle::peer || route.path.empty();
  if (takes_any || request.target.query.empty()) return;
  std::vector<std::string> known;
  for (std::string_view name : split(route.parameters, ' '))
    if (!name.empty()) known.emplace_back(name);
  for (const auto& [name, value] : request.target.query)
    if (!contains(known, name))
      throw Error(ExitCode::usage, fmt::format("unknown parameter '{}'", name), did_you_mean(name, known));
}

}  // namespace kiln
