// The registry index: SQLite, rollback journal, synchronous=EXTRA, one writer. schema.sql defines the tables.
// Derived data: kiln can rebuild every row from the sidecars of the blob store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"
#include "factory/record/tuned_record.h"
#include "registry/index/site_documents.h"

namespace kiln {

struct IndexState;  // index_state.h
struct RawEntry;    // index_reading.h

// A tag of a snapshot.
struct IndexEntry {
  ImageRecord image;
  bool stale = false;                     // kept from an earlier snapshot because its rebuild failed
  std::vector<Measurement> measurements;  // of its bits, by their time, under whatever name they were taken
  bool failing = false;                   // its bits failed a test that their recipe has by now
  std::string retired{};                  // why it is not to be answered with any more; "" when it is not
  std::vector<std::string> matrices{};    // that published it under this name, sorted
  std::vector<TunedRecord> tuned{};       // recommended settings of its bits, one for each workload and kind
                                          // of host, by their time
};

// Bits that failed a test of today.
struct FailingImage {
  std::string name;  // "repository:tag"
  std::string key;   // of the plan: names the bits
};

// The changes of a publication in addition to tags.
struct PublishMarks {
  std::vector<std::string> pruned{};  // "repository:tag" that go, unless another matrix published them, too
  std::vector<FailingImage> failing{};
};

struct Snapshot {
  std::int64_t number = 0;
  std::string created;  // RFC 3339
  std::string note;
  std::size_t images = 0;
  bool current = false;
  bool held = false;  // as Index::held() says of the current one
};

// The image of a name, from one snapshot to another.
struct TagSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::string image;  // 64 hex: ImageRecord::identity
  bool stale = false;
  bool failing = false;
  std::string retired{};  // the reason
  bool operator==(const TagSpan&) const = default;
};

// The result of a recovery. It names the losses that could not be repaired; they are in no answer.
struct RecoveryReport {
  std::size_t adopted = 0;    // sidecars without a row
  std::size_t rewritten = 0;  // sidecars made again from their rows
  std::size_t temporaries = 0;
  std::vector<std::string> lost;        // "pytorch:tag: its manifest sha256:… is not in the store"
  std::vector<std::string> unreadable;  // sidecars that are not what was written: "records/<name>.json"
  std::string set_aside;                // name of a damaged database kept as .bad-<n>, "" when none
  bool is_whole() const { return lost.empty() && unreadable.empty(); }
};

// The contents of snapshots: images by the name of their sidecar and row (ImageRecord::identity, as hex).
struct SnapshotNames {
  std::set<std::string> images;
  std::set<std::string> matrices;  // that published them
};

// The removed objects when only some snapshots stay.
struct Forgotten {
  std::vector<std::int64_t> snapshots;  // in order
  std::vector<std::string> images;      // as SnapshotNames has them, sorted
};

class Index {
 public:
  enum class Mode { read, write };
  // Opens or (write) creates `<state>/index.db`; blobs and sidecars are in `<state>/store`. Write: a file
  // that is older than its sidecars is brought up to date, one of an earlier format is migrated, a damaged
  // one is set aside and rebuilt from the sidecars when the damage is met, here or later. Read: damage is an
  // Error(store), and nothing is changed. Throws Error(store); Error(store) naming both versions when the
  // file is newer than this program.
  static Index open(const std::filesystem::path& state, Mode mode);
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();

  // One atomic step: sidecars first, then one transaction with the rows and a new snapshot = the current one
  // with these tags moved; `failed_tags` ("repository:tag") stay where they were, marked stale; whatever has
  // the bits of `failing` is marked so, and where their tag has other bits, it is marked stale. `matrix`:
  // whose they are. Bits that are retired stay so. Returns the snapshot's number. Publishing what the current
  // snapshot already holds makes no new snapshot and returns the current number. Error(store) when the
  // manifest, or a blob that it names, is not in the store.
  std::int64_t publish(const std::vector<ImageRecord>& images, const std::vector<std::string>& failed_tags,
                       const std::string& created, const std::string& matrix, const PublishMarks& marks = {});
  // A new snapshot in which the entries of these identities are retired for this reason; "": are not any
  // more.
  std::int64_t retire(const std::vector<Digest>& identities, const std::string& reason,
                      const std::string& created);
  // External mappings (MODAK's container_mappings), which `give` hands to its argument one after the other:
  // the last of a code wins. An exception of `give` ends the import, and nothing is imported.
  using AddMapping = std::function<void(const ImageRecord& mapping)>;
  struct Imported {
    std::int64_t snapshot = 0;  // as publish() returns it
    std::size_t mappings = 0;   // codes
  };
  Imported import_mappings(const std::function<void(const AddMapping& add)>& give,
                           const std::string& created);
  // A new snapshot of the same images, which has these documents of the site as well, and none of those that
  // they remove. Returns its number, or that of the current one where nothing is new.
  std::int64_t import_site_documents(std::vector<SiteDocument> documents, const std::string& created);
  // Of this snapshot, in the order of their import. Throws Error(no_match) when there is none of that number.
  std::vector<SiteDocument> site_documents(std::optional<std::int64_t> snapshot = {}) const;
  // In place of an earlier one of the same bits, workload, host and session, if there is one.
  void record(const Measurement& measurement);
  // In place of an earlier one of the same bits, workload and kind of host. One that is not recommended takes
  // an earlier setting back, and else nothing is recorded.
  void record(const TunedRecord& tuned);

