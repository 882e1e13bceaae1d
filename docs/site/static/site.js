// The chooser of versions, which stays hidden where a page was opened without a server; and code that scrolls by keyboard.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const each of document.querySelectorAll("pre, .table-wrapper")) each.tabIndex = 0;
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
