// Partitions whose nodes differ: the image that runs on all of them, or the constraint under which another is
// right.
#include "deploy/archspec_table.h"
#include "deploy/deploy_samples.h"
#include "registry/deploy/job_answer.h"

namespace kiln {
namespace {

using namespace testing;

const char* kMixed =
    R"({"name": "hlrs", "configuration": {"scheduler": "slurm", "partitions": {"mixed": {"nnodes": 10, "kinds": [
  {"constraint": "zen2", "nnodes": 8, "node": {"ncpus": 2, "cpu": {"microarch": "zen2", "ncores": 32}, "memory": "256GiB"}},
  {"constraint": "zen4", "nnodes": 2, "node": {"ncpus": 2, "cpu": {"microarch": "zen4", "ncores": 48}, "memory": "512GiB",
   "naccel": 2, "accel": {"type": "gpu", "model": "nvidia:sm_90"}}}]}}}})";

// An index with one image for each of these hosts; others have none.
using Images = std::map<std::string, std::string>;
class Hosts {
 public:
  explicit Hosts(Images images) : images_(std::move(images)) {}
  AskIndex ask() {
    return [this](const ChooserQuestion& asked) {
      asked_.push_back(asked.host);
      ChooserReply reply;
      const auto found = images_.find(asked.host);
      if (found == images_.end()) {
        reply.code = ExitCode::no_match;
        reply.error = Error(ExitCode::no_match, "no image matches");
        return reply;
      }
      ImageRecord image;
      image.reference = found->second;
      image.code = found->second;
      reply.reference = found->second;
      reply.image = image;
      return reply;
    };
  }
  std::vector<std::string> asked_;

 private:
  Images images_;
};

JobAnswer answered(const std::string& text, Hosts& hosts, const char* machines = kMixed) {
  const DeploySite site(
      {read_site_document(SiteKind::infrastructure, JsonDocument::parse(machines, "machines").root())});
  JobQuestion question;
  question.infrastructure = "hlrs";
  return answer_job(JsonDocument::parse(text, "job.json"), question, site, archspec_table(), {}, hosts.ask());
}

std::string lines(const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, "\n")); }

TEST(NodeKinds, TheImageRunsOnAllOfThem) {
  Hosts hosts(Images{{"zen2", "docker://s/all:1"}, {"zen4,nvidia:sm_90", "docker://s/zen4:1"}});
  const JobAnswer answer = answered(document("", kPlain), hosts);
  EXPECT_EQ(answer.reference, "docker://s/all:1");
  EXPECT_EQ(hosts.asked_, (std::vector<std::string>{"zen2", "zen2", "zen4,nvidia:sm_90"}));
  EXPECT_FALSE(holds(answer.scripts.job, "--constraint"));
  EXPECT_TRUE(
      holds(answer.scripts.job, "# the image runs on zen2, which all 2 kinds of nodes of mixed are\n"))
      << answer.scripts.job;
  EXPECT_EQ(lines(answer.notes),
            "on nodes of zen4,nvidia:sm_90 (architecture_constraint zen4), docker://s/zen4:1 is "
            "better than docker://s/all:1, which runs on all");
}

TEST(NodeKinds, TheConstraintOfTheDocumentChoosesTheKind) {
  Hosts hosts(Images{{"zen2", "docker://s/all:1"}, {"zen4,nvidia:sm_90", "docker://s/zen4:1"}});
  const JobAnswer answer = answered(document(R"("architecture_constraint": "zen4")", kPlain), hosts);
  EXPECT_EQ(answer.reference, "docker://s/zen4:1");
  EXPECT_EQ(hosts.asked_, std::vector<std::string>{"zen4,nvidia:sm_90"});
  EXPECT_TRUE(holds(answer.scripts.job, "#SBATCH --constraint=zen4\n"));
  EXPECT_TRUE(holds(answer.scripts.job, "#SBATCH --cpus-per-task=96\n")) << "the whole of such a node";
}

TEST(NodeKinds, GpusChooseTheKindToo) {
  Hosts hosts(Images{{"zen4,nvidia:sm_90", "docker://s/zen4:1"}});
  EXPECT_EQ(answered(document(R"("request_gpus": 2)", kPlain), hosts).reference, "docker://s/zen4:1");
  EXPECT_TRUE(
      holds(input_error([&] { answered(document(R"("request_gpus": 2, "node_count": 3)", kPlain), hosts); }),
            "3 nodes; the partition mixed has 2"));
  EXPECT_TRUE(holds(input_error([&] { answered(document(R"("request_gpus": 3)", kPlain), hosts); }),
                    "3 GPUs on a node; the partition mixed has nodes with 2"));
}

