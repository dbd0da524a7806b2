// References to base images: their tags, and the table of data/images.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/glob.h"
#include "base/json.h"
#include "lint/check_file.h"

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

struct Tagged {
  std::string_view image;  // without the hub's own name
  std::string_view tag;    // "" without one
  bool pinned = false;     // by digest
};

Tagged tagged_from(std::string_view reference) {
  constexpr std::array<std::string_view, 3> kHub = {"docker://", "docker.io/", "index.docker.io/"};
  for (std::string_view prefix : kHub)
    if (reference.starts_with(prefix)) reference.remove_prefix(prefix.size());
  const std::size_t digest = reference.find('@');
  Tagged tagged{reference.substr(0, digest), "", digest != std::string_view::npos};
  const std::size_t slash = tagged.image.rfind('/');
  const std::size_t colon = tagged.image.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return tagged;
  tagged.tag = tagged.image.substr(colon + 1);
  tagged.image = tagged.image.substr(0, colon);
  return tagged;
}

}  // namespace

void check_base(std::string_view reference, const SourceLocation& where, Report& report) {
  const Tagged base = tagged_from(reference);
  const std::string_view tag = base.tag.empty() && !base.pinned ? "latest" : base.tag;
  const auto& gone = gone_images();
  auto is_it = [&](const GoneImage& one) { return one.image == base.image && glob_matches(one.tag, tag); };
  auto found = std::find_if(gone.begin(), gone.end(), is_it);
  if (found != gone.end())
    report.add("KL019", where, fmt::format("'{}' cannot be pulled: {}", reference, found->why)).hint =
        found->instead;
  if (reference.find("@sha256:") != std::string_view::npos) return;
  if (tag == "latest")
    report.add("KL015", where, fmt::format("'{}' is whatever is newest", reference));
  else
    report.add("KL016", where, fmt::format("'{}' can be moved to another image", reference));
}

}  // namespace lint
}  // namespace kiln
