// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The page of an explanation: facts, roofline, then tile IR, tilegpu IR and LLVM IR beside each other. A line under the
// pointer shows, in the other columns, what it came from and what became of it.

#include "Explanation.h"

#include "Page.h"
#include "Reports.h"

#include <algorithm>

namespace tilejit::tilec {

namespace {

constexpr const char *style = R"(
.forms { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(28rem, 1fr)); }
.form { border: 1px solid var(--line); border-radius: .5rem; max-height: 80vh; overflow: auto; }
.form h3 { font-size: .9rem; margin: .5rem .8rem; }
.form td.ir { width: auto; } .form td.no { color: var(--faint); text-align: right; }
tr.linked td.ir { background: color-mix(in srgb, var(--good) 25%, transparent); }
.layouts { display: flex; flex-wrap: wrap; gap: 1rem; } .layouts svg { background: #fff; height: auto; max-width: 40rem; }
svg.roofline { font: 11px system-ui, sans-serif; max-width: 100%; } svg.roofline text { fill: var(--faint); }
svg.roofline .grid { stroke: var(--line); } svg.roofline .roof { fill: none; stroke: var(--heat); stroke-width: 2; }
svg.roofline .least { fill: var(--good); } svg.roofline .moved { fill: var(--faint); }
)";

/// Rows carry the tile line and the tilegpu line that they belong to.
constexpr const char *script = R"(<script>
const rows = [...document.querySelectorAll('.form tr[data-t], .form tr[data-g]')];
const clear = () => rows.forEach(row => row.classList.remove('linked'));
const same = (a, b, key) => a.dataset[key] && a.dataset[key] === b.dataset[key];
rows.forEach(row => {
  row.addEventListener('mouseleave', clear);
  row.addEventListener('mouseenter', () => {
    clear();
    const key = row.dataset.g ? 'g' : 't';
    rows.filter(other => same(row, other, key) || (!other.dataset.g && same(row, other, 't')))
        .forEach(other => other.classList.add('linked'));
  });
});
</script>
)";

std::string number(size_t value) { return std::to_string(value); }

/// Three cells: share of the instructions, sectors, wavefronts.
std::string counterCells(const sim::Counters &c, const sim::Counters &all) {
  if (c.instructions == 0)
    return "<td class=n></td><td class=n></td><td class=n></td>";
  double share =
      static_cast<double>(c.threadInstructions) / static_cast<double>(std::max<uint64_t>(1, all.threadInstructions));
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.1f%%", 100 * share);
  return heatCell(share, percent) + idealCell(c.sectors, c.sectorsIdeal) +
         idealCell(c.sharedWavefronts, c.sharedWavefrontsIdeal);
}

std::string formHead(const std::string &name, bool hasCounters) {
  return "<div class=form><h3>" + name + "</h3><table><tr>" +
         (hasCounters ? "<th>executed<th>sectors<th>wavefronts" : "") + "<th><th class=ir></tr>\n";
}

/// The lines of a text with their counters. `links` gives each line's data attributes.
template <typename Links>
std::string linesForm(const Explanation &e, const std::string &name, const std::string &text, const LineCounters &lines,
                      Links links) {
  bool hasCounters = !lines.empty();
  std::string html = formHead(name, hasCounters);
  size_t i = 0;
  for (const std::string &line : linesOf(text)) {
    html += "<tr" + links(i) + ">";
    if (hasCounters)
      html += counterCells(lines[i], e.outcome()->counters);
    ++i;
    html += "<td class=no>" + number(i) + "</td><td class=ir>" + escapeHtml(line) + "</td></tr>\n";
  }
  return html + "</table></div>\n";
}

/// " data-t=4 data-g=12" for a line of tilegpu.
std::string linksOf(const Explanation &e, size_t tilegpuLine) {
  if (tilegpuLine == 0 || tilegpuLine > e.texts.tileLines.size())
    return "";
  int64_t tileLine = e.texts.tileLines[tilegpuLine - 1];
  return (tileLine > 0 ? " data-t=" + std::to_string(tileLine) : "") + " data-g=" + number(tilegpuLine);
}

/// Instructions as the simulator ran them.
std::string sitesForm(const Explanation &e) {
  const sim::Outcome &outcome = *e.outcome();
  std::string html = formHead("LLVM IR, executed", true);
  std::string block;
  for (const sim::SiteInfo &site : outcome.sites) {
    if (std::string label = site.kernel + " " + site.block; label != block) {
      block = std::move(label);
      html += "<tr class=block><td colspan=4></td><td class=ir>" + escapeHtml(block) + ":</td></tr>\n";
    }
    html += "<tr" + linksOf(e, tilegpuLineOf(site)) + ">" + counterCells(site.counters, outcome.counters) +
            "<td></td><td class=ir>  " + escapeHtml(site.text) + "</td></tr>\n";
  }
  return html + "</table></div>\n";
}

