#include "factory/plan/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

constexpr std::size_t kMostPlaces = 1000;

// A name as well: it will stand in recipes, tags and paths.
bool is_release(const std::string& text) {
  return is_name(text) && text.size() <= 64 && is_digit(text.front());
}

// What to write in the recipe for a release: what is known of the newest, to be checked.
Json version_body(const ComponentVersion& newest, const UpstreamRelease& release) {
  Json body = Json::object();
  if (!newest.facts.empty()) body["facts"] = newest.facts;
  if (!release.commit.empty() && newest.source_checksum.starts_with("git:"))
    body["source"] = {{"url", newest.source_url}, {"checksum", "git:" + release.commit}};
  return body;
}

std::string own_place(const Proposal& proposal) {
  return place_of(proposal.component, proposal.upstream, proposal.range);
}

// As people write it: {"facts": {"python": "3.12"}}.
std::string spaced(const Json& value) {
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [name, member] : value.items())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", Json(name).dump(), spaced(member));
  return "{" + text + "}";
}

const Proposal* find_place(const std::vector<Proposal>& found, const std::string& place) {
  auto one =
      std::ranges::find_if(found, [&](const Proposal& proposal) { return own_place(proposal) == place; });
  return one == found.end() ? nullptr : &*one;
}

// The places that stay, in their order, with what is found of them now.
std::vector<ProposalMemory::Place> kept_places(const std::vector<Proposal>& found,
                                               const std::set<std::string>& asked,
                                               const std::set<std::string>& known,
                                               const ProposalMemory& memory) {
  std::vector<ProposalMemory::Place> kept;
  for (const ProposalMemory::Place& place : memory.places) {
    const std::string name = own_place(place.proposal);
    if (!known.contains(name)) continue;
    const Proposal* now = find_place(found, name);
    if (now == nullptr && asked.contains(name)) continue;
    kept.push_back(place);
    if (now == nullptr) continue;
    kept.back().proposal = *now;
    kept.back().proposal.first_seen = place.proposal.first_seen;
  }
  return kept;
}

Proposal read_place(const JsonNode& node) {
  Proposal one;
  one.component = read_text(node.at("component"));
  one.upstream = read_text(node.at("upstream"));
  one.range = read_text(node.at("range"));
  one.release.version = node.at("version").name();
  if (auto date = node.find("released")) one.release.date = read_text(*date);
  if (auto commit = node.find("commit")) one.release.commit = read_text(*commit);
  if (auto newest = node.find("newest")) one.newest = read_text(*newest);
  if (auto recipe = node.find("recipe")) one.recipe = read_text(*recipe);
  if (auto body = node.find("write")) one.version = body->value();
  const JsonNode seen = node.at("first_seen");
  const auto seconds = unix_seconds_of(seen.string());
  if (!seconds) seen.fail(fmt::format("expected a date, found '{}'", seen.string()));
  one.first_seen = *seconds;
  return one;
}

}  // namespace

std::vector<UpstreamRelease> releases_of_tags(const std::string& pattern,
                                              const std::map<std::string, std::string>& tags) {
  const std::size_t star = pattern.find('*');
  const std::string before = pattern.substr(0, star);
  const std::string after = star == std::string::npos ? "" : pattern.substr(star + 1);
  std::vector<UpstreamRelease> releases;
  for (const auto& [tag, commit] : tags) {
    if (tag.size() <= before.size() + after.size() || !tag.starts_with(before) || !tag.ends_with(after))
      continue;
    std::string version = tag.substr(before.size(), tag.size() - before.size() - after.size());
    if (is_release(version) && commit.size() == 40 && is_hex(commit))
      releases.push_back({std::move(version), "", commit});
  }
  return releases;
}

std::string name_of(const Upstream& upstream) {
  return upstream.package.empty() ? upstream.repository : upstream.package + " on the package index";
}

std::string place_of(const std::string& component, const std::string& upstream, const std::string& range) {
  return fmt::format("{}, {}, {}", component, upstream, range);
}

Json to_json(const Proposal& proposal) {
  Json json = {{"component", proposal.component},
               {"upstream", proposal.upstream},
               {"range", proposal.range},
               {"version", proposal.release.version},
               {"first_seen", rfc3339(proposal.first_seen)}};
  put(json, "released", proposal.release.date);
  put(json, "commit", proposal.release.commit);
  put(json, "newest", proposal.newest);
  put(json, "recipe", proposal.recipe);
  if (!proposal.version.is_null()) json["write"] = proposal.version;
  return json;
}

