# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""What peers.py writes: a Markdown table and an SVG picture of ratios. A ratio is the best peer's time over tilejit's, so
above 1 tilejit is faster.
"""

OURS, OURS_AGAIN, OURS_PACKED = "tilejit", "tilejit again", "tilejit pre"


def is_packed(label):
    return label.endswith(" pre")


def best(times, wanted):
    """Label and seconds of the fastest peer, or nothing."""
    found = [(seconds, label) for label, seconds in times.items() if not label.startswith(OURS) and wanted(label)]
    return min(found)[::-1] if found else None


def ratios(result):
    """For operands as they lie, then for packed weights: ratio, peer. None where nothing was compared."""
    times = result["times"]
    if OURS not in times:
        return None, None
    plain = best(times, lambda label: not is_packed(label))
    packed = best(times, lambda label: True) if any(map(is_packed, times)) else None
    ours = min(times[OURS], times.get(OURS_PACKED, times[OURS]))
    return (plain and (plain[1] / times[OURS], plain[0])), (packed and (packed[1] / ours, packed[0]))


def microseconds(seconds):
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def limit(result):
    """The share of the bound that the operator meets first: arithmetic or, for what does none, memory."""
    seconds = min(result["times"].get(OURS, 0) or 1e9, result["times"].get(OURS_PACKED, 1e9))
    if result["operations"] and result["peak"]:
        return f"{100 * result['operations'] / seconds / result['peak']:.0f} % of arithmetic"
    return f"{result['bytes'] / seconds / 1e9:.1f} GB/s"


def cell(ratio):
    return f"{ratio[0]:.2f} ({ratio[1]})" if ratio else "–"


def line(result, threads):
    """One case, for people who wait."""
    times = ", ".join(f"{label} {microseconds(seconds)}" for label, seconds in result["times"].items())
    plain, packed = ratios(result)
    notes = "".join(f"\n  {note}" for note in result["notes"])
    return f"{threads}t {result['name']}: plain {cell(plain)}, pre {cell(packed)}; {limit(result)}; µs: {times}{notes}"


def markdown(runs, machine):
    lines = [f"Machine: {machine}. Medians of rounds in which all take turns; µs.", ""]
    for name, about in runs[0]["players"].items():
        lines.append(f"- {name}: {about}")
    for run in runs:
        results = run["results"]
        noise = [abs(r["times"][OURS_AGAIN] / r["times"][OURS] - 1) for r in results if OURS_AGAIN in r["times"]]
        peaks = sorted(r["peak"] / 1e9 for r in results if r["peak"])
        bandwidths = sorted(r["bandwidth"] / 1e9 for r in results if r["bandwidth"])
        lines += ["", f"## {run['threads']} thread{'s' * (run['threads'] > 1)}", ""]
        if noise:
            lines.append(f"Noise (tilejit beside itself): median {100 * sorted(noise)[len(noise) // 2]:.1f} %, largest "
                         f"{100 * max(noise):.1f} %.")
        if peaks and bandwidths:
            lines.append(f"Peaks in the run: {peaks[0]:.0f} to {peaks[-1]:.0f} Gop/s by type, reading "
                         f"{bandwidths[len(bandwidths) // 2]:.1f} GB/s.")
        lines += ["", "| case | tilejit | best peer, plain | ratio | packed | best peer of all | ratio | goal | limit |",
                  "|---|---|---|---|---|---|---|---|---|"]
        for r in results:
            times, goal = r["times"], r["goals"][0 if run["threads"] == 1 else 1]
            row = [r["name"], microseconds(times[OURS]) if OURS in times else "–"]
            plain, packed = ratios(r)
            row += [f"{plain[1]} {microseconds(times[plain[1]])}", f"{plain[0]:.2f}"] if plain else ["–", "–"]
            row.append(microseconds(times[OURS_PACKED]) if OURS_PACKED in times else "–")
            row += [f"{packed[1]} {microseconds(times[packed[1]])}", f"{packed[0]:.2f}"] if packed else ["–", "–"]
            lines.append("| " + " | ".join([*row, f"{goal:.2f}", limit(r)]) + " |")
    return "\n".join(lines) + "\n"


def picture(runs, machine):
    """Bars of the ratios with operands as they lie; a mark where the goal is. One group of bars for each case."""
    names = [r["name"] for r in runs[0]["results"]]
    bar, left, width, scale = 11, 330, 900, 160
    group = bar * len(runs) + 7
    height = 60 + group * len(names)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
             f'font-size="11">', '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="16" font-size="13">Time of the best peer / time of tilejit (above 1: tilejit is faster)'
             f'</text>', f'<text x="10" y="32" fill="#666">{machine}</text>']
    for i, name in enumerate(names):
        top = 46 + i * group
        parts.append(f'<text x="{left - 8}" y="{top + group / 2}" text-anchor="end">{name}</text>')
        for j, run in enumerate(runs):
            result, y = run["results"][i], top + j * bar
            plain, _ = ratios(result)
            if not plain:
                continue
            length = min(plain[0] * scale, width - left - 110)
            colour = ("#2b6cb0", "#90cdf4", "#4a5568", "#a0aec0")[j % 4]
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{colour}"/>')
            parts.append(f'<text x="{left + length + 4:.1f}" y="{y + 9}" font-size="9">{plain[0]:.2f} {plain[1]}, '
                         f'{run["threads"]}t</text>')
            goal = left + result["goals"][0 if run["threads"] == 1 else 1] * scale
            parts.append(f'<rect x="{goal:.1f}" y="{y - 1}" width="2" height="{bar}" fill="#c53030"/>')
    parts.append(f'<rect x="{left + scale}" y="40" width="1" height="{height - 50}" fill="#000"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
