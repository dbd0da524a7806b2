// What the tests of an image proved, for its record in the index.
#pragma once

#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/state/record_store.h"

namespace kiln {

// Where and when it was run.
TestRun test_run(const TestRecord& record);

// By the records of the tests that its recipes have by now. REQUIRES: it is built (StateNames::is_built), so
// that they were all passed.
TestsRecord tests_of(const ResolvedImage& image, const StepTable& steps, const RecordReader& reader);

}  // namespace kiln
