// What is installed in an image, under which licences: an SPDX document (2.3) as tables. Pure.
#pragma once

#include <string>

namespace kiln {

// As markup; says so where the text is no such document.
std::string bill_html(const std::string& spdx);

// The compiler flags and the steps that a provenance statement (SLSA v1) has, and where each flag came from;
// "" where it has neither.
std::string flags_html(const std::string& provenance);
std::string steps_html(const std::string& provenance);

// Of the matrix that the statement names; "" where it does not.
std::string matrix_of(const std::string& provenance);

}  // namespace kiln
