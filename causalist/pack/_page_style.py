"""The style sheet of `html` packs: light and dark by the reader's setting, from a phone's width up."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2128; --soft: #5b6572; --line: #dde1e6; --code: #f6f7f9;
  --mark: #0b57c5; --badge: #e4eefc; --warn: #9a4a00; --arc: #6c7683; --faint: #b9c0c9; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e2e6eb; --soft: #98a3b0; --line: #2c323b;
  --code: #1b2027; --mark: #7db2ff; --badge: #1f3556; --warn: #f0a860; --arc: #8a95a3; --faint: #4b5562; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.25rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: .2em; }
a:hover, a:focus-visible { color: var(--mark); text-decoration-color: currentColor; }
h1 { margin: 0; font-size: 1.45rem; line-height: 1.25; font-weight: 650; }
h2 { margin: 0; font-size: 1.05rem; font-weight: 600; font-family: ui-monospace, monospace; }
h3 { margin: 0 0 .5rem; font-size: .95rem; font-weight: 600; }
p, ul { margin: .3rem 0 0; }
header { padding-bottom: 1rem; border-bottom: 1px solid var(--line); margin-bottom: 1.25rem; }
.facts, .place, .kind, .why, .note { color: var(--soft); font-size: .875rem; }
.stale { color: var(--warn); font-weight: 600; }
nav { margin-bottom: 1.5rem; max-width: 23rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 13px ui-monospace, monospace; fill: var(--ink); dominant-baseline: central; }
svg a:hover text, svg a:focus-visible text { fill: var(--mark); text-decoration: underline; }
svg .via text { fill: var(--soft); }
svg circle { fill: var(--ink); }
svg .via circle { fill: var(--paper); stroke: var(--arc); stroke-width: 1.5; }
svg path { fill: none; stroke: var(--arc); stroke-width: 1.4; }
svg .calls { stroke: var(--mark); }
svg .contains { stroke: var(--faint); }
svg .removed { stroke: var(--warn); stroke-dasharray: 4 3; }
svg marker path { fill: context-stroke; stroke: none; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .85rem; margin-bottom: .8rem;
  scroll-margin-top: .8rem; }
article.via { padding: .4rem .85rem; border-style: dashed; }
article:target { border-color: var(--mark); }
.rank { display: inline-block; min-width: 1.7em; margin-right: .5em; padding: 0 .4em; border-radius: .3rem;
  background: var(--badge); color: var(--mark); text-align: center; font: 600 .875rem/1.6 system-ui, sans-serif; }
.kind { font: .875rem system-ui, sans-serif; font-weight: 400; margin-left: .4em; }
.place, .way { font-family: ui-monospace, monospace; font-size: .8125rem; }
.sig { font-size: .8125rem; }
.why { padding: 0; list-style: none; }
.why li { display: inline; }
.why li + li::before { content: " · "; }
.way { color: var(--soft); }
code, .source { font-family: ui-monospace, monospace; }
@counter-style line { system: extends decimal; suffix: "  "; }
.source { margin: .6rem -.85rem -.7rem; padding: .5rem .85rem .5rem 3.6rem; overflow-x: auto; list-style: line;
  background: var(--code); border-top: 1px solid var(--line); border-radius: 0 0 .5rem .5rem;
  font-size: .8125rem; line-height: 1.55; tab-size: 4; }
.source li { white-space: pre; overflow-wrap: normal; }
.source li::marker { color: var(--soft); font-variant-numeric: tabular-nums; }
.source .gap { color: var(--soft); list-style: none; }
.edges { padding: 0; list-style: none; font-size: .875rem; }
.edges li { padding: .1rem 0; }
.edges span { color: var(--soft); }
section, footer { margin-top: 1.5rem; }
footer { color: var(--soft); font-size: .875rem; }
@media (min-width: 62rem) {
  body { padding: 2rem 2rem 5rem; }
  main { display: grid; grid-template-columns: 22rem minmax(0, 1fr); column-gap: 2.5rem; align-items: start; }
  nav { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; margin: 0; padding: .2rem; }
}
@media print { nav { position: static; } article { break-inside: avoid; } }
"""
