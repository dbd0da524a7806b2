// Table I of the paper: every mark is a cell, or is excluded for the reason that docs/catalogue.md gives.
#include "support/catalogue_fixture.h"

namespace kiln {
namespace {

using testing::has_axes;
using testing::paper_plan;
using testing::specs_of;

struct Mark {
  const char* name;
  AxisValues axes;
  const char* tag;     // the image's, or null
  const char* reason;  // why there is none, or null
};

[[maybe_unused]] void PrintTo(const Mark& mark, std::ostream* out) { *out << mark.name; }

AxisValues cell(const char* framework, const char* version, const char* method, const char* base, bool gpu,
                const char* compiler = nullptr) {
  AxisValues axes = {{"framework", framework},
                     {"version", version},
                     {"method", method},
                     {"base", base},
                     {"target", gpu ? "broadwell,nvidia:sm_61" : "broadwell"}};
  if (compiler != nullptr) axes["compiler"] = compiler;
  return axes;
}

constexpr const char* kTf = "tensorflow";
constexpr const char* kHub21 = "tensorflow-hub@2.1.0-py3";
constexpr const char* kGpu21 = "tensorflow-hub@2.1.0-gpu-py3";

// In the table's order; each mark on the CPU and on the GPU.
std::vector<Mark> tensorflow_marks() {
  const char* hub114 = "tensorflow-hub@1.14.0-py3";
  const char* gpu114 = "tensorflow-hub@1.14.0-gpu-py3";
  return {
      {"TF 1.14 hub CPU", cell(kTf, "1.14.0", "hub", hub114, false, "none"),
       "1.14.0-hub-broadwell-tensorflow-hub1.14.0-py3", nullptr},
      {"TF 1.14 hub GPU", cell(kTf, "1.14.0", "hub", gpu114, true, "none"),
       "1.14.0-hub-broadwell-sm_61-tensorflow-hub1.14.0-gpu-py3", nullptr},
      {"TF 1.14 pip CPU", cell(kTf, "1.14.0", "pip", "ubuntu@18.04", false, "none"),
       "1.14.0-pip-broadwell-ubuntu18.04", nullptr},
      {"TF 1.14 pip GPU", cell(kTf, "1.14.0", "pip", "cuda@10.0", true, "none"),
       "1.14.0-pip-broadwell-sm_61-cuda10.0", nullptr},
      {"TF 2.1 hub CPU", cell(kTf, "2.1.0", "hub", kHub21, false, "none"),
       "2.1.0-hub-broadwell-tensorflow-hub2.1.0-py3", nullptr},
      {"TF 2.1 hub GPU", cell(kTf, "2.1.0", "hub", kGpu21, true, "none"),
       "2.1.0-hub-broadwell-sm_61-tensorflow-hub2.1.0-gpu-py3", nullptr},
      {"TF 2.1 pip CPU", cell(kTf, "2.1.0", "pip", "ubuntu@18.04", false, "none"),
       "2.1.0-pip-broadwell-ubuntu18.04", nullptr},
      {"TF 2.1 pip GPU", cell(kTf, "2.1.0", "pip", "cuda@10.1", true, "none"),
       "2.1.0-pip-broadwell-sm_61-cuda10.1", nullptr},
      {"TF 2.1 opt-build CPU", cell(kTf, "2.1.0", "source", "ubuntu@18.04", false, "none"),
       "2.1.0-source-broadwell-ubuntu18.04", nullptr},
      {"TF 2.1 opt-build GPU", cell(kTf, "2.1.0", "source", "cuda@10.1", true, "none"),
       "2.1.0-source-broadwell-sm_61-cuda10.1", nullptr},
  };
}

std::vector<Mark> marks_of_other_frameworks() {
  const char* torch_hub = "pytorch-hub@1.4-cuda10.1-cudnn7-runtime";
  const char* cntk_cpu = "cntk-hub@2.7-cpu-python3.5";
  const char* cntk_gpu = "cntk-hub@2.7-gpu-python3.5-cuda10.0-cudnn7.3";
  return {
      {"PyTorch 1.4 hub CPU", cell("pytorch", "1.4.0", "hub", torch_hub, false),
       "1.4.0-hub-broadwell-pytorch-hub1.4-cuda10.1-cudnn7-runtime", nullptr},
      {"PyTorch 1.4 hub GPU", cell("pytorch", "1.4.0", "hub", torch_hub, true),
       "1.4.0-hub-broadwell-sm_61-pytorch-hub1.4-cuda10.1-cudnn7-runtime", nullptr},
      {"PyTorch 1.4 pip CPU", cell("pytorch", "1.4.0", "pip", "ubuntu@18.04", false, "none"),
       "1.4.0-pip-broadwell-ubuntu18.04", nullptr},
      {"PyTorch 1.4 pip GPU", cell("pytorch", "1.4.0", "pip", "cuda@10.1", true, "none"),
       "1.4.0-pip-broadwell-sm_61-cuda10.1", nullptr},
      {"PyTorch 1.4 opt-build CPU", cell("pytorch", "1.4.0", "source", "ubuntu@18.04", false, "none"),
       "1.4.0-source-broadwell-ubuntu18.04", nullptr},
      {"PyTorch 1.4 opt-build GPU", cell("pytorch", "1.4.0", "source", "cuda@10.1", true, "none"),
       "1.4.0-source-broadwell-sm_61-cuda10.1", nullptr},
      {"MXNet 1.6 hub CPU", cell("mxnet", "1.6.0", "hub", "mxnet-hub@1.6.0_cpu_py3", false),
       "1.6.0-hub-broadwell-mxnet-hub1.6.0_cpu_py3", nullptr},
      {"MXNet 1.6 hub GPU", cell("mxnet", "1.6.0", "hub", "mxnet-hub@1.6.0_gpu_cu101_py3", true),
       "1.6.0-hub-broadwell-sm_61-mxnet-hub1.6.0_gpu_cu101_py3", nullptr},
      {"CNTK 2.7 hub CPU", cell("cntk", "2.7", "hub", cntk_cpu, false),
       "2.7-hub-broadwell-cntk-hub2.7-cpu-python3.5", nullptr},
      {"CNTK 2.7 hub GPU", cell("cntk", "2.7", "hub", cntk_gpu, true),
       "2.7-hub-broadwell-sm_61-cntk-hub2.7-gpu-python3.5-cuda10.0-cudnn7.3", nullptr},
  };
}

std::vector<Mark> marks_of_graph_compilers() {
  return {
      {"XLA 2.1 hub CPU", cell(kTf, "2.1.0", "hub", kHub21, false, "xla"),
       "2.1.0-hub-xla-broadwell-tensorflow-hub2.1.0-py3", nullptr},
      {"XLA 2.1 hub GPU", cell(kTf, "2.1.0", "hub", kGpu21, true, "xla"),
       "2.1.0-hub-xla-broadwell-sm_61-tensorflow-hub2.1.0-gpu-py3", nullptr},
      {"XLA 2.1 pip CPU", cell(kTf, "2.1.0", "pip", "ubuntu@18.04", false, "xla"),
       "2.1.0-pip-xla-broadwell-ubuntu18.04", nullptr},
      {"XLA 2.1 pip GPU", cell(kTf, "2.1.0", "pip", "cuda@10.1", true, "xla"),
       "2.1.0-pip-xla-broadwell-sm_61-cuda10.1", nullptr},
      {"XLA 2.1 opt-build CPU", cell(kTf, "2.1.0", "source", "ubuntu@18.04", false, "xla"),
       "2.1.0-source-xla-broadwell-ubuntu18.04", nullptr},
      {"XLA 2.1 opt-build GPU", cell(kTf, "2.1.0", "source", "cuda@10.1", true, "xla"),
       "2.1.0-source-xla-broadwell-sm_61-cuda10.1", nullptr},
      {"GLOW opt-build CPU", cell("pytorch", "1.4.0", "source", "ubuntu@18.04", false, "glow"),
       "1.4.0-source-glow-broadwell-ubuntu18.04", nullptr},
      {"GLOW opt-build GPU", cell("pytorch", "1.4.0", "source", "cuda@10.1", true, "glow"), nullptr,
       "Glow has no backend for CUDA"},
      {"nGraph 1.14 pip CPU", cell(kTf, "1.14.0", "pip", "ubuntu@18.04", false, "ngraph"),
       "1.14.0-pip-ngraph-broadwell-ubuntu18.04", nullptr},
      {"nGraph 1.14 pip GPU", cell(kTf, "1.14.0", "pip", "cuda@10.0", true, "ngraph"), nullptr,
       "the nGraph bridge's wheel computes on CPUs"},
  };
}

std::vector<Mark> marks() {
  std::vector<Mark> all = tensorflow_marks();
  for (const auto& more : {marks_of_other_frameworks(), marks_of_graph_compilers()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::optional<ImageSpec> image_of(const AxisValues& axes) {
  for (std::size_t number = 0; number < paper_plan().size(); ++number)
    if (has_axes(paper_plan().image(number).request().axes, axes)) return paper_plan().image(number).spec();
  return std::nullopt;
}

TEST(PaperTest, EveryMarkOfTheTableIsACellOrIsExcludedForItsReason) {
  for (const Mark& mark : marks()) {
    SCOPED_TRACE(mark.name);
    const std::optional<ImageSpec> image = image_of(mark.axes);
    if (mark.tag != nullptr) {
      ASSERT_TRUE(image);
      EXPECT_EQ(image->tag, mark.tag);
      continue;
    }
    EXPECT_FALSE(image);
    std::vector<std::string> reasons;
    for (const ExcludedCell& excluded : testing::excluded_of(paper_plan()))
      if (has_axes(excluded.axes, mark.axes)) reasons.push_back(excluded.reason);
    EXPECT_EQ(reasons, std::vector<std::string>{mark.reason});
  }
}

TEST(PaperTest, HasNothingBesidesTheTable) {
  std::set<std::string> of_table;
  for (const Mark& mark : marks())
    if (mark.tag != nullptr) of_table.insert(mark.tag);
  for (const ImageSpec& image : specs_of(paper_plan()))
    EXPECT_TRUE(of_table.contains(image.tag)) << image.request.id;
  EXPECT_TRUE(paper_plan().warnings().empty());
}

TEST(PaperTest, SourceBuildsHaveTheTestbedsFlagsAndGpu) {
  for (const ImageSpec& image : specs_of(paper_plan())) {
    if (image.request.axes.at("method") != "source") continue;
    SCOPED_TRACE(image.request.id);
    EXPECT_TRUE(image.optimised);
    bool cpu = false;
    bool gpu = image.target.accelerators.empty();
    for (const Stage& stage : image.stages) {
      for (const Step& step : stage.steps) {
        for (const auto& [name, value] : step.parameters) {
          cpu = cpu || value.find("-march=broadwell") != std::string::npos;
          gpu = gpu || (name == "KILN_CUDA_ARCHS" && value == "6.1+PTX");
        }
      }
    }
    EXPECT_TRUE(cpu);
    EXPECT_TRUE(gpu);
  }
}

}  // namespace
}  // namespace kiln
