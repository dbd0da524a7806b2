// expand → resolve → plan, one image after the other: for catalogues of which one image at a time is enough.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/build_plan.h"
#include "plan/cells.h"
#include "plan/image_resolver.h"

namespace kiln {

// Walks the images of a matrix in cell order. What it remembers of an image that it has left behind is its
// name and the keys of its steps, about half a kilobyte. Pure but for its place in the matrix.
class Planner {
 public:
  // Expands and checks targets. Throws Error(input). REQUIRES: all arguments outlive this.
  Planner(const Matrix& matrix, const ResolveInput& input);

  // Goes to the next image; false at the end. Throws Error(input), also when two cells get one tag, naming
  // both.
  bool next();

  // Of the image gone to:
  const ImageRequest& request() const { return request_; }
  const std::string& repository() const { return sketch_.choice->repository; }
  const std::string& tag() const { return sketch_.tag; }
  std::string immutable_tag() const { return make_immutable_tag(sketch_.tag, hex_of(sketch_.key)); }
  std::string key() const { return hex_of(sketch_.key); }
  std::string record_name() { return resolver_.record_name(sketch_, request_); }
  // The keys of its steps in order of execution, tests last; false when `visit` said so and ended it.
  bool each_step(const std::function<bool(const std::string& key, bool test)>& visit) const;
  // The same as SketchedStep, stages first; a step of several stages is visited once.
  void each_sketched_step(const std::function<void(const SketchedStep& step, bool test)>& visit) const;
  PlannedImage image();           // all of it
  std::vector<Step> new_steps();  // its steps and tests that no image counted before it has, each once

  std::size_t images() const { return images_.size(); }  // so far
  // Goes back to an image of those so far, numbered from 0. Its steps count only if they are counted again.
  void go_to(std::size_t image);

  // Of the images whose steps are counted: next() does so, for all until they are forgotten.
  void count_steps();
  void forget_steps();
  std::size_t steps() const { return resolver_.steps().used(); }
  std::size_t steps_before_sharing() const { return steps_before_sharing_; }
  std::size_t shared_steps() const { return resolver_.steps().shared(); }
  void each_shared_step(const std::function<void(const std::string& key, std::size_t uses)>& visit) const;
  // Those of new_steps(), and what is known of any step.
  const std::vector<SketchedStep>& new_sketched_steps() const { return new_steps_; }
  const StepStore& step_store() const { return resolver_.steps(); }

  // Complete when next() has returned false.
  std::size_t excluded() const { return cells_.excluded() + unsolvable_.size(); }
  ExcludedCell excluded(std::size_t index) const;
  const std::vector<std::string>& warnings() const { return cells_.warnings(); }

 private:
  struct Image {
    std::uint32_t cell;
    std::uint64_t name_hash;
  };
  struct Unsolvable {
    std::uint32_t cell;
    const std::string* reason;
  };
  void add_name();
  void refuse_same_name(const Image& other);

  Cells cells_;
  ImageResolver resolver_;
  std::uint32_t next_ = 0;
  ImageRequest request_;
  ImageSketch sketch_;
  std::vector<SketchedStep> new_steps_;
  std::size_t new_tests_ = 0;  // at the end of new_steps_
  std::size_t steps_before_sharing_ = 0;
  std::deque<Image> images_;
  HashIndex by_name_;
  std::deque<Unsolvable> unsolvable_;
};

}  // namespace kiln
