#include "factory/run/tested.h"

#include <algorithm>

#include "factory/base/error.h"

namespace kiln {
namespace {

// "pytorch 2.6.0 (pip)" of the step "test pytorch 2.6.0 (pip)".
std::string tested_thing(const Step& test) {
  constexpr std::string_view kTest = "test ";
  return test.title.starts_with(kTest) ? test.title.substr(kTest.size()) : test.title;
}

struct Found {
  std::string shortfall;  // why it was not run in full, "" where it was
  TestRun run;
};

Found found(const std::string& key, const RecordReader& reader) {
  try {
    auto record = reader.test(key);
    if (!record) return {"its record is gone", {}};
    return {not_run_reason(record->last_line), test_run(*record)};
  } catch (const Error&) {
    return {"its record is damaged", {}};  // whatever it was, nobody can say that it passed
  }
}

}  // namespace

TestRun test_run(const TestRecord& record) {
  return {record.host, record.cpu, record.accelerators, record.kernel, record.taken, record.emulator};
}

TestsRecord tests_of(const ResolvedImage& image, const StepTable& steps, const RecordReader& reader) {
  TestsRecord tests;
  for (StepTable::Number number : image.tests()) {
    std::string what = tested_thing(steps.pattern(number));
    Found test = found(steps.hex(number), reader);
    if (test.run != TestRun{}) tests.ran.emplace(what, std::move(test.run));
    if (test.shortfall.empty())
      tests.passed.push_back(std::move(what));
    else
      tests.not_run.emplace(std::move(what), std::move(test.shortfall));
  }
  std::sort(tests.passed.begin(), tests.passed.end());
  return tests;
}

}  // namespace kiln
