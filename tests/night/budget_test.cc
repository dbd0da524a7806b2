// On a disk of its own, where the tests may have one: root in a mount namespace.
#include "factory/night/budget.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

double ten_seconds_each(const ImageNumbers& images) { return 10.0 * static_cast<double>(images.size()); }

TEST(Budget, StaleThenAskedThenNever) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0},
                                        {1, BudgetTurn::asked, 2},
                                        {2, BudgetTurn::stale, 0},
                                        {3, BudgetTurn::asked, 7},
                                        {4, BudgetTurn::stale, 0},
                                        {5, BudgetTurn::never, 0}},
                                       1000, ten_seconds_each);
  const std::vector<ImageNumbers> wanted{{2, 4}, {3, 1}, {0, 5}};
  EXPECT_EQ(agenda.rounds, wanted);
  EXPECT_TRUE(agenda.no_time.empty());
}

TEST(Budget, WhatDoesNotFitIsNamed) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0},
                                        {1, BudgetTurn::asked, 2},
                                        {2, BudgetTurn::stale, 0},
                                        {3, BudgetTurn::asked, 7}},
                                       25, ten_seconds_each);
  const std::vector<ImageNumbers> wanted{{2}, {3}};
  EXPECT_EQ(agenda.rounds, wanted);
  EXPECT_EQ(agenda.no_time, (ImageNumbers{1, 0}));
}

TEST(Budget, EveryBudgetTakesTheLongestBeginning) {
  std::vector<AgendaItem> candidates;
  for (std::uint32_t i = 0; i < 37; ++i) candidates.push_back({i, BudgetTurn::never, 0});
  for (int fits = 1; fits <= 37; ++fits) {
    const NightAgenda agenda = agenda_of(candidates, 10.0 * fits + 5, ten_seconds_each);
    EXPECT_EQ(agenda.rounds.at(0).size(), static_cast<std::size_t>(fits));
    EXPECT_EQ(agenda.no_time.size(), static_cast<std::size_t>(37 - fits));
  }
}

TEST(Budget, OneIsAlwaysTried) {
  const NightAgenda agenda =
      agenda_of({{7, BudgetTurn::stale, 0}, {8, BudgetTurn::stale, 0}}, 1, ten_seconds_each);
  EXPECT_EQ(agenda.rounds, std::vector<ImageNumbers>{ImageNumbers{7}});
  EXPECT_EQ(agenda.no_time, ImageNumbers{8});
  EXPECT_TRUE(agenda.has_no_end);
  EXPECT_FALSE(
      agenda_of({{7, BudgetTurn::stale, 0}, {8, BudgetTurn::stale, 0}}, 15, ten_seconds_each).has_no_end);
}

TEST(Budget, WhatNobodyKnowsIsTried) {
  const NightAgenda agenda = agenda_of({{0, BudgetTurn::never, 0}, {1, BudgetTurn::never, 0}}, 1,
                                       [](const ImageNumbers&) { return 0.0; });
  EXPECT_TRUE(agenda.no_time.empty());
}

TEST(Budget, OfNothingIsNothing) {
  const NightAgenda agenda = agenda_of({}, 1, ten_seconds_each);
  EXPECT_TRUE(agenda.rounds.empty());
}

namespace fs = std::filesystem;

class Reserve : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "nights.reserve";

  // In a child whose `folder_` is a disk of `size` ("20m"): 0 when `work` says true, 77 when it may have
  // none.
  int on_disk(const std::string& size, const std::function<bool()>& work) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string options = "size=" + size;
      const bool is_mounted = ::unshare(CLONE_NEWNS) == 0 &&
                              ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                              ::mount("kiln", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
      ::_exit(!is_mounted ? 77 : work() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(Reserve, IsWholeAndCannotBePacked) {
  keep_reserve(file_);
  EXPECT_EQ(fs::file_size(file_), kReserve);
  std::ifstream in(file_, std::ios::binary);
  std::string bytes(4096, '\0');
  in.read(bytes.data(), 4096);
  EXPECT_GT(std::set<char>(bytes.begin(), bytes.end()).size(), 200u);
}

TEST_F(Reserve, IsMadeAnewWhenItIsCut) {
  std::ofstream(file_) << "cut";
  keep_reserve(file_);
  EXPECT_EQ(fs::file_size(file_), kReserve);
  const auto written = fs::last_write_time(file_);
  keep_reserve(file_);
  EXPECT_EQ(fs::last_write_time(file_), written) << "what is whole stays";
}

TEST_F(Reserve, StaysWhereThereIsRoom) {
  keep_reserve(file_);
  EXPECT_FALSE(give_up_reserve(file_));
  EXPECT_TRUE(fs::exists(file_));
  EXPECT_FALSE(give_up_reserve("/no/such/folder/nights.reserve"));
}

TEST_F(Reserve, IsGivenUpOnAFullDisk) {
  const int status = on_disk("20m", [&] {
    keep_reserve(file_);
    return fs::exists(file_) && give_up_reserve(file_) && !fs::exists(file_) && !give_up_reserve(file_);
  });
  if (status == 77) GTEST_SKIP() << "no disk of its own";
  EXPECT_EQ(status, 0);
}

TEST_F(Reserve, IsNotThereWhereItDoesNotFit) {
  const int status = on_disk("8m", [&] {
    keep_reserve(file_);
    return !fs::exists(file_);
  });
  if (status == 77) GTEST_SKIP() << "no disk of its own";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kiln
