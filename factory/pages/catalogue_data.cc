#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "factory/base/text.h"
#include "factory/pages/bill_table.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/pages.h"
#include "factory/pages/speed_table.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

// Words by their numbers, in the order in which they come.
class WordList {
 public:
  std::size_t number_of(const std::string& word) {
    const auto [found, is_new] = numbers_.try_emplace(word, words_.size());
    if (is_new) words_.push_back(word);
    return found->second;
  }
  std::string numbers_of(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
      text += fmt::format("{}{}", text.empty() ? "" : ",", number_of(word));
    return "[" + text + "]";
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> words_;
};

std::string script_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ",") + script_text(text);
  return "[" + list + "]";
}

// All versions, newest first, as versions are ordered, and where each stands.
struct VersionList {
  std::vector<std::string> texts;
  std::map<std::string, std::size_t> places;
};

VersionList versions_of(const std::vector<IndexEntry>& entries) {
  std::map<std::string, Version> known;
  for (const IndexEntry& entry : entries) known.try_emplace(entry.image.version.text(), entry.image.version);
  std::vector<Version> order;
  for (const auto& [text, version] : known) order.push_back(version);
  std::ranges::stable_sort(order, [](const Version& a, const Version& b) { return b < a; });
  VersionList list;
  for (const Version& version : order) {
    list.places[version.text()] = list.texts.size();
    list.texts.push_back(version.text());
  }
  return list;
}

// By application, the newest version first, then as the index has them.
std::vector<std::size_t> catalogue_order(const std::vector<IndexEntry>& entries,
                                         const VersionList& versions) {
  std::vector<std::size_t> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const ImageRecord &one = entries[a].image, &other = entries[b].image;
    if (one.application != other.application) return one.application < other.application;
    return versions.places.at(one.version.text()) < versions.places.at(other.version.text());
  });
  return order;
}

// The order of `STATES` in assets/rows.js.
int state_bits(const IndexEntry& entry) {
  const bool claims = claims_gain(entry.image);
  const StockGain gain = claims ? gain_of_build(entry) : StockGain::not_measured;
  const bool states[] = {entry.stale,
                         entry.failing,
                         !entry.retired.empty(),
                         !entry.image.external() && !entry.image.why_untested().empty(),
                         entry.image.external(),
                         claims && (gain == StockGain::proven || gain == StockGain::not_measured),
                         gain == StockGain::proven,
                         gain == StockGain::no_gain,
                         gain == StockGain::slower};
  int bits = 0, bit = 1;
  for (bool state : states) {
    bits += state ? bit : 0;
    bit *= 2;
  }
  return bits;
}

std::string speeds_text(const IndexEntry& entry, WordList& words) {
  std::string text;
  for (const auto& [place, speed] : latest_speeds(entry))
    text += fmt::format("{}[{},{},{},{},{},{},{}]", text.empty() ? "" : ",", words.number_of(place.workload),
                        words.number_of(place.unit), words.number_of(place.host), speed->median, speed->low,
                        speed->high, words.number_of(doubt_about(*speed)));
  return "[" + text + "]";
}

// The Python that programs of the image meet; "" where nothing says it.
std::string python_of(const ImageRecord& image) {
  if (const auto fact = image.facts.find("python"); fact != image.facts.end()) return fact->second;
  for (const ComponentRecord& part : image.components)
    if (part.kind == "toolchain" && part.name == "python") return part.version.text();
  return "";
}

std::string row_text(const IndexEntry& entry, const std::string& published, const PageNames& names,
                     const VersionList& versions, WordList& words) {
  const ImageRecord& image = entry.image;
  std::vector<std::string> compilers;
  for (const ComponentRecord& part : image.components)
    if (part.kind == "compiler") compilers.push_back(part.name);
  const std::string path = image_path(image);
  const bool follows = path == fmt::format("images/{}/{}.html", image.repository, image.tag);
  return fmt::format("[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]", script_text(names(image)),
                     follows ? "0" : script_text(path), words.number_of(image.application),
                     versions.places.at(image.version.text()), words.number_of(image.method),
                     words.numbers_of(compilers), words.number_of(image.cpu),
                     words.numbers_of(image.accelerators), image.size, script_text(published.substr(0, 10)),
                     state_bits(entry), speeds_text(entry, words), words.number_of(python_of(image)),
                     words.number_of(image.needs.cuda.text()), words.number_of(image.needs.driver.text()));
}

// The number of the set of packages that the bill of the image lists; -1 without a bill that can be read.
int package_set(const ImageRecord& image, const PageSource& source, WordList& words,
                std::map<std::string, std::size_t>& sets, std::vector<std::string>& order) {
  const auto document = source.document(image, "spdx");
  if (!document || !document->problem.empty()) return -1;
  std::vector<std::string> packages;
  try {
    for (const BillPackage& package : bill_packages(document->text))
      packages.push_back(package.name + " " + package.version);
  } catch (const Error&) {  // the page of the image says what is wrong with it
    return -1;
  }
  std::ranges::sort(packages);
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  const auto [set, is_new] = sets.try_emplace(words.numbers_of(packages), order.size());
  if (is_new) order.push_back(set->first);
  return static_cast<int>(set->second);
}

}  // namespace

std::string PageContent::published_at(const ImageRecord& image) const {
  return value_or(published, image.identity().hex());
}

std::string catalogue_data(const PageContent& content, const PageNames& names) {
  const VersionList versions = versions_of(content.entries);
  WordList words;
  std::string rows;
  for (std::size_t number : catalogue_order(content.entries, versions)) {
    const IndexEntry& entry = content.entries[number];
    rows += (rows.empty() ? "\n" : ",\n") +
            row_text(entry, content.published_at(entry.image), names, versions, words);
  }
  return fmt::format(
      "window.kilnCatalogue = {{\"snapshot\":{},\n\"words\":{},\n\"versions\":{},\n\"rows\":[{}]}};\n",
      content.snapshot, script_list(words.words()), script_list(versions.texts), rows);
}

std::string packages_data(const PageContent& content, const PageSource& source) {
  WordList words;
  std::map<std::string, std::size_t> sets;  // by their numbers as text
  std::map<std::string, int> known;         // by the digest of the bill: many names may have one
  std::vector<std::string> order;
  std::string of;
  for (std::size_t number : catalogue_order(content.entries, versions_of(content.entries))) {
    const ImageRecord& image = content.entries[number].image;
    const Attachment* bill = image.attachment("spdx");
    const std::string digest = bill == nullptr ? image.identity().hex() : bill->blob.digest.text();
    auto [set, is_new] = known.try_emplace(digest, -1);
    if (is_new) set->second = package_set(image, source, words, sets, order);
    of += fmt::format("{}{}", of.empty() ? "" : ",", set->second);
  }
  return fmt::format("window.kilnPackages = {{\"words\":{},\n\"sets\":[{}],\n\"of\":[{}]}};\n",
                     script_list(words.words()), fmt::join(order, ",\n"), of);
}

}  // namespace kiln
