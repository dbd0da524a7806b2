#include "factory/night/night.h"

#include <algorithm>

#include "factory/base/enum_names.h"
#include "factory/night/night_text.h"

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

template <typename Word, typename Names>
bool find_word(std::string_view name, const Names& names, Word& word) {
  const auto found = names.find(name);
  if (found) word = *found;
  return found.has_value();
}

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts.of(verdict); }
std::string_view name_of(Actor actor) { return kActors.of(actor); }
std::string_view name_of(NightState state) { return kStates.of(state); }
std::string_view name_of(TroubleCause cause) { return kCauses.of(cause); }
bool read_name(std::string_view name, Verdict& verdict) { return find_word(name, kVerdicts, verdict); }
bool read_name(std::string_view name, Actor& actor) { return find_word(name, kActors, actor); }
bool read_name(std::string_view name, NightState& state) { return find_word(name, kStates, state); }
bool read_name(std::string_view name, TroubleCause& cause) { return find_word(name, kCauses, cause); }

bool is_good(Verdict verdict) {
  return verdict == Verdict::built || verdict == Verdict::mended || verdict == Verdict::unchanged;
}

bool has_failed(Verdict verdict) { return verdict == Verdict::failed || verdict == Verdict::unplanned; }

std::size_t NightReport::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(images, verdict, &NightImage::verdict));
}

PastNight past_of(const NightReport& report) {
  PastNight past{report.number,
                 report.started,
                 report.ended,
                 report.last_green,
                 report.snapshot,
                 report.state,
                 0,
                 0,
                 report.every,
                 night_headline(report)};
  past.images = report.images.size();
  for (const NightImage& image : report.images) {
    past.good += is_good(image.verdict) ? 1 : 0;
    const bool was_built = image.verdict == Verdict::built || image.verdict == Verdict::mended;
    if (!was_built && image.speeds.empty()) continue;
    past.values.push_back({image.name, was_built ? image.seconds : 0,
                           was_built ? static_cast<double>(image.bytes) : 0, image.speeds});
  }
  return past;
}

}  // namespace kiln
