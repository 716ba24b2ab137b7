"""How a dossier looks, on a screen of 1,000 pixels and on A4 paper. Nothing is fetched: fonts are the system's."""

from __future__ import annotations

STYLE = """
:root { --ink: #1b2430; --faint: #556070; --line: #d3d9e2; --ground: #f4f6f9; --accent: #1f4e79; --warn: #8a3b00; }
* { box-sizing: border-box; }
body { font: 14px/1.55 "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", sans-serif; color: var(--ink);
  background: #fff; max-width: 920px; margin: 0 auto; padding: 40px 24px 64px; }
header { border-top: 6px solid var(--accent); border-bottom: 1px solid var(--line); padding: 22px 0 18px; }
.kind { text-transform: uppercase; letter-spacing: .14em; font-size: 12px; font-weight: 600; color: var(--accent);
  margin: 0; }
h1 { font-size: 28px; line-height: 1.25; margin: 6px 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 10px; padding-bottom: 5px; border-bottom: 2px solid var(--accent);
  break-after: avoid; }
h3 { font-size: 15px; margin: 22px 0 6px; break-after: avoid; }
p { margin: 8px 0; } h2 + p { break-after: avoid; } .faint { color: var(--faint); font-size: 13px; }
.under { margin: 0; color: var(--faint); }
.status { border: 1px solid var(--line); border-left: 6px solid var(--accent); background: var(--ground);
  padding: 10px 16px; margin: 20px 0; break-inside: avoid; overflow-wrap: anywhere; }
.status.warn { border-left-color: var(--warn); } .status strong { display: block; }
.status ul { margin: 4px 0 0; padding-left: 20px; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 18px 0; }
.tiles div { border: 1px solid var(--line); padding: 10px 14px; break-inside: avoid; }
.tiles b { display: block; font-size: 22px; line-height: 1.3; } .tiles span { color: var(--faint); font-size: 12.5px; }
nav { font-size: 13px; columns: 2; margin: 18px 0 0; } nav a { color: inherit; display: block; padding: 1px 0; }
dl { display: grid; grid-template-columns: 190px 1fr; gap: 4px 16px; margin: 10px 0; }
dl.long { grid-template-columns: 360px 1fr; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 10px 0 16px; font-size: 13px; line-height: 1.45; }
caption { text-align: left; font-weight: 600; padding: 6px 0; }
th, td { border-bottom: 1px solid var(--line); padding: 5px 8px; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
th { background: var(--ground); font-size: 12px; border-bottom: 1px solid #9aa5b4; }
table, tr, dl { break-inside: avoid; }
.wide table { table-layout: fixed; break-inside: auto; }
.figures td:not(:first-child), .figures th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; }
.rules th:nth-child(1) { width: 46%; } .rules th:nth-child(2) { width: 13%; } .rules th:nth-child(4) { width: 9%; }
.rules th:nth-child(5) { width: 9%; }
.verdicts th:nth-child(1) { width: 6%; } .verdicts th:nth-child(2) { width: 20%; }
.verdicts th:nth-child(3) { width: 13%; } .verdicts th:nth-child(4) { width: 14%; }
.verdicts th:nth-child(5) { width: 11%; } .verdicts th:nth-child(7) { width: 10%; }
.verdicts th:nth-child(8) { width: 11%; }
.strata th:nth-child(1) { width: 34%; }
.files th:nth-child(1) { width: 30%; }
.verdicts td:nth-child(2), .verdicts td:nth-child(5) { white-space: nowrap; }
code, .files td:nth-child(2), .verdicts td:nth-child(8) { font-family: ui-monospace, "DejaVu Sans Mono", Consolas,
  monospace; font-size: 11.5px; overflow-wrap: anywhere; }
blockquote { margin: 12px 0; padding: 4px 18px; border-left: 4px solid var(--accent); font-size: 16px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.example { border: 1px solid var(--line); margin: 16px 0; padding: 10px 16px 6px; break-inside: avoid; }
.example h3 { margin: 2px 0; overflow-wrap: anywhere; } .example p { margin: 3px 0; }
.example table { table-layout: fixed; margin: 8px 0; } .example th:first-child { width: 22%; }
.example td:first-child { font-weight: 600; }
.example td small { display: block; color: var(--faint); font-weight: 400; font-size: 12px; }
mark { background: #fbe3c0; color: inherit; text-decoration: underline; text-underline-offset: 2px; }
mark.number { text-decoration-style: double; }
.abbreviation, .typo, .moved { text-decoration: underline; text-underline-offset: 2px; }
.abbreviation { text-decoration-style: dotted; } .typo { text-decoration-style: wavy; }
.none, .cut { color: var(--faint); font-style: italic; }
footer { margin-top: 40px; border-top: 1px solid var(--line); padding-top: 12px; font-size: 13px; }
@page { size: A4; margin: 17mm 15mm 18mm; @bottom-right { content: counter(page) " / " counter(pages);
  font: 9pt sans-serif; color: #556070; } }
@media print {
  body { font-size: 9.5pt; line-height: 1.45; max-width: none; padding: 0; } h1 { font-size: 20pt; }
  h2 { font-size: 13pt; margin-top: 26px; } .new-page { break-before: page; } .new-page h2 { margin-top: 0; }
  h3 { font-size: 10.5pt; } table { font-size: 8pt; } th { font-size: 7.5pt; } th, td { padding: 3px 6px; }
  .example { margin: 10px 0; padding: 6px 12px 4px; } .example table { margin: 4px 0; }
  .example td small { font-size: 7.5pt; } .faint { font-size: 8.5pt; } dl { gap: 2px 16px; }
  code, .files td:nth-child(2), .verdicts td:nth-child(8) { font-size: 7.5pt; }
  thead { display: table-header-group; } a { text-decoration: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
