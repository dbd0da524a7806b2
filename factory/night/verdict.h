// What became of an image, against the night before: a verdict, and in words who must act. Pure.
#pragma once

#include <cstdint>

#include "factory/night/night.h"
#include "factory/run/build.h"

namespace kiln {

// What may pass without help has an actor from the third night in a row on.
inline constexpr std::int64_t kNightsOfPatience = 2;

// `outcome` → verdict. `before`: the image's cell in the last night that looked at it; null: in none.
Verdict verdict_of(const ImageOutcome& outcome, const NightImage* before);

// Sets actor, advice and failing_since. `night`: this one's number.
void judge(NightImage& image, const NightImage* before, std::int64_t night);

}  // namespace kiln
