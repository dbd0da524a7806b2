#include "factory/record/python_module.h"

#include "factory/base/text.h"

namespace kiln {

std::string python_module_of(std::string_view application) {
  std::string name = lower_case(application);
  if (name == "pytorch") return "torch";
  if (name == "scikit-learn") return "sklearn";
  for (const std::string_view same : {"tensorflow", "jax", "mxnet", "keras", "onnxruntime", "cntk"})
    if (name == same) return name;
  return "";
}

}  // namespace kiln
