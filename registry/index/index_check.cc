// Every page, row and sum of an index: for those who put it right, not for those who read or publish.
#include <fmt/format.h>

#include "registry/index/index_state.h"

namespace kiln {
namespace {

[[noreturn]] void fail_table(const std::string& what) {
  throw DamagedDatabase(fmt::format("the index is damaged: {} are not those that were written", what));
}

template <typename Row>
void check_table(Database& database, const char* table) {
  RowSum sum;
  Statement rows = database.prepare(fmt::format("SELECT {} FROM {}", Row::kColumns, table));
  while (rows.step()) sum.add(Row::from(rows).checksum());
  Statement total =
      database.prepare(fmt::format("SELECT {} FROM totals WHERE name = ?1", TotalRow::kColumns));
  if (!total.with(std::string(table)).step() || TotalRow::from(total).sum != sum) fail_table(table);
}

}  // namespace

void IndexState::check_content() {
  Transaction transaction(database, Database::Access::read);
  std::string verdict = database.text("PRAGMA integrity_check(1)");
  if (verdict != "ok")
    throw DamagedDatabase(fmt::format("{} is damaged: {}", (folder / "index.db").string(), verdict));
  check_table<ImageRow>(database, "images");
  check_table<MeasurementRow>(database, "measurements");
  check_table<PastRow>(database, "past");
  check_table<ProfileRow>(database, "profiles");
  check_table<SnapshotRow>(database, "snapshots");
  const CurrentRow current = current_row();
  is_behind(current);
  RowSum root;
  for (const ApplicationRow& application : applications(current)) {
    for (const TagRow& tag : tags_of(application)) {
      const auto image = this->image(tag.tagged.image);
      if (!image || image->checksum() != tag.image_row) fail_table("images");
      root.add(tag_checksum(tag.name, tag.tagged));
    }
  }
  if (root != current.root) fail_table("tags");
  if (current.snapshot <= 0) return;
  const auto snapshot = snapshot_row(current.snapshot);
  if (!snapshot || snapshot->root != root) fail_table("tags");
}

}  // namespace kiln
