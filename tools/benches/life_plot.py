"""The picture of tools/bench life: measured and simulated, side by side, as an SVG file."""

PANELS = (("ttft_ms", "TTFT, mean (ms)"), ("tpot_ms", "TPOT, mean (ms)"),
          ("tokens_per_s", "tokens/s of all users"))
COLOURS = ("#4878a8", "#e08a3c")  # measured, simulated
PANEL, HEIGHT, TOP, BOTTOM, LEFT = 230, 240, 50, 40, 20
BAR = 22


def text(x, y, words, size=12, anchor="middle"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-family="sans-serif" fill="#333">{words}</text>')


def panel(number, key, title, rows):
    left, bottom = LEFT + number * PANEL, HEIGHT - BOTTOM
    most = max(max(life[key], simulated[key]) for _, life, simulated in rows)
    parts = [text(left + PANEL / 2 - 10, TOP - 12, title, 13)]
    for i, (users, *values) in enumerate(rows):
        x = left + 10 + i * (PANEL - 30) / len(rows)
        for k, value in enumerate(values):
            height = (bottom - TOP - 14) * value[key] / most
            parts.append(f'<rect x="{x + k * (BAR + 2):.0f}" y="{bottom - height:.1f}" '
                         f'width="{BAR}" height="{height:.1f}" fill="{COLOURS[k]}"/>')
            parts.append(text(x + k * (BAR + 2) + BAR / 2, bottom - height - 3,
                              f"{value[key]:.0f}", 9))
        parts.append(text(x + BAR + 1, bottom + 14, f"{users} user" + ("s" if users > 1 else ""),
                          11))
    return parts


def plot(rows):
    """`rows`: (users, measured, simulated)."""
    width = LEFT * 2 + PANEL * len(PANELS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
             f'viewBox="0 0 {width} {HEIGHT}">', f'<rect width="{width}" height="{HEIGHT}" '
             'fill="white"/>']
    for number, (key, title) in enumerate(PANELS):
        parts += panel(number, key, title, rows)
    for k, name in enumerate(("measured", "simulated")):
        x = width / 2 - 90 + k * 100
        parts.append(f'<rect x="{x:.0f}" y="{HEIGHT - 15}" width="11" height="11" '
                     f'fill="{COLOURS[k]}"/>')
        parts.append(text(x + 16, HEIGHT - 6, name, 11, "start"))
    return "\n".join(parts + ["</svg>"]) + "\n"
