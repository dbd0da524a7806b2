// The four words of an image's gain over stock, one for each workload and kind of host, and the document with
// them that goes with the image: docs/measure.md, "Gain over stock". Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "registry/index/index.h"

namespace kiln {

// A workload on a kind of host, in one unit.
struct MeasuredPlace {
  std::string workload;
  std::string unit;
  HostDescription host;
};

// Where images of an application were measured, by its name in lower case; each place once.
using MeasuredPlaces = std::map<std::string, std::vector<MeasuredPlace>>;
MeasuredPlaces measured_places(const std::vector<IndexEntry>& entries);

struct StockWord {
  MeasuredPlace place;
  StockGain gain = StockGain::not_measured;
  const Measurement* measured = nullptr;  // the last one there; nullptr: there is none
};

// Whether the image claims more than stock, so that it has such words.
bool claims_gain(const ImageRecord& image);

// For each place of its application. `measurements`: of the image, by their time. Empty for an image that
// claims no gain, and for an application that was never measured.
std::vector<StockWord> stock_words(const ImageRecord& image, const std::vector<Measurement>& measurements,
                                   const MeasuredPlaces& places);

// The document (docs/formats/files.md, "Gain over stock"). `manifests`: by the plan's key, of the stock
// images that the index has.
std::string gain_document(const ImageRecord& image, const std::vector<StockWord>& words,
                          const std::map<std::string, Digest>& manifests);

}  // namespace kiln
