// A damaged index.db gives the right answer or none: bits, pages and cuts, everywhere in a real file.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "index/index_fixture.h"
#include "registry/select/best_image.h"

namespace kiln {
namespace {

using testing::kNow;
using testing::measurement_of;
using testing::read_bytes;
using testing::stored_image;
using testing::write_bytes;

constexpr std::size_t kPage = 4096;

class IndexDamage : public testing::IndexTest {
 protected:
  // Some applications with a history: names that moved, that are stale, failing or retired, mappings,
  // measurements.
  void fill(int images) {
    Index index = open();
    std::vector<ImageRecord> records;
    for (int i = 0; i < images; ++i) {
      ImageRecord record = stored_image(store, fmt::format("tag-{}", i), fmt::format("content {}", i));
      record.application = applications_[static_cast<std::size_t>(i) % applications_.size()];
      record.repository = record.application;
      record.key = fmt::format("{:064x}", i / 2);
      records.push_back(std::move(record));
    }
    index.publish(records, {}, kNow, "night");
    for (int i = 0; i < images / 5; ++i)
      index.record(measurement_of(records[static_cast<std::size_t>(i) * 5].manifest, 100 + i));
    std::vector<ImageRecord> moved;
    for (int i = 0; i < images / 10; ++i) {
      ImageRecord record = stored_image(store, fmt::format("tag-{}", i * 10), fmt::format("newer {}", i));
      record.application = record.repository = records[static_cast<std::size_t>(i) * 10].application;
      moved.push_back(std::move(record));
    }
    index.publish(moved, {records[3].name(), records[4].name()}, kNow, "night",
                  {{records[5].name()}, {{records[7].name(), records[7].key}}});
    index.retire({records[8].identity(), records[9].identity()}, "wrong results", kNow);
    std::vector<ImageRecord> mappings;
    for (int i = 0; i < images / 10; ++i) {
      ImageRecord mapping;
      mapping.application = "openmpi";
      mapping.code = fmt::format("openmpi-{}", i);
      mapping.reference = fmt::format("docker://ethcscs/openmpi:{}", i);
      mapping.components = {{"compiler", i % 2 == 0 ? "xla" : "glow", {}, "", false}};
      mappings.push_back(mapping);
    }
    testing::import_all(index, mappings);
  }

  static std::string text_of(const std::vector<IndexEntry>& entries) {
    std::string text;
    for (const IndexEntry& entry : entries) {
      text += to_json(entry.image).dump() + (entry.stale ? " stale" : "") +
              (entry.failing ? " failing" : "") + entry.retired;
      for (const std::string& matrix : entry.matrices) text += " " + matrix;
      for (const Measurement& measurement : entry.measurements) text += " " + to_json(measurement).dump();
      text += "\n";
    }
    return text;
  }

  // The answers of one who opens it for reading, and asks for one of the applications; what is refused is
  // "refused".
  std::vector<std::string> answers(std::size_t which) {
    std::vector<std::string> texts;
    auto answer = [&](auto ask) {
      try {
        texts.push_back(ask(open(Index::Mode::read)));
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ExitCode::store || error.code() == ExitCode::locked) << error.format();
        texts.emplace_back("refused");
      }
    };
    answer([](const Index& index) { return text_of(index.entries()); });
    answer([&](const Index& index) { return text_of(index.entries_of(applications_[which])); });
    answer([](const Index& index) { return text_of(index.measured_entries()); });
    answer([](const Index& index) {
      std::string text = fmt::format("{}", fmt::join(index.compilers(), " "));
      for (const auto& [application, images] : index.applications())
        text += application + std::to_string(images);
      for (const Snapshot& snapshot : index.snapshots())
        text += fmt::format("{} {} {}\n", snapshot.number, snapshot.note, snapshot.images);
      return text;
    });
    answer([&](const Index& index) {
      ImageQuery query;
      query.application = applications_[which];
      query.compilers["xla"] = true;
      auto best = best_image(index, query, {}, testing::archspec());
      return best ? text_of(std::vector{*best}) : "none";
    });
    return texts;
  }

