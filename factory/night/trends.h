// What the nights before say of this one: times, sizes and speeds whose level has changed. Pure.
#pragma once

#include <vector>

#include "factory/night/past_night.h"

namespace kiln {

// `nights`: oldest first, this one last. By image, of the series that this night has added a value to: a
// night in which an image was not built has no time and no size of it. Only the newest change of a series,
// and only while it is among its newest values: what is older was told then.
std::vector<Trend> find_trends(const std::vector<PastNight>& nights);

}  // namespace kiln
