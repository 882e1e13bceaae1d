// What the page does in the browser beside htmx: the theme, a key for the search, and saying changes aloud.
"use strict";
(() => {
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.dataset.themeNow = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(button.dataset.themeNow) + 1) % themes.length];
    document.cookie = `trundle-theme=${next}; path=/ui; max-age=31536000; samesite=strict`;
    show(next);
  });
  document.addEventListener("keydown", (event) => {
    const search = document.querySelector("input[type=search]");
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || !search || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
  document.addEventListener("htmx:afterSettle", () => {
    const news = document.querySelector("[data-say]");
    if (news) say(news.textContent);
  });
  // Where a server is away, something else may answer in its place, such as a proxy: that is no page, and what is shown stays.
  const isPage = (xhr) => xhr.status === 204 || xhr.responseText.includes('<main id="content"');
  const say = (text) => { document.getElementById("said").textContent = text; };
  // An answer that is an error is shown as the page that it is; above the editor where the answer has none, so that what was typed stays.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isPage(event.detail.xhr)) {
      event.detail.shouldSwap = event.detail.isError = false;
      return;
    }
    document.getElementById("refused")?.remove();
    if (event.detail.xhr.status === 401) document.querySelector("form[action='/ui/sign-out']")?.remove();
    if (event.detail.xhr.status >= 400) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
      const keeps = event.detail.target.id === "editor" && event.detail.xhr.responseText.includes('<div id="refused"');
      event.detail.target = document.getElementById("content");
      if (keeps) {
        event.detail.selectOverride = "#refused";
        event.detail.swapOverride = "afterbegin show:window:top";
        return;
      }
      event.detail.selectOverride = "#content > *";
      const [, ...shown] = (event.detail.requestConfig.elt.getAttribute("hx-swap") ?? "").split(" ");
      event.detail.swapOverride = ["innerHTML", ...shown].join(" ");
    }
  });
  // A list that follows changes: the server says that there are some, and the list is asked for again.
  let live = { where: "", source: null };
  const follow = () => {
    const list = document.querySelector("[data-live]");
    const where = list ? list.dataset.live : "";
    if (where === live.where) return;
    if (live.source) live.source.close();
    live = { where, source: null };
    if (!list || !window.EventSource) return;
    const source = new EventSource(`${where}&from=${encodeURIComponent(list.dataset.from)}`);
    const shown = (on) => {
      const badge = document.getElementById("live");
      if (badge) badge.hidden = !on;
    };
    const refresh = () => htmx.ajax("GET", location.href, { target: "#rows", select: "#rows", swap: "outerHTML" }).then(() => {
      if (document.body.classList.contains("offline")) throw new Error("no answer");
      shown(true);
    });
    source.addEventListener("open", () => shown(true));
    source.addEventListener("error", () => shown(false));
    // The list is asked for until the server answers; what it then says is followed from there.
    const again = () => refresh().catch(() => setTimeout(again, 2000));
    source.addEventListener("changed", again);
    source.addEventListener("expired", () => {
      source.close();
      live.where = "";
      shown(false);
      again();
    });
    source.addEventListener("refused", () => { source.close(); shown(false); });
    live.source = source;
  };
  follow();
  document.addEventListener("htmx:afterSettle", follow);
  const reached = (is) => {
    document.body.classList.toggle("offline", !is);
    if (!is) say("The server does not answer.");
  };
  document.addEventListener("htmx:sendError", () => reached(false));
  document.addEventListener("htmx:afterOnLoad", (event) => reached(isPage(event.detail.xhr)));
})();
