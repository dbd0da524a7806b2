// The packages in an image and their licences: an SPDX document (2.3) as tables. Pure.
#pragma once

#include <string>
#include <vector>

namespace kiln {

struct BillPackage {
  std::string name, version, licence;  // the licence is an expression of SPDX, "" = not said
};

// Without the image itself. Throws Error(input) for a text that is no such document.
std::vector<BillPackage> bill_packages(const std::string& spdx);

// The licences that an expression names, each once, an exception with its licence: "GPL-2.0-only WITH
// Classpath-exception-2.0".
std::vector<std::string> licences_in(const std::string& expression);

// As markup; says so where the text is no such document.
std::string bill_html(const std::string& spdx);

// The compiler flags and the steps that a provenance statement (SLSA v1) has, and where each flag came from;
// "" where it has neither.
std::string flags_html(const std::string& provenance);
std::string steps_html(const std::string& provenance);

// Of the matrix that the statement names; "" where it does not.
std::string matrix_of(const std::string& provenance);

}  // namespace kiln
