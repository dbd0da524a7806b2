// Damage to a state folder by seed: noticed by everyone who is to notice it, and healed by the next build.
// The one named DISABLED_ does a thousand: `ctest -L long`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "factory/record/image_blobs.h"
#include "factory/run/mend.h"
#include "factory/state/fsck.h"
#include "factory/state/sif_folder.h"
#include "support/small_state.h"

namespace kiln {
namespace {

using testing::read_bytes;
using testing::SmallState;
using testing::write_bytes;

enum class Damage { flip, cut, empty, remove };

class DamageLoop : public ::testing::Test {
 protected:
  DamageLoop() {
    EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
    small.publish();
    whole = blobs();
    for (const auto& file : fs::recursive_directory_iterator(small.state.root()))
      if (file.is_regular_file() && is_to_damage(file.path())) targets.push_back(file.path());
  }

  fs::path below(const fs::path& file) const { return file.lexically_relative(small.state.root()); }
  // Blobs and layouts, and what is to be believed of them.
  bool is_to_damage(const fs::path& file) const {
    std::string first = *below(file).begin();
    if (first == "store") return *std::next(below(file).begin()) == "sha256";
    return first == "images" || first == "built" || first == "steps" || first == "blobs" ||
           first == "conversions" || first == "evidence";
  }
  bool is_record(const fs::path& file) const {
    std::string first = *below(file).begin();
    return first == "built" || first == "steps";
  }
  bool is_cache(const fs::path& file) const {
    std::string first = *below(file).begin();
    return first == "blobs" || first == "conversions" || first == "evidence";
  }

  std::map<std::string, std::string> blobs() const {
    std::map<std::string, std::string> all;
    for (const auto& file : fs::recursive_directory_iterator(small.state.store() / "sha256"))
      if (file.is_regular_file()) all[below(file)] = read_bytes(file);
    return all;
  }

  // Records have no checksum: a flipped bit in one is not to be found, and not what this is about.
  Damage choose(const fs::path& file) {
    auto damage = static_cast<Damage>(random() % 4);
    return is_record(file) && damage == Damage::flip ? Damage::cut : damage;
  }
  void inflict(Damage damage, const fs::path& file) {
    std::string bytes = read_bytes(file);
    switch (damage) {
      case Damage::flip:
        if (bytes.empty()) return;
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
        return write_bytes(file, bytes);
      case Damage::cut:
        return fs::resize_file(file, bytes.empty() ? 0 : random() % bytes.size());
      case Damage::empty:
        return fs::resize_file(file, 0);
      case Damage::remove:
        fs::remove(file);
    }
  }

  // Whoever asks for an image gets one that is there, or an error of the store.
  void check_answers() {
    for (const IndexEntry& entry : Index::open(small.state.root(), Index::Mode::read).entries()) {
      try {
        check_layout(small.state.root(), entry.image);
        check_sif(small.state.root(), entry.image, sif_path(small.state.root(), entry.image));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::store) << error.format();
        EXPECT_NE(error.format().find(entry.image.name()), std::string::npos) << error.format();
        EXPECT_NE(error.hint(), "");
        continue;
      }
      std::map<std::string, std::string> now = blobs();
      for (const auto& [name, bytes] : whole) {
        bool of_image = false;
        for (const ImageBlob& blob : blobs_of(entry.image, BlobStore::reading(small.state.store())))
          of_image = of_image || name.find(blob.digest.hex()) != std::string::npos;
        if (!of_image) continue;
        EXPECT_EQ(now[name].size(), bytes.size()) << name << ", and no error";
      }
    }
  }

  FsckReport look(bool deep) const { return check_store(small.state, small.files, {deep, 2, {}}); }

  void mend_all() {
    auto package = [&](const BlobUser& user) {
      for (std::size_t number = 0; number < small.plan.size(); ++number)
        if (small.plan.image(number).record_name() == user.record) small.package(small.plan.image(number));
    };
    mend(look(true), {small.state, small.files, package});
  }

  void build() {
    BuildReport report = small.build();
    EXPECT_EQ(report.exit_code(), ExitCode::ok) << to_json(report).dump(1);
  }

  void round(int number) {
    const std::size_t files = 1 + random() % 3;
    std::string what = fmt::format("round {}:", number);
    bool seen = false;  // without reading blobs
    bool counts = false;
    for (std::size_t i = 0; i < files; ++i) {
      fs::path file = targets[random() % targets.size()];
      if (!fs::exists(file)) continue;
      Damage damage = choose(file);
      const std::string before = read_bytes(file);
      inflict(damage, file);
      what += fmt::format(" {} {}", static_cast<int>(damage), below(file).string());
      // A record that is gone is of something that was not done yet.
      const bool is_damage = fs::exists(file) ? read_bytes(file) != before : !is_record(file);
      counts = counts || (is_damage && !is_cache(file));
      seen = seen || (is_damage && !is_cache(file) && damage != Damage::flip);
    }
    SCOPED_TRACE(what);
    check_answers();
    EXPECT_EQ(look(true).is_whole(), !counts);
    EXPECT_TRUE(!seen || !look(false).is_whole());
    if (random() % 2 == 0 || !seen) mend_all();
    build();
    heal_layouts();
    const FsckReport after = look(true);
    for (const BlobDamage& damage : after.blobs) ADD_FAILURE() << damage.what << " " << damage.damage;
    EXPECT_TRUE(after.is_whole());
    EXPECT_EQ(blobs(), whole);
    small.build();
    EXPECT_EQ(small.ran, std::vector<std::string>{}) << "a second build has nothing to do";
  }

  // A file of a layout alone, and a flipped bit, are for fsck: a build does not look there.
  void heal_layouts() {
    if (!look(true).is_whole()) {
      mend_all();
      build();
    }
  }

  void rounds(int count, unsigned seed) {
    random.seed(seed);
    for (int number = 0; number < count && !HasFailure(); ++number) round(number);
  }

  SmallState small;
  std::map<std::string, std::string> whole;  // every blob
  std::vector<fs::path> targets;
  std::mt19937 random;
};

TEST_F(DamageLoop, WhatIsDamagedIsNoticedAndHealed) { rounds(25, 7); }

TEST_F(DamageLoop, DISABLED_AThousandDamages) { rounds(1000, 8); }

}  // namespace
}  // namespace kiln
