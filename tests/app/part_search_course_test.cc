#include "app/bench_fixture.h"
#include "factory/app/part_search.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

// The stock image, and it with inductor, with openblas and with both. What is measured is as the test says.
class PartSearchCourse : public BenchFixture {
 protected:
  PartSearchCourse()
      : BenchFixture({axis("method", {"distro"}), axis("library", {"none", "openblas"}),
                      axis("compiler", {"none", "inductor"}), axis("target", {"x86_64_v3"})}) {
    for (const std::uint32_t number : all_images(catalogue_.plan)) {
      cells_.push_back(search_cell(catalogue_, number));
      build(number);
      IndexEntry entry;
      entry.image.key = image(number).key();
      published_.push_back(entry);
    }
    work_.workload = "mnist-cnn";
    work_.rounds = kProvingRounds;
  }

  // The number of the image with these parts.
  std::uint32_t with(const std::set<std::string>& parts) const {
    for (const SearchCell& cell : cells_)
      if (cell.parts == parts) return cell.image;
    ADD_FAILURE() << "no such cell";
    return 0;
  }
  std::string key(std::uint32_t number) const { return image(number).key(); }

  // One session in which each image is as fast as speeds_ says.
  void measure(const BenchWork& work, const ImageNumbers& images) {
    asked_.push_back(images);
    again_ = work.again;
    const std::string session = "s" + std::to_string(asked_.size());
    for (const std::uint32_t number : images) {
      Measurement one;
      one.key = key(number);
      one.workload = work.workload;
      one.unit = "ms/step";
      one.host = bench_host();
      one.workload_files = workload_sum(workload_named(catalogue_.recipes, work.workload)).hex();
      one.session = session;
      one.rounds = work.rounds;
      for (const std::uint32_t other : images) {
        const double ratio = speed(number) / speed(other);
        if (other != number) one.gains.push_back({key(other), ratio, ratio - 0.01, ratio + 0.01});
      }
      for (IndexEntry& entry : published_)
        if (entry.image.key == one.key) entry.measurements.push_back(one);
    }
  }
  double speed(std::uint32_t number) const {
    const auto found = speeds_.find(number);
    return found == speeds_.end() ? 1 : found->second;
  }

  std::vector<WorkloadSearch> search() {
    PartSearchEffects effects{
        [this] { return published_; }, [] { return bench_host(); },
        [this](const BenchWork& work, const ImageNumbers& images) { measure(work, images); },
        [this](const std::string& line) { notes_.push_back(line); }};
    if (builds_)
      effects.build = [this](const ImageNumbers& images) {
        built_.push_back(images);
        for (const std::uint32_t number : images)
          if (number != unbuildable_) build(number);
      };
    return PartSearch({catalogue_, state_, files_}, std::move(effects)).run(work_, cells_);
  }

  const std::set<std::string> none_, inductor_{"compiler inductor"}, openblas_{"library openblas"},
      both_{"compiler inductor", "library openblas"};
  std::vector<SearchCell> cells_;
  std::vector<IndexEntry> published_;
  BenchWork work_;
  std::map<std::uint32_t, double> speeds_;  // 1 where it has none
  bool builds_ = false, again_ = false;
  std::uint32_t unbuildable_ = UINT32_MAX;
  std::vector<ImageNumbers> asked_, built_;
  Strings notes_;
};

TEST_F(PartSearchCourse, CellsHaveTheirPartsAndABaseInCommon) {
  ASSERT_EQ(cells_.size(), 4u);
  for (const SearchCell& cell : cells_) {
    EXPECT_EQ(cell.base, cells_[0].base);
    EXPECT_EQ(cell.name, name(cell.image));
    EXPECT_EQ(cell.base.find("inductor"), std::string::npos) << cell.base;
    EXPECT_NE(cell.base.find("framework=pytorch"), std::string::npos) << cell.base;
  }
  for (const std::set<std::string>& parts : {none_, inductor_, openblas_, both_}) with(parts);
  EXPECT_TRUE(cells_[with(none_)].is_stock);
  EXPECT_FALSE(cells_[with(inductor_)].is_stock);
}

TEST_F(PartSearchCourse, GoesOnFromTheBestThatIsProven) {
  speeds_ = {{with(inductor_), 1.5}, {with(openblas_), 1.2}, {with(both_), 1.8}};
  const std::vector<WorkloadSearch> searches = search();
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].start->image, with(none_));
  ASSERT_EQ(searches[0].tries.size(), 3u);
  EXPECT_EQ(search_result(searches[0].tries)->cell->image, with(both_));
  ASSERT_EQ(asked_.size(), 2u);
  EXPECT_EQ(asked_[0].front(), with(none_)) << "the stock image takes its turns in each step";
  EXPECT_EQ(asked_[0].size(), 3u);
  EXPECT_EQ(asked_[1], (ImageNumbers{with(none_), with(inductor_), with(both_)}));
  EXPECT_TRUE(again_) << "the cells that are known take their turns, too";
  EXPECT_EQ(notes_.front(), "search  mnist-cnn: 2 additions to " + name(with(none_)));
}

TEST_F(PartSearchCourse, EndsWhereNoAdditionIsProven) {
  speeds_ = {{with(inductor_), 0.8}};
  const std::vector<WorkloadSearch> searches = search();
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].tries.size(), 2u);
  EXPECT_EQ(search_result(searches[0].tries), nullptr);
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(PartSearchCourse, AsksNothingThatASessionHasMeasured) {
  search();
  asked_.clear();
  EXPECT_EQ(search().size(), 1u);
  EXPECT_TRUE(asked_.empty());
  work_.again = true;
  search();
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(PartSearchCourse, PassesOverWhatIsNotBuiltOrNotPublished) {
  files_.remove_all(last_step(with(inductor_)));
  std::erase_if(published_, [&](const IndexEntry& one) { return one.image.key == key(with(openblas_)); });
  EXPECT_TRUE(search().empty());
  EXPECT_TRUE(asked_.empty());
  ASSERT_EQ(notes_.size(), 2u);
  EXPECT_NE(notes_[0].find("as it is not built and published; --build-if-missing does"), std::string::npos);
}

TEST_F(PartSearchCourse, NeedsItsStockCell) {
  files_.remove_all(last_step(with(none_)));
  EXPECT_TRUE(search().empty());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(PartSearchCourse, BuildsWhatIsMissingWhereAsked) {
  builds_ = true;
  files_.remove_all(last_step(with(inductor_)));
  files_.remove_all(last_step(with(openblas_)));
  unbuildable_ = with(openblas_);
  const std::vector<WorkloadSearch> searches = search();
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].tries.size(), 1u);
  ASSERT_EQ(built_.size(), 1u);
  EXPECT_EQ(built_[0].size(), 2u);
  EXPECT_EQ(notes_.front(), "search  " + name(with(openblas_)) + ": passed over, as it is not built");
}

}  // namespace
}  // namespace kiln::testing
