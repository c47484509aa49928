// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What all pages of tilec look like: one HTML file without anything from outside, readable in light and dark. The
// colour of a cell is its share of the column's largest value, or how far it is from the ideal.

#ifndef TILEJIT_TOOLS_TILEC_PAGE_H
#define TILEJIT_TOOLS_TILEC_PAGE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tilejit::tilec {

/// Everything before the heading. `title` is HTML; `style` is CSS beyond what all pages share.
std::string pageHead(const std::string &title, std::string_view style = {});
/// Text that is safe in elements and attributes.
std::string escapeHtml(std::string_view text);
/// A cell of numbers, in full colour where `heat` is 1.
std::string heatCell(double heat, const std::string &text);
/// "1,024 / 512" in a colour that is full where four times the ideal is needed; empty where both are zero.
std::string idealCell(uint64_t actual, uint64_t ideal);
/// "1,024 / 512".
std::string idealText(uint64_t actual, uint64_t ideal);
/// A figure with its name below; several stand in a <div class=cards>.
std::string pageCard(const std::string &value, const std::string &name);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_PAGE_H
