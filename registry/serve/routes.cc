#include "registry/serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "registry/serve/verbs.h"

namespace kiln {
namespace {

constexpr std::string_view kSelectParameters = "host format snapshot limit allow_failing lenient";

constexpr std::string_view kJobParameters =
    "host infrastructure scheduler runtime snapshot allow_failing lenient";

constexpr std::array kRoutes = {
    Route{"POST", "/v1/select", "select", answer_select,
          "host format snapshot limit allow_failing lenient explain", true},
    Route{"POST", "/v1/explain", "explain", answer_explain, kSelectParameters, true},
    Route{"POST", "/v1/job", "job", answer_job_script, kJobParameters, true},
    Route{"GET", "/v1/images", "images", answer_images, "match snapshot limit offset", true, false,
          ErrorStyle::own, true},
    Route{"GET", "/v1/images/{repository}/{tag}", "image", answer_image, "snapshot", true, false,
          ErrorStyle::own, true},
    Route{"GET", "/v1/snapshots", "snapshots", answer_snapshots, "", true},
    Route{"GET", "/v1/demand", "demand", answer_demand, "unmet limit"},
    Route{"GET", "/healthz", "healthz", answer_health},
    Route{"GET", "/metrics", "metrics", nullptr},
    Route{"GET", "/openapi.json", "openapi", answer_openapi},
    Route{"POST", "/get_image", "get_image", answer_get_image, "", true, false, ErrorStyle::peer},
    Route{"GET", "/container_mappings", "container_mappings", answer_mappings, "", true, false,
          ErrorStyle::peer, true},
    Route{"POST", "/container_mappings", "new_container_mapping", answer_new_mapping, "", false, true,
          ErrorStyle::peer},
    Route{"GET", "/container_mappings/{opt_dsl_code}", "container_mapping", answer_mapping, "", true, false,
          ErrorStyle::peer, true},
    Route{"POST", "/optimise", "optimise", answer_optimise, "", true, false, ErrorStyle::peer},
    Route{"POST", "/get_build", "get_build", answer_get_build, "", true, false, ErrorStyle::peer},
    Route{"POST", "/get_optimisation", "get_optimisation", answer_get_optimisation, "", true, false,
          ErrorStyle::peer},
    Route{"GET", "/infrastructures", "infrastructures", answer_infrastructures, "", true, false,
          ErrorStyle::peer},
    Route{"POST", "/infrastructures", "new_infrastructure", answer_new_infrastructure, "", false, true,
          ErrorStyle::peer},
    Route{"GET", "/infrastructures/{id}", "infrastructure", answer_infrastructure, "", true, false,
          ErrorStyle::peer},
    Route{"DELETE", "/infrastructures/{id}", "no_infrastructure", answer_no_infrastructure, "", false, true,
          ErrorStyle::peer},
    Route{"GET", "/scripts", "scripts", answer_scripts, "", true, false, ErrorStyle::peer},
    Route{"POST", "/scripts", "new_script", answer_new_script, "", false, true, ErrorStyle::peer},
    Route{"GET", "/scripts/{id}", "script", answer_script, "", true, false, ErrorStyle::peer},
    Route{"DELETE", "/scripts/{id}", "no_script", answer_no_script, "", false, true, ErrorStyle::peer},
    Route{"GET", "/scaling_models", "scaling_models", answer_scaling_models, "", true, false,
          ErrorStyle::peer},
    Route{"POST", "/scaling_models", "new_scaling_model", answer_new_scaling_model, "", false, true,
          ErrorStyle::peer},
    Route{"GET", "/scaling_models/{id}", "scaling_model", answer_scaling_model, "", true, false,
          ErrorStyle::peer},
    Route{"DELETE", "/scaling_models/{id}", "no_scaling_model", answer_no_scaling_model, "", false, true,
          ErrorStyle::peer},
};

// For people, and so in no /openapi.json.
constexpr Route kPageRoute{"GET", "", "page", answer_page};

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

// Without the first segment of a path, and that.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool match(std::string_view path, const std::vector<std::string>& segments, std::vector<std::string>& names) {
  names.clear();
  for (const std::string& segment : segments) {
    if (path.empty()) return false;
    const std::string_view wanted = take_segment(path);
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
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ExitCode::usage, fmt::format("unknown parameter '{}'", name), did_you_mean(name, known));
}

}  // namespace kiln
