// How the search ranks what it finds: guides, which lie at the top, before decisions and the Python API,
// unless a name with a dot is looked for; and first what has the words in its title.
// `var`, since Sphinx says `var Scorer` as well, in a block that does not run then.
var Scorer = {
  score: ([page, title, , , score]) => {
    const asked = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase();
    const named = asked.split(/\s+/).filter((word) => word && title.toLowerCase().includes(word));
    const isGuide = !page.includes("/");
    return score + 10 * named.length + (isGuide || asked.includes(".") ? 30 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
