// The gains of a night's images over stock, and the images that lost a proven one. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/night/night.h"
#include "registry/index/index.h"

namespace kiln {

// "mnist-cnn on AMD EPYC 7763, 2 processors": what a gain is of.
std::string gain_place(const std::string& workload, const HostDescription& host);

// Sets speeds and gains of the images by the last measurements of their bits. `measured`: entries of the
// index that have measurements.
void set_gains(std::vector<NightImage>& images, const std::vector<IndexEntry>& measured);

bool has_fallen(const NightImage& image);  // a gain of it that was proven is not proven any more

// Keeps what the last night knew and this one does not, and marks the gains that were proven before and are
// not any more. `before`: the images of the last night that looked at any. `night`: the number of this one.
void compare_gains(std::vector<NightImage>& images, const std::vector<NightImage>& before,
                   std::int64_t night);

// A trouble for each gain that fell back and is not proven again. `trends`: of this night.
std::vector<NightTrouble> fallen_troubles(const std::vector<NightImage>& images,
                                          const std::vector<Trend>& trends);

// Compares this night with earlier ones: times, sizes and speeds whose level has changed. Pure.

// `nights`: oldest first, this one last. By image, of the series that this night has added a value to: a
// night in which an image was not built has no time and no size of it. Only the newest change of a series,
// and only while it is among its newest values: earlier nights reported older ones.
std::vector<Trend> find_trends(const std::vector<PastNight>& nights);

}  // namespace kiln