  void keep_whole() {
    for (std::size_t which = 0; which < applications_.size(); ++which) all_whole.push_back(answers(which));
  }

  // Counts what is answered, and is not what the whole file answers.
  void compare(const std::string& damage) {
    const std::size_t which = asked++ % applications_.size();
    const std::vector<std::string>& whole = all_whole[which];
    const std::vector<std::string> now = answers(which);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == "refused") {
        ++refused;
      } else if (now[i] == whole[i]) {
        ++right;
      } else {
        ++wrong;
        if (wrong <= 20) ADD_FAILURE() << damage << ": answer " << i << " is another";
      }
    }
  }

  void flip_bits(std::size_t bits) {
    keep_whole();
    const std::size_t size = fs::file_size(database());
    const int file = ::open(database().c_str(), O_RDWR | O_CLOEXEC);
    for (std::size_t bit = 0; bit < bits; ++bit) {
      // Every other one in what SQLite keeps at the head of its pages.
      const std::size_t spread = bit * size / bits, head = spread / kPage * kPage + bit % 41;
      const auto at = static_cast<off_t>(bit % 2 == 0 ? spread : head);
      unsigned char byte = 0;
      ASSERT_EQ(::pread(file, &byte, 1, at), 1);
      const auto flipped = static_cast<unsigned char>(byte ^ (1u << bit % 8));
      ASSERT_EQ(::pwrite(file, &flipped, 1, at), 1);
      compare(fmt::format("bit {} of byte {}", bit % 8, at));
      ASSERT_EQ(::pwrite(file, &byte, 1, at), 1);
    }
    ::close(file);
    report(fmt::format("{} flipped bits", bits));
  }

  void damage_pages(std::size_t step) {
    keep_whole();
    const std::string bytes = read_bytes(database());
    const std::size_t pages = bytes.size() / kPage;
    for (std::size_t page = 0; page < pages; page += step) {
      auto damaged = [&](const char* what, const std::string& with) {
        write_bytes(database(), with);
        compare(fmt::format("{} {} of {}", what, page, pages));
      };
      auto replaced = [&](const std::string& with) {
        return std::string(bytes).replace(page * kPage, kPage, with);
      };
      damaged("zeroed page", replaced(std::string(kPage, '\0')));
      damaged("page copied over", replaced(bytes.substr((page * 7 + 3) % pages * kPage, kPage)));
      damaged("half written page",
              replaced(bytes.substr(page * kPage, kPage / 2) + std::string(kPage / 2, 'x')));
      damaged("cut before page", bytes.substr(0, page * kPage));
      damaged("cut within page", bytes.substr(0, page * kPage + 100));
    }
    write_bytes(database(), bytes);
    report("damaged pages and cuts");
  }

  // A night after fill(): names that move, that are new and that stay.
  static void write_more(Index& index, const BlobStore& into) {
    std::vector<ImageRecord> records;
    for (int i = 0; i < 12; ++i) {
      ImageRecord record = stored_image(into, fmt::format("tag-{}", i * 3 + 1), fmt::format("late {}", i));
      record.application = record.repository = i % 2 == 0 ? "mxnet" : "pytorch";
      records.push_back(std::move(record));
    }
    index.publish(records, {}, kNow, "late", {});
    index.record(measurement_of(records[3].manifest, 7));
    index.retire({records[2].identity()}, "late results", kNow);
  }

  // Who writes into a damaged file leaves one that answers right, or not at all.
  void write_with_flipped_bits(std::size_t bits) {
    const fs::path whole = folder.path() / "whole", trial = folder.path() / "trial";
    fs::create_directory(whole);
    fs::copy(folder.path() / "store", whole / "store", fs::copy_options::recursive);
    fs::copy(database(), whole / "index.db");
    auto written = [&](std::int64_t bit, std::size_t size) {
      fs::remove_all(trial);
      fs::copy(whole, trial, fs::copy_options::recursive);
      std::string bytes = read_bytes(trial / "index.db");
      if (bit >= 0) {
        const std::size_t at = static_cast<std::size_t>(bit) * bytes.size() / size;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit % 8));
      }
      write_bytes(trial / "index.db", bytes);
      try {
        Index index = Index::open(trial, Index::Mode::write);
        write_more(index, BlobStore(trial / "store"));
        return text_of(index.entries());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::store) << error.format();
        return std::string("refused");
      }
    };
    const std::string expected = written(-1, 1);
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const std::string now = written(static_cast<std::int64_t>(bit), bits);
      ++(now == expected ? right : now == "refused" ? refused : wrong);
      if (now != expected && now != "refused")
        ADD_FAILURE() << "after bit " << bit << " of " << bits << "\n" << now << "expected\n" << expected;
    }
    EXPECT_GT(right, 0u);
    EXPECT_EQ(wrong, 0u) << bits << " flipped bits: " << right << " right, " << refused << " refused";
  }

  void report(const std::string& what) {
    EXPECT_EQ(wrong, 0u) << what << ": " << right << " right, " << refused << " refused, " << wrong
                         << " wrong";
    EXPECT_GT(right, 0u);
    EXPECT_GT(refused, 0u);
  }

  fs::path database() const { return folder.path() / "index.db"; }

  const std::vector<std::string> applications_ = {"pytorch", "TensorFlow", "openmpi",
                                                  "mxnet",   "keras",      "glow"};
  std::vector<std::vector<std::string>> all_whole;  // by the application that is asked for
  std::size_t asked = 0;
  std::size_t right = 0, refused = 0, wrong = 0;
};

