// The chooser of versions, which stays hidden where a page was opened without a server; and code, which scrolls by keyboard.
// What a terminal shows wraps as it does there, but for tables and drawings.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const each of document.querySelectorAll("pre, .table-wrapper")) each.tabIndex = 0;
  for (const each of document.querySelectorAll(".highlight-console pre, .highlight-text pre, .highlight-sh pre"))
    each.classList.toggle("wraps", !/^[|│╭]|──/m.test(each.textContent));
});
document.addEventListener("DOMContentLoaded", async () => {
  const chooser = document.getElementById("versions");
  if (!chooser) return;
  const root = document.documentElement.dataset.content_root || "./";
  const answer = await fetch(`${root}../versions.json`).catch(() => null);
  if (!answer || !answer.ok) return;
  for (const each of await answer.json()) chooser.add(new Option(each, each, false, each === chooser.dataset.version));
  chooser.parentElement.hidden = false;
  chooser.addEventListener("change", async () => {
    const other = `${root}../${chooser.value}/`;
    const same = await fetch(other + chooser.dataset.page, { method: "HEAD" }).catch(() => null);
    location.href = same && same.ok ? other + chooser.dataset.page : `${other}index.html`;
  });
});
