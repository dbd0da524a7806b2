#include "registry/index/index_rows.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string digits(std::int64_t number) { return std::to_string(number); }
const char* flag(bool set) { return set ? "1" : "0"; }

const std::string& proof_of(const std::string& field) { return field; }
std::string proof_of(std::int64_t field) { return digits(field); }
std::string proof_of(bool field) { return flag(field); }
template <typename Field>
std::string proof_of(const Field& field) {
  return column_of(field);
}

// Of a row that all its columns prove.
template <typename Row>
std::string checksum_of(const Row& row) {
  return std::apply(
      [](const auto&... fields) {
        return row_checksum(Row::kTable, {std::string_view(proof_of(fields))...});
      },
      Row::fields(row));
}

std::string tag_text(const TagName& name) {
  return fmt::format("the tag {}{}{}", name.first, name.first.empty() ? "" : ":", name.second);
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

std::string column_of(const std::map<std::string, std::int64_t>& field) {
  return field.empty() ? "" : Json(field).dump();
}

void read_column(const Statement& row, int column, std::map<std::string, std::int64_t>& field) {
  const std::string text = row.text(column);
  if (text.empty()) return;
  try {
    const JsonDocument document = parse_own(text, "index.db");
    for (const auto& [name, count] : document.root().members()) field[name] = count.integer(1, INT64_MAX);
  } catch (const Error&) {
    throw DamagedDatabase("the index is damaged: the compilers of an application cannot be read");
  }
}

void fail_row(const std::string& shown) {
  throw DamagedDatabase(fmt::format("the index is damaged: {} is not what was written", shown));
}

std::string ImageRow::checksum() const { return checksum_of(*this); }
std::string MeasurementRow::checksum() const { return checksum_of(*this); }
std::string SnapshotRow::checksum() const { return checksum_of(*this); }
std::string ChoiceRow::checksum() const { return checksum_of(*this); }
std::string ApplicationRow::checksum() const { return checksum_of(*this); }
std::string TotalRow::checksum() const { return checksum_of(*this); }
std::string CurrentRow::checksum() const { return checksum_of(*this); }

std::string ProfileRow::id_of(const std::string& text) { return Digest::of(text).hex(); }
std::string ProfileRow::checksum() const { return row_checksum(kTable, {digits(number), text}); }

void TagRow::describe(const ImageRow& of) {
  application = of.application;
  choice = of.choice;
  place = of.place;
  measured = !of.measured.empty();
  lost = of.lost;
  image_row = of.checksum();
}

std::string TagRow::checksum() const {
  return row_checksum(kTable, {application, digits(choice), tag_checksum(name, tagged), image_row,
                               digits(place), flag(measured), flag(lost), digits(first)});
}
std::string TagRow::shown() const { return tag_text(name); }

std::string PastRow::checksum() const {
  return row_checksum(kTable, {tag_checksum(name, tagged), digits(first), digits(last)});
}
std::string PastRow::shown() const { return tag_text(name); }

}  // namespace kiln
