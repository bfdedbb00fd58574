// Who has no mouse scrolls wide code, tables and charts with the keys: what scrolls can be focused. The bars of
// buttons beside blocks of code have names of their own.
function reach() {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .md-typeset p:has(> img)"))
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((each, n) => each.setAttribute("aria-label", "Code block " + (n + 1)));
}
addEventListener("load", reach);
addEventListener("resize", reach);
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
