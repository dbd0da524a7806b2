// An index with a history, and the state folder that it is in.
#pragma once

#include "index/samples.h"
#include "registry/index/index.h"

namespace kiln::testing {

class RecoveryTest : public ::testing::Test {
 protected:
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  fs::path database() const { return folder.path() / "index.db"; }

  // Three snapshots, a stale tag, a mapping, measurements, and the second snapshot current.
  std::string fill() {
    BlobStore store(folder.path() / "store");
    Index index = open();
    auto one = stored_image(store, "a", "one");
    index.publish({one, stored_image(store, "b", "two")}, {}, kNow, "first");
    index.publish({stored_image(store, "a", "three")}, {"pytorch:b"}, kNow, "second");
    index.record(measurement_of(one.manifest, 300.5));
    index.record(measurement_of(one.manifest, 200.25));
    ImageRecord mapping;
    mapping.code = "openmpi-3";
    mapping.application = "openmpi";
    mapping.reference = "docker://ethcscs/openmpi:3.1.3";
    import_all(index, {mapping});
    index.rollback(2);
    return visible(index);
  }

  // What the index shows once someone who may write has opened and recovered it, twice.
  std::string recovered() {
    Index index = open();
    index.recover();
    std::string once = visible(index);
    RecoveryReport again = index.recover();
    EXPECT_EQ(again.adopted, 0u);
    EXPECT_EQ(visible(index), once);
    return once;
  }

  MemoryFolder folder;
};

}  // namespace kiln::testing