std::string formsHtml(const Explanation &e) {
  std::string html = "<div class=forms>\n";
  html += linesForm(e, "tile IR", e.texts.tile, e.tile, [](size_t i) { return " data-t=" + number(i + 1); });
  if (!e.texts.tilegpu.empty())
    html += linesForm(e, "tilegpu IR: with layouts", e.texts.tilegpu, e.tilegpu,
                      [&](size_t i) { return linksOf(e, i + 1); });
  html += e.outcome() ? sitesForm(e)
                      : linesForm(e, "LLVM IR", e.texts.llvm, LineCounters(), [](size_t) { return std::string(); });
  return html + "</div>\n";
}

std::string cardsHtml(const Explanation &e) {
  std::string html = "<div class=cards>";
  for (const ExplainedKernel &kernel : e.kernels) {
    html += pageCard(number(static_cast<size_t>(kernel.threads)), "threads of a block");
    html += pageCard(std::to_string(kernel.occupancy.percent) + " %",
                     "occupancy, bounded by " + std::string(kernel.occupancy.limit));
    html += pageCard(bytesText(kernel.sharedBytes), "on-chip memory");
  }
  for (const auto &[key, name] : {std::pair("registers", "registers"), std::pair("spill_bytes", "bytes spilled"),
                                  std::pair("stack_bytes", "bytes of stack"), std::pair("code_bytes", "bytes of code")})
    if (auto value = e.resource(key))
      html += pageCard(groupedText(static_cast<uint64_t>(*value)), name);
  if (const sim::Outcome *outcome = e.outcome()) {
    const sim::Counters &c = outcome->counters;
    std::string blocks = groupedText(static_cast<uint64_t>(e.execution->lastLaunch().tasks));
    html += e.simulatedShare() < 1
                ? pageCard(groupedText(static_cast<uint64_t>(e.simulatedBlocks)) + " / " + blocks, "blocks simulated")
                : pageCard(blocks, "blocks");
    html += pageCard(groupedText(c.threadInstructions), "instructions of threads");
    html += pageCard(idealText(c.sectors, c.sectorsIdeal), "sectors / ideal");
    html += pageCard(idealText(c.sharedWavefronts, c.sharedWavefrontsIdeal), "wavefronts / ideal");
  }
  return html + "</div>\n";
}

std::string rooflineHtml(const Roofline &roofline) {
  std::string html = "<h2>Roofline</h2>\n<p class=sub>Bound by " + std::string(roofline.bound) + ": at least " +
                     durationText(roofline.leastMs) + " on " + escapeHtml(roofline.machine) + " (" +
                     escapeHtml(roofline.arithmetic) + ").";
  std::string picture = rooflinePicture(roofline);
  if (roofline.movedBytes > 0 && !picture.empty())
    html += " Green: each operand moved once; grey: every sector that was touched, as if there were no cache.";
  return html + "</p>\n" + picture;
}

std::string layoutsHtml(const Explanation &e) {
  if (e.texts.layouts.empty())
    return "";
  std::string html = "<h2>Layouts</h2>\n<p class=sub>Which warp (w), lane (l) and register (r) holds an element; for "
                     "on-chip memory which offset (o).</p>\n<div class=layouts>\n";
  for (const abi::StageTexts::Layout &layout : e.texts.layouts)
    html += "<details><summary>" + escapeHtml(layout.title) + "</summary>" + layout.svg + "</details>\n";
  return html + "</div>\n";
}

} // namespace

std::string explanationPage(const Explanation &e) {
  std::string title = escapeHtml(e.name) + " for " + escapeHtml(e.target.name);
  std::string html = pageHead(title, style) + "<h1>" + title + "</h1><p class=sub>" + escapeHtml(e.title) + ", " +
                     escapeHtml(e.execution ? e.execution->lastLaunch().path : e.notRun) + "</p>\n" + cardsHtml(e);
  if (e.outcome() && !e.outcome()->reports.empty())
    html += "<h2>Reports</h2>\n<pre class=report>" + escapeHtml(simulatedReportsText(*e.outcome())) + "</pre>\n";
  if (e.roofline)
    html += rooflineHtml(*e.roofline);
  return html + "<h2>Forms of the kernel</h2>\n" + formsHtml(e) + layoutsHtml(e) + script + "</html>\n";
}

} // namespace tilejit::tilec
