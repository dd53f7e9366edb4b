// The page around every report and how it looks, apart from the code that fills it.
#pragma once

#include <string_view>

namespace stoker {

// Named places: title, subtitle, style, contents, body.
inline constexpr std::string_view kPage = R"x(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><div class="page"><h1>{title}</h1><p>{subtitle}</p>
<nav aria-label="Sections"><ul>{contents}</ul></nav></div></header>
<main id="main" class="page">
{body}</main>
</body>
</html>
)x";

inline constexpr std::string_view kPageStyle = R"x(
:root{--ink:#1f2328;--soft:#59636e;--line:#d8dee4;--ground:#f6f7f9;--card:#ffffff;--accent:#c2410c;
--good:#1a7f4b;--bad:#c62828}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#2b333d;--ground:#0a0e13;
--card:#0f141a;--accent:#ff9d4d;--good:#4ed58a;--bad:#ff8a80}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.page{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{border-bottom:1px solid var(--line);background:var(--card);border-top:4px solid var(--accent)}
header .page{padding-top:1.5rem;padding-bottom:1rem}
h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.01em}
header p{margin:.35rem 0 0;color:var(--soft)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;list-style:none;margin:.9rem 0 0;padding:0}
nav:has(ul:empty){display:none}
a{color:var(--accent)}
a:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:1}
section{margin:1.75rem 0 2.5rem}
h2{font-size:1.25rem;margin:0 0 .75rem;scroll-margin-top:1rem}
p{margin:.5rem 0 1rem;max-width:46rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem;margin:1rem 0}
.figure{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem;
border-left:4px solid var(--line)}
.figure dt{color:var(--soft);font-size:.85rem}
.figure dd{margin:.15rem 0 0;font-size:1.5rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.25}
.figure dd.note{font-size:.85rem;font-weight:400;color:var(--soft)}
.good{border-left-color:var(--good)}.good .sign{color:var(--good)}
.bad{border-left-color:var(--bad)}.bad .sign{color:var(--bad)}
.wide{overflow-x:auto;margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;color:var(--soft);padding:.7rem 1rem .3rem;font-size:.9rem}
th,td{text-align:left;padding:.45rem 1rem;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0;font-weight:600;white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tbody tr:hover{background:color-mix(in srgb,var(--accent) 6%,transparent)}
figure{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.5rem;overflow:hidden}
figure svg,figure img{display:block;margin:0 auto;max-width:100%;height:auto}
figure svg.stk{background:transparent!important}
figcaption{color:var(--soft);font-size:.9rem;padding:.35rem .5rem .2rem}
audio{width:100%;display:block}
pre{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem;overflow-x:auto;
font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media print{body{background:#fff}section{break-inside:avoid}nav{display:none}}
)x";

}  // namespace stoker
