// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The style sheet and the smallest parts.

#include "Page.h"

#include "Program.h"
#include "SimulatedOutcome.h"

#include <algorithm>
#include <cstdio>

namespace tilejit::tilec {

static constexpr const char *style = R"(
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fbfbf9; --faint: #6b7280; --line: #e2e4e8; --heat: #e8590c;
  --bad: #c92a2a; --badPaper: #fff0f0; --good: #2b8a3e; --code: #f3f4f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #14171c; --faint: #8d96a3; --line: #2c323b;
  --heat: #ff8c42; --bad: #ff8787; --badPaper: #33191b; --good: #69db7c; --code: #1d2229; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 110rem; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p.sub { color: var(--faint); margin: .2rem 0 1.2rem; }
.cards { display: flex; flex-wrap: wrap; gap: .6rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
.card b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--faint); font-size: .82rem; }
.report { background: var(--badPaper); border-left: 4px solid var(--bad); border-radius: .3rem; margin: .5rem 0;
  padding: .5rem .9rem; }
.report b { color: var(--bad); } .report .hint { color: var(--faint); } .clean { color: var(--good); }
a { color: inherit; }
table { border-collapse: collapse; font: 12.5px/1.5 ui-monospace, monospace; width: 100%; }
th { background: var(--paper); border-bottom: 1px solid var(--line); color: var(--faint); font-weight: 600;
  position: sticky; text-align: right; top: 0; }
th, td { padding: 0 .6rem; white-space: nowrap; } th.ir, td.ir { text-align: left; white-space: pre; width: 100%; }
td.n { background: color-mix(in srgb, var(--heat) calc(var(--h, 0) * 75%), transparent);
  font-variant-numeric: tabular-nums; text-align: right; }
tr.block td { background: var(--code); color: var(--faint); padding-top: .3rem; }
tr.at td.ir { border-left: 4px solid var(--bad); } tr:target td { outline: 1px solid var(--bad); }
tr.says td { background: var(--badPaper); color: var(--bad); white-space: normal; }
.where { color: var(--faint); } summary { color: var(--faint); cursor: pointer; margin: .5rem 0; }
)";

std::string pageHead(const std::string &title, std::string_view more) {
  return "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + title +
         "</title>\n<meta name=viewport content=\"width=device-width\"><style>" + style + std::string(more) +
         "</style>\n";
}

std::string escapeHtml(std::string_view text) {
  std::string out;
  for (char c : printable(text)) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string heatCell(double heat, const std::string &text) {
  char start[48];
  if (heat <= 0)
    return "<td class=n>" + text + "</td>";
  std::snprintf(start, sizeof start, "<td class=n style=\"--h:%.2f\">", std::min(heat, 1.0));
  return start + text + "</td>";
}

std::string idealCell(uint64_t actual, uint64_t ideal) {
  if (!actual && !ideal)
    return "<td class=n></td>";
  constexpr double worst = 4;
  double times = ideal ? static_cast<double>(actual) / static_cast<double>(ideal) : worst;
  std::string text = groupedText(actual);
  if (actual != ideal)
    text += " / " + groupedText(ideal);
  return heatCell((times - 1) / (worst - 1), text);
}

std::string idealText(uint64_t actual, uint64_t ideal) { return groupedText(actual) + " / " + groupedText(ideal); }

std::string pageCard(const std::string &value, const std::string &name) {
  return "<div class=card><b>" + value + "</b><span>" + name + "</span></div>";
}

} // namespace tilejit::tilec
