// The parts of an image's page, as markup; "" where there is nothing to say. Pure, but for what the source
// reads. For image_page.cc.
#pragma once

#include <string>

#include "factory/pages/page_source.h"

namespace kiln {

std::string names_html(const ImageRecord& image);
std::string commands_html(const ImageRecord& image);
std::string components_html(const ImageRecord& image);
// `provenance`: of the image, or what is wrong with it.
std::string all_flags_html(const ImageRecord& image, const std::optional<PageDocument>& provenance);
std::string evidence_html(const EvidenceRecord& evidence);
std::string tests_html(const ImageRecord& image);
std::string sbom_html(const ImageRecord& image, const PageSource& source);
std::string definitions_html(const IndexEntry& entry, const PageSource& source,
                             const std::optional<PageDocument>& provenance);
std::string history_html(const ImageRecord& image, const PageContent& content, const PageSource& source);
std::string labels_html(const ImageRecord& image);

}  // namespace kiln
