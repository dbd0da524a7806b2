// Rows of the index on their way in and out, with the sums that prove them.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/index/index_state.h"

namespace kiln {

// One writing transaction of the caller: finish() before its commit. Its cost depends only on the rows that
// it touches. Throws DamagedDatabase if such a row differs from the written one.
class IndexWriter {
 public:
  explicit IndexWriter(IndexState& state);
  IndexState& state() { return state_; }
  const CurrentRow& current() const { return current_; }
  std::int64_t images() const;  // with a record
  std::int64_t measurements() const;
  std::int64_t snapshots() const;

  void put_image(const ImageRecord& image, const std::string& record);  // not lost any more
  void set_lost(const std::string& id, bool lost);                      // REQUIRES: it has a row
  void erase_image(const std::string& id);                              // REQUIRES: no tag has it
  void put_measurement(const std::string& image, std::int64_t number, const std::string& record);

  // Proves that names which the SQL index `tags_name` lacks have no row either, because no sum covers that
  // SQL index. One pass over the rows for all names takes 20 ms for 100,000 tags. Call it before a sidecar
  // records the names as new.
  void expect_new(const std::vector<TagChange>& changes);
  // A snapshot after all others, made of the tags of the current one. Its tags are then the current ones,
  // until finish() or make_current() says otherwise.
  void append(const SnapshotSidecar& head, const std::vector<TagChange>& changes);
  // One that is not the newest: in its place. REQUIRES: it is missing.
  void insert(const SnapshotContent& content);
  // Snapshot `number`, or none for one that is lost (negative) and for 0, is the current one.
  void make_current(std::int64_t number);
  // The pointer alone: for recovery, which calls make_current() in the end.
  void point_to(std::int64_t number) { current_.snapshot = number; }
  // No snapshot to come has this number, or one before it.
  void reserve(std::int64_t number) { current_.newest = std::max(current_.newest, number); }
  // Only these snapshots, and what their tags were; their sidecars no longer build on one that goes.
  // REQUIRES: the current one is of these, and the newest.
  void keep_snapshots(const std::set<std::int64_t>& numbers, const std::set<std::int64_t>& in_full);
  void drop_unused_profiles();
  // Which snapshot's tags are in the rows of the current one: not the one of the pointer within recovery.
  std::int64_t live() const { return live_; }

  // The sidecars' folders were like this before the caller began to write: when the index knew them so, it
  // knows them afterwards.
  void knows_folders(const std::string& marks);
  // All that is in the folders has its rows.
  void saw_folders() { folders_known_ = true; }
  void finish();

 private:
  struct Application {
    ApplicationRow row;
    std::string stored;  // the checksum of its row, "" for none
  };
  // The tags of an application that are chosen by the same.
  struct Choice {
    ChoiceRow row;
    std::string stored;  // the checksum of its row, "" for none
  };
  Application& application(const std::string& name);
  Choice& choice(const TagRow& tag);
  std::int64_t profile(const ImageRecord& part);  // its number; makes its row
  void count_in_application(const TagRow& tag, int sign);
  void attach(TagRow tag);
  void detach(const TagRow& tag);
  void set_tag(const TagChange& change, std::int64_t first);
  void put_past(const PastRow& row);
  void erase_past(const PastRow& row);
  void cover(const TagName& name, const Tagged* tagged, std::int64_t number);
  void replace_image(const ImageRow& row);  // and its tags
  void remeasure(const std::string& bits);
  void rebind_measurements(const ImageRow& image);
  void put_measurement_row(const MeasurementRow& row);
  void put_snapshot(const SnapshotRow& row);
  std::int64_t changes_since_full(const SnapshotSidecar& head, std::size_t changes);
  void count(const char* total, const std::string& removed, const std::string& added);
  void write_choices();
  void write_applications();
  void write_current();

  IndexState& state_;
  CurrentRow current_;
  std::string stored_folders_;
  std::int64_t live_;
  bool folders_known_ = false;
  std::map<std::string, TotalRow> totals_;
  std::map<std::string, Application> applications_;  // those that were touched
  std::map<std::pair<std::string, std::int64_t>, Choice> choices_;
};

}  // namespace kiln
