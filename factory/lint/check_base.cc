// References to base images: their tags, and the table of data/images.json.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/check_file.h"
#include "factory/oci/reference.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
namespace {

struct GoneImage {
  std::string image;
  std::string tag;  // a glob
  std::string why;
  std::string instead;
};

const std::vector<GoneImage>& gone_images() {
  static const std::vector<GoneImage> kGone = [] {
    const auto data = embedded_lint_data();
    const JsonDocument document = JsonDocument::parse(data.at("images.json"), "images.json");
    std::vector<GoneImage> gone;
    for (const JsonNode& one : document.root().at("gone").items())
      gone.push_back({one.at("image").string(), one.at("tag").string(), one.at("why").string(),
                      one.at("instead").string()});
    return gone;
  }();
  return kGone;
}

// As Docker Hub names it.
std::string hub_name(std::string_view reference) {
  std::string name = repository_name(reference);
  for (std::string_view host : {"docker.io/", "index.docker.io/"})
    if (name.starts_with(host)) return name.substr(host.size());
  return name;
}

}  // namespace

void check_base(std::string_view reference, const SourceLocation& where, Report& report) {
  const bool pinned = reference.find("@sha256:") != std::string_view::npos;
  std::string tag = tag_of(reference);
  if (tag.empty() && !pinned) tag = "latest";
  const std::string name = hub_name(reference);
  const auto& gone = gone_images();
  auto found = std::find_if(gone.begin(), gone.end(), [&](const GoneImage& one) {
    return one.image == name && glob_matches(one.tag, tag);
  });
  if (found != gone.end())
    report.add("KL019", where, fmt::format("'{}' cannot be pulled: {}", reference, found->why)).hint =
        found->instead;
  if (pinned) return;
  if (tag == "latest")
    report.add("KL015", where, fmt::format("'{}' is whatever is newest", reference));
  else
    report.add("KL016", where, fmt::format("'{}' can be moved to another image", reference));
}

}  // namespace lint
}  // namespace kiln
