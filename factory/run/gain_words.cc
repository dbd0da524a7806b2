#include "factory/run/gain_words.h"

#include <algorithm>
#include <map>

#include "factory/base/date.h"
#include "factory/oci/later_document.h"
#include "factory/oci/referrer.h"
#include "registry/select/stock_words.h"

namespace kiln {
namespace {

// When the newest of the measurements was taken; of none, when the image was created.
std::int64_t time_of_words(const ImageRecord& image, const std::vector<StockWord>& words) {
  std::int64_t newest = 0;
  for (const StockWord& word : words)
    if (word.measured != nullptr)
      newest = std::max(newest, unix_seconds_of(word.measured->taken).value_or(0));
  return newest != 0 ? newest : unix_seconds_of(image.created).value_or(0);
}

}  // namespace

void attach_gain_words(std::vector<ImageRecord>& records, const std::vector<IndexEntry>& published,
                       const BlobStore& store) {
  const MeasuredPlaces places = measured_places(published);
  if (places.empty()) return;
  std::map<std::string, const IndexEntry*> measured;  // by identity
  std::map<std::string, Digest> manifests;            // by key
  for (const IndexEntry& entry : published) {
    measured.emplace(entry.image.identity().hex(), &entry);
    if (!entry.image.external()) manifests.emplace(entry.image.key, entry.image.manifest);
  }
  const std::vector<Measurement> none;
  for (ImageRecord& record : records) {
    const auto found = measured.find(record.identity().hex());
    const auto words =
        stock_words(record, found == measured.end() ? none : found->second->measurements, places);
    const auto size = store.size_of(record.manifest);
    if (words.empty() || !size) continue;  // without its manifest it is refused later
    std::erase_if(record.attachments, is_later_document);
    record.attachments.push_back(
        attach({std::string(kGainKind), std::string(kGainType), gain_document(record, words, manifests)},
               {std::string(media_type::kManifest), record.manifest, *size, {}}, time_of_words(record, words),
               store));
  }
}

}  // namespace kiln
