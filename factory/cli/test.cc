// kiln test: the tests that could not be run in full where the images were built.

#include <nlohmann/json.hpp>

#include "factory/app/test_rerun.h"
#include "factory/base/json_put.h"
#include "factory/cli/build_images.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"

namespace kiln {
namespace {

struct TestOptions : CellOptions {
  std::string format = "table";
  int jobs = 0;
  bool again = false;
};

class ImageTests {
 public:
  ImageTests(const TestOptions& options, Invocation& invocation)
      : options_(options),
        invocation_(invocation),
        state_(invocation.state()),
        site_(invocation.site()),
        catalogue_(invocation.load(options.matrix)),
        tests_(catalogue_.plan, state_, invocation.files) {}

  void run() {
    const ChosenCells chosen = choose_whole_cells(catalogue_.plan.resolution(), options_, invocation_);
    invocation_.need_root_for_steps();
    const WriterLock lock = lock_state(invocation_, "kiln test of " + catalogue_.plan.name());
    const ImageNumbers images = packaged(chosen.images);
    if (images.empty())
      throw Error(ExitCode::no_match, "none of the images is built", "run `kiln build` first");
    const ImageNumbers open = tests_.begin(images, options_.again);
    if (!open.empty()) {
      const BuildReport report =
          build_images(catalogue_, open, {options_.jobs, false, 0, false}, site_, invocation_);
      if (report.exit_code() != ExitCode::ok) invocation_.exit_code = report.exit_code();
    }
    print(images);
  }

 private:
  ImageNumbers packaged(const ImageNumbers& chosen) const {
    std::vector<std::string> unbuilt;
    ImageNumbers images = tests_.packaged(chosen, unbuilt);
    for (const std::string& image : unbuilt) invocation_.note(image + " is not built: passed over");
    return images;
  }

  void print(const ImageNumbers& images) const {
    const std::vector<TestState> all = tests_.states(images);
    if (options_.format == "json")
      return print_json(json_list(all, [](const TestState& row) {
        return Json{{"image", row.image},     {"test", row.test},   {"result", row.result},
                    {"machine", row.machine}, {"taken", row.taken}, {"run_now", row.run_now}};
      }));
    Table table({"IMAGE", "TEST", "RESULT", "ON", "AT"});
    for (const TestState& row : all) table.add({row.image, row.test, row.result, row.machine, row.taken});
    print_text(table.text());
  }

  const TestOptions& options_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site site_;
  const Catalogue catalogue_;
  TestRerun tests_;
};

}  // namespace

CLI::App* add_test(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command = add_below(
      app, "test", "Run the tests of built images that could not run where the images were built",
      "kiln test -f matrix/demo.json                  # on a machine that has what they need\n"
      "kiln test -f matrix/demo.json target=zen4 --again\n"
      "kiln test -f matrix/demo.json target=zen4 --partition zen4   # there, by the site's launcher");
  add_cell_options(*command, *options);
  command->add_flag("--again", options->again, "also tests that were run");
  add_value(*command, "--partition", invocation.options.partition, "NAME",
            "run them on this partition of the site's launcher (default: the site file's)");
  add_jobs_option(*command, options->jobs, "tests");
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { ImageTests(*options, invocation).run(); });
  return command;
}

}  // namespace kiln
