// The stages of an image and the keys of their steps. Used by resolve only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/choose.h"
#include "plan/parameter_values.h"
#include "plan/resolve.h"

namespace kiln {

class StageBuilder {
 public:
  // `image`: all components of the image in layering order. REQUIRES: all arguments outlive this.
  StageBuilder(const ResolveInput& input, const Target& target, const Choice& image, std::string cell_method);

  // Build stages in the order of need, the image last. Throws Error(input), Unsolvable.
  std::vector<Stage> build();
  // REQUIRES: build() has run. `environment`: of the image, which tests see too.
  std::vector<Step> tests(const std::string& last_key, const std::map<std::string, std::string>& environment);
  const std::vector<FlagOrigin>& flags() const { return values_.flags(); }

 private:
  void lay_base(Stage& stage, const Chosen& base);
  void lay(Stage& stage, const Chosen& chosen, std::vector<const Chosen*>& laid);
  std::string build_stage(const Chosen& chosen);
  void run_script(Stage& stage, const Chosen& chosen, const std::string& script, const ScriptPlace& place);
  std::string stage_name(const Chosen& chosen) const;

  const ResolveInput* input_;
  const Target* target_;
  const Choice* image_;
  std::string cell_method_;
  std::string architecture_;
  ParameterValues values_;
  std::vector<Stage> stages_;
  std::map<std::string, std::string>
      built_;                      // component, version and method → key of its build stage's last step
  std::vector<std::string> open_;  // being built, outermost first
};

}  // namespace kiln
