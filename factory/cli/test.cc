// kiln test: the tests that could not be run in full where the images were built.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/cli/build_images.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/record/image_record.h"
#include "factory/run/publish.h"
#include "factory/state/record_store.h"
#include "factory/state/state_names.h"

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
        reader_(state_, invocation.files) {}

  void run() {
    const ChosenCells chosen = choose_whole_cells(catalogue_.plan.resolution(), options_, invocation_);
    invocation_.need_root_for_steps();
    const WriterLock lock = lock_state(invocation_, "kiln test of " + catalogue_.plan.name());
    const ImageNumbers images = packaged(chosen.images);
    if (images.empty())
      throw Error(ExitCode::no_match, "none of the images is built", "run `kiln build` first");
    const ImageNumbers open = begin_again(images);
    if (!open.empty()) {
      const BuildReport report =
          build_images(catalogue_, open, {options_.jobs, false, 0, false}, site_, invocation_);
      if (report.exit_code() != ExitCode::ok) invocation_.exit_code = report.exit_code();
    }
    print(images);
  }

 private:
  ImageNumbers packaged(const ImageNumbers& chosen) const {
    StateNames names(state_, invocation_.files);
    ImageNumbers images;
    for (std::uint32_t number : chosen) {
      const ResolvedImage image = catalogue_.plan.image(number);
      if (names.is_packaged(image))
        images.push_back(number);
      else
        invocation_.note(image.reference() + " is not built: passed over");
    }
    return images;
  }

  // The images with a test to run. What is known of those tests is taken away, so that they are run.
  ImageNumbers begin_again(const ImageNumbers& images) {
    const RecordWriter writer(state_, invocation_.files);
    ImageNumbers open;
    for (std::uint32_t number : images) {
      bool is_open = false;
      for (StepTable::Number test : catalogue_.plan.image(number).tests()) {
        const std::string key = catalogue_.plan.steps().hex(test);
        const auto record = reader_.test(key);
        if (record && !options_.again && not_run_reason(record->last_line).empty()) continue;
        if (record && begun_.insert(key).second) writer.remove_test(key);
        is_open = true;
      }
      if (is_open) open.push_back(number);
    }
    return open;
  }

  struct Row {
    std::string image, test, result, machine, taken, now;
  };

  std::vector<Row> rows(const ImageNumbers& images) const {
    std::vector<Row> rows;
    for (std::uint32_t number : images) {
      const ResolvedImage image = catalogue_.plan.image(number);
      for (StepTable::Number test : image.tests()) {
        const std::string key = catalogue_.plan.steps().hex(test);
        Row row{image.reference(),
                catalogue_.plan.steps().pattern(test).title,
                "",
                "",
                "",
                begun_.contains(key) ? "now" : "before"};
        const auto record = reader_.test(key);
        const auto failure = record ? std::nullopt : reader_.failure(key);
        const std::string why = record ? not_run_reason(record->last_line) : "";
        row.result = failure        ? "failed: " + failure->what
                     : !record      ? "not reached"
                     : !why.empty() ? "not run: " + why
                                    : "passed";
        if (record) {
          row.machine = test_run(*record).text();
          row.taken = record->taken;
        }
        rows.push_back(std::move(row));
      }
    }
    return rows;
  }

  void print(const ImageNumbers& images) const {
    const std::vector<Row> all = rows(images);
    if (options_.format == "json") {
      Json json = Json::array();
      for (const Row& row : all)
        json.push_back({{"image", row.image},
                        {"test", row.test},
                        {"result", row.result},
                        {"machine", row.machine},
                        {"taken", row.taken},
                        {"run_now", row.now == "now"}});
      return print_json(json);
    }
    Table table({"IMAGE", "TEST", "RESULT", "ON", "AT"});
    for (const Row& row : all) table.add({row.image, row.test, row.result, row.machine, row.taken});
    print_text(table.text());
  }

  const TestOptions& options_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site site_;
  const Catalogue catalogue_;
  const RecordReader reader_;
  std::set<std::string> begun_;  // keys of tests that are run again
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
