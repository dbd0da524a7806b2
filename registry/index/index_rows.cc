#include "registry/index/index_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string digits(std::int64_t number) { return std::to_string(number); }

const char* flag(bool set) { return set ? "1" : "0"; }

[[noreturn]] void fail_row(const std::string& what) {
  throw DamagedDatabase(fmt::format("the index is damaged: {} is not what was written", what));
}

// `name` says which row it is: asked for only if the row is damaged, of thousands that are read.
template <typename Row, typename Name>
Row without_checksum(Row row, const std::string& checksum, const Name& name) {
  if (row.checksum() != checksum) fail_row(name(row));
  return row;
}

std::string shown(const TagName& name) {
  return fmt::format("the tag {}{}{}", name.first, name.first.empty() ? "" : ":", name.second);
}

// Four columns from `column` on.
Tagged tagged_in_row(const Statement& row, const std::string& image, int column) {
  return {image, row.integer(column) != 0, row.integer(column + 1) != 0, row.text(column + 2),
          words_from(row.text(column + 3))};
}

std::map<std::string, std::int64_t> counts_from(const std::string& text) {
  std::map<std::string, std::int64_t> counts;
  if (text.empty()) return counts;
  try {
    const JsonDocument document = parse_own(text, "index.db");
    for (const auto& [name, count] : document.root().members()) counts[name] = count.integer(1, INT64_MAX);
  } catch (const Error&) {
    throw DamagedDatabase("the index is damaged: the compilers of an application cannot be read");
  }
  return counts;
}

std::string compilers_of(const ImageRecord& image) {
  std::set<std::string> names;
  for (const ComponentRecord& component : image.components)
    if (component.kind == "compiler") names.insert(component.name);
  return words_text({names.begin(), names.end()});
}

}  // namespace

ImageRow ImageRow::of(const ImageRecord& image, std::string record) {
  ImageRow row;
  row.id = image.identity().hex();
  row.external = image.external();
  row.bits = image.bits();
  row.application = lower_case(image.application);
  row.compilers = compilers_of(image);
  row.record = std::move(record);
  return row;
}

ImageRow ImageRow::unknown(std::string id) {
  ImageRow row;
  row.id = std::move(id);
  row.lost = true;
  return row;
}

ImageRow ImageRow::from(const Statement& row) {
  return without_checksum(
      ImageRow{row.text(0), row.integer(1) != 0, row.integer(2) != 0, row.text(3), row.text(4), row.text(5),
               row.text(6), row.integer(7), row.integer(8), row.text(9)},
      row.text(10), [](const ImageRow& one) { return "image " + one.id; });
}

std::string ImageRow::checksum() const {
  return row_checksum("images", {id, flag(external), flag(lost), bits, application, compilers, measured,
                                 digits(choice), digits(place), record});
}

MeasurementRow MeasurementRow::from(const Statement& row) {
  return without_checksum(MeasurementRow{row.text(0), row.integer(1), row.text(2), row.text(3)}, row.text(4),
                          [](const MeasurementRow& one) {
                            return fmt::format("measurement {} of image {}", one.number, one.image);
                          });
}

std::string MeasurementRow::checksum() const {
  return row_checksum("measurements", {image, digits(number), bits, record});
}

ProfileRow ProfileRow::from(const Statement& row) {
  return without_checksum(ProfileRow{row.integer(0), row.text(2)}, row.text(3),
                          [](const ProfileRow& one) { return fmt::format("profile {}", one.number); });
}

std::string ProfileRow::id_of(const std::string& text) { return Digest::of(text).hex(); }

std::string ProfileRow::checksum() const { return row_checksum("profiles", {digits(number), text}); }

SnapshotRow SnapshotRow::from(const Statement& row) {
  return without_checksum(SnapshotRow{row.integer(0), row.text(1), row.text(2), row.integer(3),
                                      RowSum::parse(row.text(4)), row.integer(5)},
                          row.text(6),
                          [](const SnapshotRow& one) { return fmt::format("snapshot {}", one.number); });
}

std::string SnapshotRow::checksum() const {
  return row_checksum("snapshots",
                      {digits(number), created, note, digits(images), root.text(), digits(changes)});
}

TagRow TagRow::from(const Statement& row) {
  TagRow tag{row.text(0),    row.integer(1), {row.text(2), row.text(3)}, tagged_in_row(row, row.text(4), 9),
             row.text(5),    row.integer(6), row.integer(7) != 0,        row.integer(8) != 0,
             row.integer(13)};
  if (tag.checksum() != row.text(14)) fail_row(shown(tag.name));
  return tag;
}

void TagRow::describe(const ImageRow& of) {
  application = of.application;
  choice = of.choice;
  place = of.place;
  measured = !of.measured.empty();
  lost = of.lost;
  image_row = of.checksum();
}

std::string TagRow::checksum() const {
  return row_checksum("tags", {application, digits(choice), tag_checksum(name, tagged), image_row,
                               digits(place), flag(measured), flag(lost), digits(first)});
}

PastRow PastRow::from(const Statement& row) {
  return without_checksum(
      PastRow{{row.text(0), row.text(1)}, row.integer(2), row.integer(3), tagged_in_row(row, row.text(4), 5)},
      row.text(9), [](const PastRow& one) { return shown(one.name); });
}

std::string PastRow::checksum() const {
  return row_checksum("past", {tag_checksum(name, tagged), digits(first), digits(last)});
}

ChoiceRow ChoiceRow::from(const Statement& row) {
  return without_checksum(
      ChoiceRow{row.text(0), row.integer(1), row.text(2), row.text(3), row.integer(4) != 0,
                row.integer(5) != 0, row.integer(6), row.integer(7), RowSum::parse(row.text(8))},
      row.text(9), [](const ChoiceRow& one) {
        return fmt::format("choice {} of application {}", one.choice, one.application);
      });
}

std::string ChoiceRow::checksum() const {
  return row_checksum("choices", {application, digits(choice), version, compilers, flag(optimised),
                                  flag(external), digits(images), digits(measured), sum.text()});
}

ApplicationRow ApplicationRow::from(const Statement& row) {
  return without_checksum(
      ApplicationRow{row.text(0), row.integer(1), counts_from(row.text(2)), RowSum::parse(row.text(3))},
      row.text(4), [](const ApplicationRow& one) { return "application " + one.application; });
}

std::string ApplicationRow::compilers_text() const { return compilers.empty() ? "" : Json(compilers).dump(); }

std::string ApplicationRow::checksum() const {
  return row_checksum("applications", {application, digits(images), compilers_text(), sum.text()});
}

TotalRow TotalRow::from(const Statement& row) {
  return without_checksum(TotalRow{row.text(0), row.integer(1), RowSum::parse(row.text(2))}, row.text(3),
                          [](const TotalRow& one) { return "the total of " + one.name; });
}

std::string TotalRow::checksum() const { return row_checksum("totals", {name, digits(count), sum.text()}); }

CurrentRow CurrentRow::from(const Statement& row) {
  return without_checksum(CurrentRow{row.integer(0), row.integer(1), row.integer(2),
                                     RowSum::parse(row.text(3)), RowSum::parse(row.text(4)), row.text(5)},
                          row.text(6),
                          [](const CurrentRow&) { return std::string("which snapshot is current"); });
}

std::string CurrentRow::checksum() const {
  return row_checksum("current", {digits(snapshot), digits(newest), digits(images), root.text(),
                                  applications.text(), folders});
}

}  // namespace kiln
