// What a site tells of its machines and jobs, in the index and its snapshots.
#include "index_fixture.h"

namespace kiln {
namespace {

SiteDocument document(const std::string& name, const std::string& text,
                      SiteKind kind = SiteKind::infrastructure) {
  return {kind, name, text, 0};
}

std::vector<std::string> names_of(const std::vector<SiteDocument>& documents) {
  std::vector<std::string> names;
  for (const SiteDocument& one : documents) names.push_back(one.name + " " + one.document);
  return names;
}

class SiteDocuments : public ::testing::Test {
 protected:
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  testing::MemoryFolder folder;
};

TEST_F(SiteDocuments, BelongToSnapshots) {
  Index index = open();
  EXPECT_TRUE(index.site_documents().empty());
  EXPECT_EQ(index.import_site_documents({document("a", "1"), document("b", "1")}, "2026-11-20T10:00:00Z"), 1);
  EXPECT_EQ(index.import_site_documents({document("a", "2")}, "2026-11-20T11:00:00Z"), 2);
  EXPECT_EQ(names_of(index.site_documents()), (std::vector<std::string>{"a 2", "b 1"}));
  EXPECT_EQ(names_of(index.site_documents(1)), (std::vector<std::string>{"a 1", "b 1"}));
  EXPECT_EQ(names_of(open(Index::Mode::read).site_documents(2)), (std::vector<std::string>{"a 2", "b 1"}));
  EXPECT_EQ(testing::error_of([&] { index.site_documents(3); }).code(), ExitCode::no_match);
  const auto snapshots = index.snapshots();
  EXPECT_EQ(snapshots.at(0).note, "1 document of the site");
  EXPECT_EQ(snapshots.at(1).note, "2 documents of the site");
}

TEST_F(SiteDocuments, WhatIsKnownMakesNoSnapshot) {
  Index index = open();
  index.import_site_documents({document("a", "1")}, "2026-11-20T10:00:00Z");
  EXPECT_EQ(index.import_site_documents({document("a", "1")}, "2026-11-20T11:00:00Z"), 1);
  EXPECT_EQ(index.import_site_documents({}, "2026-11-20T11:00:00Z"), 1);
  // Of another kind, it is another document.
  EXPECT_EQ(index.import_site_documents({document("a", "1", SiteKind::script)}, "2026-11-20T12:00:00Z"), 2);
  EXPECT_EQ(index.site_documents().size(), 2u);
}

TEST_F(SiteDocuments, GoBackWithARollback) {
  Index index = open();
  index.import_site_documents({document("a", "1")}, "2026-11-20T10:00:00Z");
  index.import_site_documents({document("a", "2")}, "2026-11-20T11:00:00Z");
  index.rollback(1);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"a 1"});
  index.rollback(2);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"a 2"});
}

SiteDocument removal(const std::string& name) {
  SiteDocument gone;
  gone.name = name;
  return gone;
}

TEST_F(SiteDocuments, AreRemovedByASnapshotAndComeBackWithARollback) {
  Index index = open();
  index.import_site_documents({document("a", "1"), document("b", "1")}, "2026-11-20T10:00:00Z");
  index.import_site_documents({document("a", "2")}, "2026-11-20T11:00:00Z");
  EXPECT_EQ(index.import_site_documents({removal("a")}, "2026-11-20T12:00:00Z"), 3);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"b 1"});
  EXPECT_EQ(names_of(index.site_documents(2)), (std::vector<std::string>{"a 2", "b 1"}));
  EXPECT_EQ(index.snapshots().at(0).note, "1 document of the site removed");
  // What is gone is not removed again.
  EXPECT_EQ(index.import_site_documents({removal("a"), removal("none")}, "2026-11-20T13:00:00Z"), 3);
  index.rollback(2);
  EXPECT_EQ(names_of(index.site_documents()), (std::vector<std::string>{"a 2", "b 1"}));
  // After it, the next change has the newest documents again, and those are without `a`.
  EXPECT_EQ(index.import_site_documents({document("c", "1")}, "2026-11-20T14:00:00Z"), 4);
  EXPECT_EQ(names_of(index.site_documents()), (std::vector<std::string>{"b 1", "c 1"}));
  index.import_site_documents({document("a", "1")}, "2026-11-20T15:00:00Z");
  EXPECT_EQ(names_of(index.site_documents()), (std::vector<std::string>{"b 1", "c 1", "a 1"}));
}

