"use strict";
// Search, and what pages of earlier versions say of later ones. Text goes into pages as text, never as markup.
(() => {
  const { root = "", package: folder = "", version = "" } = document.body.dataset;
  const most = 40;

  const made = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);

  const rank = (entry, words) => {
    const name = entry[0].toLowerCase();
    const last = name.slice(name.lastIndexOf(".") + 1);
    const all = `${name} ${entry[1]} ${entry[2]}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return 0;
    const first = words[0];
    const fit = last === first || name === first ? 8 : last.startsWith(first) ? 6 : name.includes(first) ? 4 : 1;
    return fit + (entry[1] === "property" || entry[1] === "method" ? 0 : 0.5);
  };

  const search = (entries, text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return entries
      .map((entry, at) => [rank(entry, words), at, entry])
      .filter(([points]) => points > 0)
      .sort((one, other) => other[0] - one[0] || one[1] - other[1])
      .map(([, , entry]) => entry);
  };

  const offerSearch = (entries) => {
    const box = document.querySelector(".search");
    const input = document.getElementById("search");
    const list = document.getElementById("found");
    box.hidden = false;

    const show = () => {
      const found = search(entries, input.value);
      list.replaceChildren(...found.slice(0, most).map(([name, kind, context, target]) => {
        const item = made("li", "");
        const link = made("a", "", { href: root + target });
        const dot = kind === "class" ? name.lastIndexOf(".") : -1;
        const where = dot > 0 ? name.slice(0, dot) : context.slice(context.lastIndexOf(".") + 1);
        link.append(made("span", name.slice(dot + 1)), made("small", where ? `${kind} · ${where}` : kind));
        link.title = context || name;
        item.append(link);
        return item;
      }));
      if (input.value.trim() && found.length !== Math.min(found.length, most)) {
        const item = made("li", "");
        item.append(made("p", `and ${found.length - most} more`));
        list.append(item);
      } else if (input.value.trim() && !found.length) {
        const item = made("li", "");
        item.append(made("p", "Nothing found"));
        list.append(item);
      }
      list.hidden = !input.value.trim();
    };

    const move = (step) => {
      const links = [input, ...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      links[(at + step + links.length) % links.length].focus();
    };

    input.addEventListener("input", show);
    input.addEventListener("focus", show);
    box.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        move(event.key === "ArrowDown" ? 1 : -1);
      } else if (event.key === "Enter" && document.activeElement === input) {
        list.querySelector("a")?.click();
      } else if (event.key === "Escape") {
        input.value = "";
        list.hidden = true;
        input.blur();
      }
    });
    list.addEventListener("click", () => { list.hidden = true; });
    document.addEventListener("click", (event) => { if (!box.contains(event.target)) list.hidden = true; });
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.focus();
      }
    });
  };

  const linked = (each) => made("a", each, { href: `${folder}${encodeURIComponent(each)}/index.html` });

  const showVersions = (versions) => {
    const list = document.getElementById("versions");
    const newest = versions.find((each) => !each.split("+")[0].includes("-")) ?? versions[0];
    if (list) {
      list.prepend(...versions.slice(0, 12).map((each) => {
        const item = made("li", "");
        const link = linked(each);
        if (each === version) link.setAttribute("aria-current", "true");
        item.append(link);
        return item;
      }));
    }
    const note = document.getElementById("newer");
    if (note && versions.indexOf(newest) < versions.indexOf(version)) {
      note.append("There is a newer version: ", linked(newest));
      note.hidden = false;
    }
  };

  const side = document.querySelector("details.side");
  if (side && window.matchMedia("(max-width: 56rem)").matches) side.open = false;
  if (window.trundleVersions) showVersions(window.trundleVersions);
  if (window.trundleSearch) offerSearch(window.trundleSearch);
})();
