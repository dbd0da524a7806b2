#pragma once

#include <memory>

#include "factory/evidence/instruction_decoder.h"

namespace kiln::evidence {

// x86-64, or i386 when not `is_64`.
std::unique_ptr<InstructionDecoder> make_x86_decoder(bool is_64);

}  // namespace kiln::evidence
