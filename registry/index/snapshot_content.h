// A snapshot: the tags that it has, and what its sidecar says of them: all, or those that changed.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/base/json.h"
#include "factory/record/image_record.h"

namespace kiln {

// The proof that rows are what was written, and that none of them is missing.

// SHA-256 (64 hex) of a table's name and the columns of a row, each with its length.
std::string row_checksum(std::string_view table, std::initializer_list<std::string_view> columns);

// Checksums added up modulo 2^256, in whatever order: a row more or less costs one addition. It proves a set
// of rows against damage; an attacker who chooses the rows can make two sets of one sum.
class RowSum {
 public:
  static RowSum parse(std::string_view text);  // 64 hex digits; throws DamagedDatabase
  void add(std::string_view checksum);         // REQUIRES: 64 hex digits
  void subtract(std::string_view checksum);    // REQUIRES: 64 hex digits
  std::string text() const;                    // 64 hex digits
  bool operator==(const RowSum&) const = default;

 private:
  using Limbs = std::array<std::uint32_t, 8>;  // the least first
  static Limbs limbs_of(std::string_view text);
  Limbs limbs_{};
};

// The image of a name.
struct Tagged {
  std::string image;  // images.id
  bool stale = false;
  bool failing = false;
  std::string retired{};                // the reason
  std::vector<std::string> matrices{};  // sorted
  bool operator==(const Tagged&) const = default;
};

using TagName = std::pair<std::string, std::string>;  // repository, tag
// Of a mapping its repository and its code.
TagName tag_name_of(const ImageRecord& image);
using TagMap = std::map<TagName, Tagged>;

struct TagChange {
  TagName name;
  std::optional<Tagged> before;  // none: a new name
  std::optional<Tagged> after;   // none: it goes
};

struct SnapshotContent {
  std::int64_t number = 0;
  std::string created;
  std::string note;
  TagMap tags;
};

// Of a snapshot that changes little, against its parent; from time to time one in full.
struct SnapshotSidecar {
  std::int64_t number = 0;
  std::string created;
  std::string note;
  std::int64_t parent = 0;  // 0: in full
  RowSum before;            // of the parent's tags
  RowSum root;              // of all tags
  TagMap tags;              // all, or those that are new or another
  std::vector<TagName> gone;

  static SnapshotSidecar in_full(const SnapshotContent& content);
  static SnapshotSidecar parse(const std::string& text, const std::string& file);
  std::string text() const;
};

// Bytes of a sidecar: a million names.
inline constexpr std::size_t kMostSnapshot = 256u << 20;

// How a tag counts in the root of a snapshot.
std::string tag_checksum(const TagName& name, const Tagged& tagged);
RowSum root_of(const TagMap& tags);
// The changes from `before` to `after`, by name.
std::vector<TagChange> changes_between(const TagMap& before, const TagMap& after);

// As kiln wrote it before sidecars of what changed; its checksum was in the row of a snapshot.
std::string text_of_format_2(const SnapshotContent& content);

// As in a row: a JSON array; "" for none. Throws DamagedDatabase.
std::string words_text(const std::vector<std::string>& words);
std::vector<std::string> words_from(const std::string& text);

JsonDocument parse_own(const std::string& text,
                       const std::string& file);  // limits for kiln's own files

}  // namespace kiln
