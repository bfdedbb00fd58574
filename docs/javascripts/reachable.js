// Who has no mouse scrolls wide code and wide tables with the keys: what scrolls can be focused. Bars of buttons that stand
// beside each block of code are no landmarks of the page.
function reach() {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code"))
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  for (const each of document.querySelectorAll(".md-code__nav")) each.setAttribute("role", "group");
}
addEventListener("load", reach);
addEventListener("resize", reach);
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
