// How the search ranks what it finds: guides, which lie at the top, before decisions and the Python API.
// `var`, since Sphinx says `var Scorer` as well, in a block that does not run then.
var Scorer = {
  score: ([page, , , , score]) => score + (page.includes("/") ? 0 : 30),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