TEST_F(IndexDamage, AFlippedBitIsNeverAnotherAnswer) {
  fill(40);
  flip_bits(120);
}

TEST_F(IndexDamage, ADamagedPageIsNeverAnotherAnswer) {
  fill(40);
  damage_pages(3);
}

TEST_F(IndexDamage, ANameThatADamagedIndexHidesIsNotANewOne) {
  fill(40);
  std::string bytes = read_bytes(database());
  const std::string entry = "mxnettag-3mxnet";  // in tags_name: the tag, then what its row is found by
  const std::size_t at = bytes.find(entry);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(entry, at + 1), std::string::npos);
  bytes[at + std::string("mxnettag-").size()] = '2';
  write_bytes(database(), bytes);
  ASSERT_EQ(
      testing::number_in(
          folder.path(),
          "SELECT count(*) FROM tags INDEXED BY tags_name WHERE repository = 'mxnet' AND tag = 'tag-3'"),
      0);
  Index index = open();
  ImageRecord record = stored_image(store, "tag-3", "published again");
  record.application = record.repository = "mxnet";
  index.publish({record}, {}, kNow, "late", {});
  std::vector<std::string> manifests;
  for (const IndexEntry& found : index.entries())
    if (found.image.name() == "mxnet:tag-3") manifests.push_back(found.image.manifest.text());
  EXPECT_EQ(manifests, std::vector{record.manifest.text()});
}

TEST_F(IndexDamage, AWriterIsNotMisledByAFlippedBit) {
  fill(40);
  write_with_flipped_bits(100);
}

TEST_F(IndexDamage, DISABLED_AThousandFlippedBitsMisleadNoWriter) {
  fill(40);
  write_with_flipped_bits(3000);
}

TEST_F(IndexDamage, DISABLED_AThousandFlippedBitsAreNeverAnotherAnswer) {
  fill(200);
  flip_bits(1500);
}

TEST_F(IndexDamage, DISABLED_AThousandDamagedPagesAreNeverAnotherAnswer) {
  fill(200);
  damage_pages(1);
}

}  // namespace
}  // namespace kiln
