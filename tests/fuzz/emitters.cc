// Both emitters: the bytes become the strings of a plan; its files are rendered, parsed again and compared.
// Whatever the strings are, the emitters refuse them or the twins say what the plan says.
#include <cstdint>

#include "factory/base/error.h"
#include "factory/twin/twin.h"
#include "support/render_sample.h"

namespace {

using namespace kiln;

// Hands out the parts of the input between bytes 0xff.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::string next() {
    std::size_t end = rest_.find('\xff');
    std::string part(rest_.substr(0, end));
    rest_ = end == std::string_view::npos ? "" : rest_.substr(end + 1);
    return part;
  }

 private:
  std::string_view rest_;
};

void set_reference(ImageSpec& spec, const std::string& reference) {
  for (Stage& stage : spec.stages) {
    stage.steps[0].kind = StepKind::pull;
    stage.steps[0].script = "";
    stage.steps[0].reference = reference;
  }
}

void fill(ImageSpec& spec, char place, const std::string& text) {
  Step& step = spec.stages[1].steps[2];
  switch (place % 16) {
    case 0:
      spec.labels["a.b"] = text;
      break;
    case 1:
      spec.labels[text] = "x";
      break;
    case 2:
      spec.environment["A"] = text;
      break;
    case 3:
      spec.environment[text] = "x";
      break;
    case 4:
      spec.command.push_back(text);
      break;
    case 5:
      step.parameters["A"] = text;
      break;
    case 6:
      step.parameters[text] = "x";
      break;
    case 7:
      step.script = text;
      break;
    case 8:
      step.title = text;
      break;
    case 9:
      step.component = text;
      break;
    case 10:
      spec.stages[1].steps[1].copy = {text};
      break;
    case 11:
      spec.tests[0].parameters["A"] = text;
      break;
    case 12:
      spec.request.id = spec.target.name = text;
      break;
    case 13:
      spec.stages[0].name = text;
      break;
    case 14:
      spec.tests[0].script = text;
      break;
    default:
      set_reference(spec, text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const ImageSpec kSample = kiln::testing::sample_spec();
  ImageSpec spec = kSample;
  Parts parts(std::string_view(reinterpret_cast<const char*>(bytes), size));
  while (!parts.empty()) {
    std::string part = parts.next();
    if (!part.empty()) fill(spec, part[0], part.substr(1));
  }
  std::string dockerfile;
  std::string definition;
  try {
    dockerfile = render_dockerfile(spec);
    definition = render_singularity(spec);
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) __builtin_trap();
    return 0;
  }
  if (!twin_differences(spec, dockerfile, definition).empty()) __builtin_trap();
  return 0;
}
