#include "image/build/tested.h"

#include <algorithm>

#include "base/error.h"

namespace kiln {
namespace {

// "pytorch 2.6.0 (pip)" of the step "test pytorch 2.6.0 (pip)".
std::string tested_thing(const Step& test) {
  constexpr std::string_view kTest = "test ";
  return test.title.starts_with(kTest) ? test.title.substr(kTest.size()) : test.title;
}

// Why it was not run in full, "" where it was.
std::string shortfall(const std::string& key, const RecordReader& reader) {
  try {
    auto record = reader.test(key);
    return record ? not_run_reason(record->last_line) : "its record is gone";
  } catch (const Error&) {
    return "its record is damaged";  // whatever it was, nobody can say that it passed
  }
}

}  // namespace

TestsRecord tests_of(const ResolvedImage& image, const StepTable& steps, const RecordReader& reader) {
  TestsRecord tests;
  for (StepTable::Number number : image.tests()) {
    std::string what = tested_thing(steps.pattern(number));
    std::string why = shortfall(steps.hex(number), reader);
    if (why.empty())
      tests.passed.push_back(std::move(what));
    else
      tests.not_run.emplace(std::move(what), std::move(why));
  }
  std::sort(tests.passed.begin(), tests.passed.end());
  return tests;
}

}  // namespace kiln
