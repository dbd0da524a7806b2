// Made-up measurements whose law is known.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "registry/model/speed_record.h"

namespace kiln::testing {

struct MadeUpImage {
  const char* framework;
  const char* compilers;
  double factor;  // of the time
};
inline constexpr MadeUpImage kMadeUpImages[] = {{"pytorch", "", 1.0},
                                                {"pytorch", "inductor", 0.7},
                                                {"tensorflow", "", 1.3},
                                                {"tensorflow", "xla", 0.9},
                                                {"mxnet", "", 1.6}};

// 1 microsecond for each thousand parameters to the power of 0.8, times the image's factor, divided by the
// cores' speed-up; `noise` bends each record by up to that part, always in the same way.
inline std::vector<SpeedRecord> made_up_records(double noise = 0) {
  std::vector<SpeedRecord> records;
  int number = 0;
  for (const int cores : {2, 8})
    for (const double parameters : {1e5, 3e5, 1e6, 3e6, 1e7, 3e7})
      for (const MadeUpImage& image : kMadeUpImages) {
        SpeedRecord record;
        record.image = fmt::format("{}+{}", image.framework, image.compilers);
        record.workload = fmt::format("net{:g}", parameters);
        record.host = fmt::format("{} processors", cores);
        record.seconds = 1e-6 * std::pow(parameters / 1000, 0.8) * image.factor / std::sqrt(cores);
        record.seconds *= 1 + noise * (number++ * 7 % 11 - 5) / 5.0;
        record.amounts = {
            {"parameters", parameters}, {"batch", 64}, {"input_bytes", 2 * parameters}, {"cores", cores}};
        record.words = {{"framework", image.framework},
                        {"version", std::string(image.framework) + " 1"},
                        {"compilers", image.compilers},
                        {"device", "cpu"},
                        {"microarchitecture", "zen3"}};
        records.push_back(std::move(record));
      }
  return records;
}

}  // namespace kiln::testing
