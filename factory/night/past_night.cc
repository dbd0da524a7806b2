#include "factory/night/past_night.h"

#include "factory/night/night_text.h"

namespace kiln {

PastNight past_of(const NightReport& report) {
  PastNight past{report.number,
                 report.started,
                 report.ended,
                 report.last_green,
                 report.snapshot,
                 report.state,
                 0,
                 0,
                 night_headline(report),
                 {}};
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