TEST(NodeKinds, WhereNothingRunsOnAllTheConstraintIsWritten) {
  Hosts hosts(Images{{"zen4,nvidia:sm_90", "docker://s/zen4:1"}});
  const JobAnswer answer = answered(document("", kPlain), hosts);
  EXPECT_EQ(answer.reference, "docker://s/zen4:1");
  EXPECT_TRUE(holds(answer.scripts.job, "#SBATCH --constraint=zen4\n"));
  EXPECT_TRUE(holds(answer.scripts.job,
                    "# the constraint zen4: no image runs on all nodes of mixed, and docker://s/zen4:1 "
                    "runs on those of zen4,nvidia:sm_90\n"))
      << answer.scripts.job;
  Hosts none(Images{});
  EXPECT_EQ(error_of([&] { answered(document("", kPlain), none); }).code(), ExitCode::no_match);
}

TEST(NodeKinds, ShareWhatBothHave) {
  const Infrastructure machines = infrastructure(kMixed);
  const Partition& mixed = machines.partitions.at("mixed");
  EXPECT_EQ(mixed.node->all_cores(), 64);
  EXPECT_EQ(mixed.node->memory, 256ull << 30);
  EXPECT_EQ(mixed.node->accelerators, 0);
  EXPECT_EQ(mixed.node->host_name(), "");
  EXPECT_EQ(common_host(mixed.kinds, archspec_table()), "zen2");
  std::vector<AlikeNodes> kinds = mixed.kinds;
  kinds[0].node.microarchitecture = "skylake_avx512";
  EXPECT_EQ(common_host(kinds, archspec_table()), "x86_64_v4");
  kinds[0].node.microarchitecture = "a64fx";
  EXPECT_EQ(common_host(kinds, archspec_table()), "");
  kinds[0] = kinds[1];
  EXPECT_EQ(common_host(kinds, archspec_table()), "zen4,nvidia:sm_90");
}

TEST(NodeKinds, WrongOnesAreRefused) {
  const std::string all = kMixed;
  EXPECT_TRUE(holds(
      input_error([&] { infrastructure(with_mistake(all, R"("zen4", "nnodes")", R"("zen2", "nnodes")")); }),
      "a second kind of nodes with the constraint 'zen2'"));
  EXPECT_TRUE(
      holds(input_error([&] { infrastructure(with_mistake(all, R"("kinds")", R"("node": {}, "kinds")")); }),
            "'node' is given as well"));
}

const char* kDerived = R"("executable": "train", "derive": {"name": "train", "copy": "src:/opt/t"})";

JobAnswer derived_answer(const std::string& application, bool is_mapping, const DeriveImage& derive) {
  const AskIndex ask = [is_mapping](const ChooserQuestion&) {
    ChooserReply reply;
    ImageRecord image;
    image.repository = "pytorch";
    image.tag = "1";
    if (!is_mapping) image.manifest = Digest::of("parent");
    reply.reference = "docker://s/pytorch:1";
    reply.image = image;
    return reply;
  };
  return answer_job(JsonDocument::parse(document("", application), "job.json"), {},
                    DeploySite(std::vector<SiteDocument>{}), archspec_table(), {}, ask, derive);
}

TEST(DerivedJob, RunsTheApplicationUponTheChosenImage) {
  const auto derive = [](const ImageRecord& parent, const JobDerivation& wanted) {
    EXPECT_EQ(parent.name(), "pytorch:1");
    EXPECT_EQ(wanted.name, "train");
    EXPECT_EQ(wanted.copy, "src:/opt/t");
    EXPECT_EQ(wanted.requirements + wanted.run + wanted.test, "");
    ImageRecord image;
    image.reference = image.code = "docker://s/train:1";
    return DerivedImage{image, image.reference};
  };
  const JobAnswer answer = derived_answer(kDerived, false, derive);
  EXPECT_EQ(answer.reference, "docker://s/train:1");
  EXPECT_TRUE(holds(answer.scripts.job, "train_1.sif")) << answer.scripts.job;
}

TEST(DerivedJob, IsRefusedWhereNoneCanBeMade) {
  const auto fails = [](const std::string& application, bool is_mapping, const DeriveImage& derive) {
    try {
      derived_answer(application, is_mapping, derive);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return error.format();
    }
    return std::string("it is not refused");
  };
  const auto none = [](const ImageRecord&, const JobDerivation&) -> DerivedImage {
    ADD_FAILURE() << "nothing is to be made";
    return {};
  };
  EXPECT_TRUE(holds(fails(kDerived, false, {}), "this interface makes no derived image"));
  EXPECT_TRUE(holds(fails(kDerived, true, none), "is a mapping: kiln has not built it"));
  const std::string named = std::string(kDerived) + R"(, "container_runtime": "docker://s/x:1")";
  EXPECT_TRUE(holds(fails(named, false, none), "the document names the image"));
}

}  // namespace
}  // namespace kiln