  // The performance model for predictions, JSON, in place of an earlier one; "": none any more.
  void keep_model(const std::string& json);
  // nullopt: there is none. Costs one look into a folder then.
  std::optional<std::string> model() const;

  std::vector<IndexEntry> entries(
      std::optional<std::int64_t> snapshot = {}) const;  // ordered by repository, tag
  // Those of the current snapshot that have measurements: reads no record of another.
  std::vector<IndexEntry> measured_entries() const;
  // Proves every page, row and sum, those of earlier snapshots too, and parses no record. One that is open
  // for writing is made again where it is damaged.
  void prove() const;
  // Those of one application, in whatever case it is written: reads and proves no others.
  std::vector<IndexEntry> entries_of(const std::string& application,
                                     std::optional<std::int64_t> snapshot = {}) const;
  // Runs `use` inside one transaction; it proves what it reads. Throws what `use` throws.
  void read(const std::function<void(IndexState& state)>& use) const;
  // The entry that `find` names, which reads inside one transaction and proves what it reads; nullopt when
  // `find` names none. Throws what `find` throws.
  std::optional<IndexEntry> found_by(
      const std::function<std::optional<RawEntry>(IndexState& state)>& find) const;
  // How many entries the applications have, by their names in lower case.
  std::map<std::string, std::size_t> applications(std::optional<std::int64_t> snapshot = {}) const;
  std::vector<std::string> compilers(
      std::optional<std::int64_t> snapshot = {}) const;  // graph compilers that entries have, sorted
  std::vector<Snapshot> snapshots() const;               // newest first
  // The images of this name, oldest first; for a mapping pass "" and its code. Each row is verified, but not
  // that none is missing: show it to people, and answer no question with it.
  std::vector<TagSpan> history(const std::string& repository, const std::string& tag) const;
  std::int64_t current() const;  // 0 when nothing was published
  // Makes this snapshot the current one. Images that were retired since stay so: where the snapshot has such,
  // a new one is made of it. Returns the number of the current snapshot, which is held until release() or the
  // next publish(), unless `snapshot` is the newest. Throws Error(no_match) when there is none of that
  // number.
  std::int64_t rollback(std::int64_t snapshot, const std::string& created = {});
  bool held() const;  // an administrator went back to the current snapshot: nights publish nothing
  void release();     // the current snapshot is held no longer
  // Throws Error(no_match) for an unknown number.
  SnapshotNames names_in(const std::set<std::int64_t>& snapshots) const;
  // The objects that forget() would remove.
  Forgotten forgettable(const std::set<std::int64_t>& snapshots, const std::set<std::string>& images) const;
  // Leaves only these snapshots, and of the images those that they name and `images`; measurements stay. Rows
  // go first, then sidecars: killed within, the index opens with what sidecars still prove. Blobs are the
  // caller's, afterwards. REQUIRES: the current snapshot is of these, and the newest.
  Forgotten forget(const std::set<std::int64_t>& snapshots, const std::set<std::string>& images);
  // Drops temporaries, adopts sidecars, makes sidecars again from their rows, marks rows without files.
  // Twice, or killed, ends in the same state; readers see the old index or the new one, never half of it.
  RecoveryReport recover();

 private:
  explicit Index(std::unique_ptr<IndexState> state);
  // A process that may write makes a damaged index again when the damage is met, and begins anew.
  template <typename Action>
  auto mended(Action action) const;
  // Of the row that a record of this image replaces: 0 = none, nullopt = nothing is to be written.
  using FindRow = std::function<std::optional<std::int64_t>(IndexState& state)>;
  void keep_speed(const Digest& image, const std::string& text, const FindRow& replaced);
  mutable std::unique_ptr<IndexState> state_;
};

}  // namespace kiln
