#pragma once

#include <memory>

#include "factory/evidence/instruction_decoder.h"

namespace kiln::evidence {

std::unique_ptr<InstructionDecoder> make_arm_decoder();

}  // namespace kiln::evidence