TEST_F(SiteDocuments, ARemovalOutlivesTheDatabase) {
  open().import_site_documents({document("a", "1"), document("b", "1")}, "2026-11-20T10:00:00Z");
  open().import_site_documents({removal("a")}, "2026-11-20T11:00:00Z");
  std::filesystem::remove(folder.path() / "index.db");
  Index index = open();
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"b 1"});
  EXPECT_TRUE(index.recover().is_whole());
}

TEST_F(SiteDocuments, OutliveTheDatabase) {
  open().import_site_documents({document("a", "1")}, "2026-11-20T10:00:00Z");
  std::filesystem::remove(folder.path() / "index.db");
  Index index = open();
  EXPECT_EQ(index.current(), 1);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"a 1"});
  EXPECT_TRUE(index.recover().is_whole());
}

// Killed between the file and the snapshot: nothing shows the document, and the next import is whole.
TEST_F(SiteDocuments, HalfAnImportShowsNothing) {
  Index index = open();
  index.import_site_documents({document("a", "1")}, "2026-11-20T10:00:00Z");
  SiteDocument half = document("a", "2");
  half.since = 2;
  const BlobStore store(folder.path() / "store");
  auto all = all_site_documents(store);
  all.push_back(half);
  write_site_documents(store, all);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"a 1"});
  EXPECT_EQ(index.import_site_documents({document("a", "3")}, "2026-11-20T11:00:00Z"), 2);
  EXPECT_EQ(names_of(index.site_documents()), std::vector<std::string>{"a 3"});
}

TEST_F(SiteDocuments, ADamagedFileIsAnErrorOfTheStore) {
  Index index = open();
  index.import_site_documents({document("a", "1")}, "2026-11-20T10:00:00Z");
  BlobStore(folder.path() / "store")
      .write_sidecar(BlobStore::Sidecar::snapshot, "site", R"({"documents": [{"kind": "odd"}]})");
  EXPECT_EQ(testing::error_of([&] { index.site_documents(); }).code(), ExitCode::store);
}

// A bit of one of the two files flips.
class FlippedBit : public SiteDocuments {
 protected:
  void import(const std::string& name) {
    open().import_site_documents({document(name, "1")}, "2026-11-20T10:00:00Z");
  }
  std::filesystem::path file(const std::string& copy) const {
    return folder.path() / "store/snapshots" / (copy + ".json");
  }
  void flip(const std::string& copy) {
    std::string bytes = testing::read_bytes(file(copy));
    bytes[bytes.size() / 2] ^= 4;
    testing::write_bytes(file(copy), bytes);
  }
  std::vector<std::string> names() { return names_of(open(Index::Mode::read).site_documents()); }
};

TEST_F(FlippedBit, LosesNothingAndTheNextImportMendsIt) {
  import("a");
  for (const char* copy : {"site", "site-copy"}) {
    flip(copy);
    EXPECT_EQ(names().at(0), "a 1") << copy;
    import(std::string("after ") + copy);
    const BlobStore store = BlobStore::reading(folder.path() / "store");
    const auto site = store.read_sidecar(BlobStore::Sidecar::snapshot, "site");
    EXPECT_TRUE(site);
    EXPECT_EQ(site, store.read_sidecar(BlobStore::Sidecar::snapshot, "site-copy"));
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"a 1", "after site 1", "after site-copy 1"}));
}

TEST_F(FlippedBit, IsMendedByRecovery) {
  import("a");
  for (const char* copy : {"site", "site-copy"}) {
    const std::string whole = testing::read_bytes(file(copy));
    flip(copy);
    open().recover();
    EXPECT_EQ(testing::read_bytes(file(copy)), whole) << copy;
  }
}

TEST_F(FlippedBit, InBothIsAnErrorAndNoEmptyList) {
  import("a");
  flip("site");
  flip("site-copy");
  EXPECT_EQ(testing::error_of([&] { names(); }).code(), ExitCode::store);
  EXPECT_EQ(testing::error_of([&] { import("b"); }).code(), ExitCode::store)
      << "it would overwrite the first";
}

TEST(SiteDocumentId, IsAUuidOfTheContent) {
  const std::string id = document("a", "1").id();
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(id[14], '8');
  EXPECT_EQ(id, document("a", "1").id());
  EXPECT_NE(id, document("a", "2").id());
  EXPECT_NE(id, document("b", "1").id());
}

}  // namespace
}  // namespace kiln
