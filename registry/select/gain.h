// The gain of one image over another, as it was measured: docs/measure.md, "Figures". Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/record/image_record.h"
#include "registry/index/index.h"

namespace kiln {

struct GainOver {
  const Measurement* of = nullptr;  // both of the same session
  const Measurement* over = nullptr;
  MeasuredGain gain;
};

// `image`, `over`: all measurements of each, by their time. In the last session in which both took turns,
// with the workload, unit and host of `like`; nullopt: there is none, and their speeds do not compare.
std::optional<GainOver> gain_over(const std::vector<Measurement>& image, const std::vector<Measurement>& over,
                                  const Measurement& like);

// The state of an image's gain over stock: "proven: 1.35 times as fast as its stock image (1.31 to 1.40)",
// "it is the stock image", "not measured in turns with its stock image". nullptr: it has no measurement that
// compares.
std::string gain_state(const Measurement* measured);

// The word for the last measurements of each workload on each kind of host together.
StockGain gain_of_build(const IndexEntry& entry);

// The description of an image: "mapping", "stock build", or, by the last measurement of each workload on each
// kind of host, "optimised build, proven", "optimised build, gain not measured", "no gain over stock" or
// "slower than stock". One workload with a proven gain is enough; one without a gain is enough to be called
// no optimised build.
std::string build_words(const IndexEntry& entry);
// The same in an answer: "stock image", "optimised build", or "a build without a gain over stock" or "a build
// slower than stock". `measured`: where it compares; without a word there, by build_words()'s rule.
std::string build_word(const IndexEntry& entry, const Measurement* measured);

// The four words of an image's gain over stock, one for each workload and kind of host, and the document with
// them that goes with the image: docs/measure.md, "Gain over stock". Pure.

// A workload on a kind of host, in one unit.
struct MeasuredSetup {
  std::string workload;
  std::string unit;
  HostDescription host;
};

// Where images of an application were measured, by its name in lower case; each once.
using MeasuredSetups = std::map<std::string, std::vector<MeasuredSetup>>;
MeasuredSetups measured_setups(const std::vector<IndexEntry>& entries);

struct StockWord {
  MeasuredSetup setup;
  StockGain gain = StockGain::not_measured;
  const Measurement* measured = nullptr;  // the last one there; nullptr: there is none
};

// Whether the image claims more than stock, so that it has such words.
bool claims_gain(const ImageRecord& image);

// For each setup of its application. `measurements`: of the image, by their time. Empty for an image that
// claims no gain, and for an application that was never measured.
std::vector<StockWord> stock_words(const ImageRecord& image, const std::vector<Measurement>& measurements,
                                   const MeasuredSetups& known);

// The document (docs/formats/files.md, "Gain over stock"). `manifests`: by the plan's key, of the stock
// images that the index has.
std::string gain_document(const ImageRecord& image, const std::vector<StockWord>& words,
                          const std::map<std::string, Digest>& manifests);

}  // namespace kiln
