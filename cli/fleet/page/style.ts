/** The style of the page: colors of the reader's system, no images and no fonts of others. */
export const STYLE = `
:root { color-scheme: light dark; --back: #fff; --fore: #1b1f24; --soft: #59636e; --line: #d1d9e0; --card: #f6f8fa;
  --link: #0550ae; --bad: #b3181f; --bad-back: #ffebe9; --good: #116329; --good-back: #dafbe1; --bar: #0969da; --wait: #8250df; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --fore: #e6edf3; --soft: #9da7b1; --line: #3d444d; --card: #161b22;
  --link: #79b8ff; --bad: #ff9d96; --bad-back: #3c1618; --good: #7ee2a0; --good-back: #12311d; --bar: #58a6ff; --wait: #bc8cff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--fore); font: 1rem/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line); }
h4 { margin: .5rem 0; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
p, ul, ol { margin: .25rem 0 .75rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .25rem .5rem; }
.soft { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); font-weight: 600; }
code, pre { font: .85rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; white-space: pre-wrap; margin: .25rem 0 .75rem; }
ins, del { text-decoration: none; display: block; } ins { background: var(--good-back); color: var(--good); } del { background: var(--bad-back); color: var(--bad); }
pre .line { display: block; min-height: 1.5em; }
.search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }
input { font: inherit; padding: .35rem .6rem; border: 1px solid var(--soft); border-radius: 6px; background: var(--back); color: var(--fore); min-width: min(22rem, 100%); }
.dangers { background: var(--bad-back); border-left: 4px solid var(--bad); border-radius: 6px; padding: .5rem 1rem .5rem 2rem; }
.waves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 1rem; list-style: none; padding: 0; }
.waves > li { font-size: .95rem; border: 1px solid var(--line); border-radius: 8px; padding: .25rem .75rem .75rem; min-width: 0; }
.cards, .machines { list-style: none; padding: 0; margin: 0; display: grid; gap: .5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 6px; padding: .4rem .6rem; overflow-wrap: anywhere; }
.card.dangerous { border-left-color: var(--bad); } .card.changes { border-left-color: var(--bar); }
ul + p { margin-top: .75rem; } .card a { font-weight: 600; } .card p { margin: 0; font-size: .9rem; }
.zones { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(12rem, 100%), 1fr)); gap: .75rem; }
.zone { border: 1px dashed var(--soft); border-radius: 8px; padding: 0 .6rem .6rem; min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
td.bars { width: 55%; min-width: 12rem; } svg { display: block; width: 100%; height: 1.1rem; } rect { fill: var(--bar); } .gate rect { fill: var(--wait); }
section.stack > details > summary { cursor: pointer; font-size: 1.05rem; font-weight: 600; padding: .5rem 0; overflow-wrap: anywhere; }
section.stack { border-bottom: 1px solid var(--line); }
[hidden] { display: none !important; }
footer { margin: 3rem auto 2rem; color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { th, td { padding: .25rem; } td.bars { min-width: 7rem; width: 40%; } }
@media print { .search, .skip { display: none; } body { background: #fff; color: #000; } .waves > li, .card, section.stack, pre { break-inside: avoid; } a { color: inherit; } }
`;