std::string text_of(const Proposal& proposal) {
  std::string text = fmt::format(
      "{}: {} ({}), {}", proposal.component, proposal.release.version,
      proposal.newest.empty() ? "none in " + proposal.range : "has " + proposal.newest, proposal.upstream);
  if (!proposal.release.date.empty()) text += ", released " + proposal.release.date.substr(0, 10);
  if (!proposal.release.commit.empty()) text += ", commit " + proposal.release.commit.substr(0, 12);
  return text;
}

std::string line_of(const Proposal& proposal) {
  return fmt::format("\"{}\": {}", proposal.release.version, spaced(proposal.version));
}

std::string with_version(const std::string& recipe, const Proposal& proposal) {
  const JsonNode versions = JsonDocument::parse(recipe, file_of(proposal)).root().at("versions");
  const SourceLocation where = versions.where();
  std::size_t at = 0;
  for (int line = 1; line < where.line; ++line) at = recipe.find('\n', at) + 1;
  at += static_cast<std::size_t>(where.column);  // behind the brace
  const bool own_lines = at < recipe.size() && recipe[at] == '\n';
  std::string text = recipe;
  text.insert(at, fmt::format("{}{},", own_lines ? "\n    " : "", line_of(proposal)));
  JsonDocument::parse(text, file_of(proposal));
  return text;
}

std::string file_of(const Proposal& proposal) {
  return proposal.recipe.substr(0, proposal.recipe.rfind(':'));
}

std::optional<Proposal> newer_release(const Recipe& recipe, const Upstream& upstream,
                                      const std::vector<UpstreamRelease>& releases) {
  const ComponentVersion* own = nullptr;  // versions are newest first
  for (const ComponentVersion& one : recipe.versions)
    if (own == nullptr && upstream.versions.contains(one.version)) own = &one;
  const UpstreamRelease* best = nullptr;
  for (const UpstreamRelease& release : releases) {
    if (!is_release(release.version)) continue;
    const Version version(release.version);
    if (!upstream.versions.contains(version)) continue;
    if (version.is_pre_release() && !upstream.versions.names_pre_release()) continue;
    if (own != nullptr && version <= own->version) continue;
    if (best == nullptr || Version(best->version) < version) best = &release;
  }
  if (best == nullptr) return std::nullopt;
  Proposal proposal;
  proposal.component = path_of(recipe);
  proposal.upstream = name_of(upstream);
  proposal.range = upstream.versions.text();
  proposal.release = *best;
  proposal.newest = own == nullptr ? "" : own->version.text();
  const ComponentVersion& model = own == nullptr ? recipe.versions.front() : *own;
  proposal.recipe = fmt::format("{}:{}", recipe.file, model.where.line);
  proposal.version = version_body(model, *best);
  return proposal;
}

ProposalMemory read_proposals(const JsonDocument& document) {
  ProposalMemory memory;
  for (const JsonNode& node : document.root().at("places").items()) {
    if (memory.places.size() == kMostPlaces) node.fail("more places than recipes have upstreams");
    memory.places.push_back({read_place(node), node.at("shown").boolean()});
  }
  return memory;
}

std::string proposals_text(const ProposalMemory& memory) {
  Json places = Json::array();
  for (const ProposalMemory::Place& place : memory.places) {
    Json json = to_json(place.proposal);
    json["shown"] = place.shown;
    places.push_back(std::move(json));
  }
  return Json{{"places", std::move(places)}}.dump(2) + "\n";
}

Proposals choose_proposals(const std::vector<Proposal>& found, const std::set<std::string>& asked,
                           const std::set<std::string>& known, const ProposalMemory& memory, int most,
                           std::int64_t now) {
  Proposals chosen;
  chosen.memory.places = kept_places(found, asked, known, memory);
  std::set<std::string> taken;
  for (const ProposalMemory::Place& place : chosen.memory.places) taken.insert(own_place(place.proposal));
  for (const Proposal& proposal : found) {
    if (!taken.insert(own_place(proposal)).second) continue;
    chosen.memory.places.push_back({proposal, false});
    chosen.memory.places.back().proposal.first_seen = now;
  }
  for (ProposalMemory::Place& place : chosen.memory.places) {
    const bool fits = chosen.shown.size() < static_cast<std::size_t>(std::max(most, 0));
    (fits ? chosen.shown : chosen.waiting).push_back(place.proposal);
    if (!fits) continue;
    chosen.shown.back().is_new = !place.shown;
    place.shown = true;
  }
  return chosen;
}

}  // namespace kiln
