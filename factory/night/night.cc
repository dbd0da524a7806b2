#include "factory/night/night.h"

#include <algorithm>

#include "factory/base/enum_names.h"

namespace kiln {
namespace {

constexpr auto kVerdicts = enum_names<Verdict>({{Verdict::built, "built"},
                                                {Verdict::mended, "mended"},
                                                {Verdict::unchanged, "unchanged"},
                                                {Verdict::failed, "failed"},
                                                {Verdict::unplanned, "unplanned"},
                                                {Verdict::not_reached, "not reached"},
                                                {Verdict::no_time, "no time"},
                                                {Verdict::no_machine, "no machine"}});
constexpr auto kActors =
    enum_names<Actor>({{Actor::nobody, "nobody"}, {Actor::recipe, "recipe"}, {Actor::site, "site"}});
constexpr auto kStates = enum_names<NightState>({{NightState::green, "green"},
                                                 {NightState::red, "red"},
                                                 {NightState::held, "held"},
                                                 {NightState::interrupted, "interrupted"}});
constexpr auto kCauses = enum_names<TroubleCause>({{TroubleCause::network, "network"},
                                                   {TroubleCause::refused, "refused"},
                                                   {TroubleCause::registry, "registry"},
                                                   {TroubleCause::tag, "tag"},
                                                   {TroubleCause::lock, "lock"},
                                                   {TroubleCause::disk, "disk"},
                                                   {TroubleCause::tool, "tool"},
                                                   {TroubleCause::input, "input"},
                                                   {TroubleCause::gain, "gain"},
                                                   {TroubleCause::forged, "forged"},
                                                   {TroubleCause::internal, "internal"}});

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts.of(verdict); }
std::string_view name_of(Actor actor) { return kActors.of(actor); }
std::string_view name_of(NightState state) { return kStates.of(state); }
std::string_view name_of(TroubleCause cause) { return kCauses.of(cause); }
std::optional<TroubleCause> trouble_cause_named(std::string_view name) { return kCauses.find(name); }
std::optional<Verdict> verdict_named(std::string_view name) { return kVerdicts.find(name); }
std::optional<Actor> actor_named(std::string_view name) { return kActors.find(name); }
std::optional<NightState> night_state_named(std::string_view name) { return kStates.find(name); }

bool is_good(Verdict verdict) {
  return verdict == Verdict::built || verdict == Verdict::mended || verdict == Verdict::unchanged;
}

std::size_t NightReport::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(images.begin(), images.end(),
                                                [&](const auto& image) { return image.verdict == verdict; }));
}

}  // namespace kiln
