// SPDX-License-Identifier: BSD-3-Clause
// Order of what the search finds. Sphinx's own wants every word on a page and gives all pages that have them one score;
// this one adds up words: a rare word counts more than one that many pages have (inverse document frequency), in the
// title of a page up to six times (as the title has few other words) and in that of a section three times as much as in
// its text; pages of tasks come before pages of how things are made. The index is Sphinx's.
"use strict";

(() => {
  const IN_TEXT = 1, IN_SECTION = 3, IN_TITLE = 6;
  // Of the first folder of a page's name; 1 of others.
  const WEIGHTS = {
    guide: 1.3, commands: 1.1, api: 0.8, design: 0.6, results: 0.4, changelog: 0.5, architectures: 0.5,
    codegen: 0.8, exir: 0.8, export: 0.8, extension: 0.8, kernels: 0.8, runtime: 0.8, schema: 0.8, scripts: 0.8, tools: 0.6,
  };
  // As much as a title that is the question itself.
  const BEST = 15;

  const list = (files) => files === undefined ? [] : Array.isArray(files) ? files : [files];

  /** Files by word as the index has it; a word that it lacks stands for all that begin with it. */
  function lookUp(index, word) {
    if (Object.hasOwn(index, word)) return list(index[word]);
    if (word.length < 4) return [];
    return Object.keys(index).filter((each) => each.startsWith(word)).flatMap((each) => list(index[each]));
  }

  function performTermsSearch(searchTerms, excludedTerms) {
    const {terms, titleterms, titles, docnames, filenames} = Search._index;
    const stemmer = new Stemmer();
    const inTitle = titles.map((title) =>
      new Set(splitQuery(title.toLowerCase()).map((word) => stemmer.stemWord(word))));
    const covered = (title) => [...title].filter((word) => searchTerms.has(word)).length / title.size;
    const scores = new Map();
    let most = 0;
    for (const word of searchTerms) {
      const inSections = new Set(lookUp(titleterms, word));
      const found = new Set([...lookUp(terms, word), ...inSections]);
      const rareness = Math.log(1 + docnames.length / (1 + found.size));
      most += IN_TITLE * rareness;
      for (const file of found) {
        const section = inSections.has(file) ? IN_SECTION : IN_TEXT;
        const title = inTitle[file].has(word) ? IN_SECTION + (IN_TITLE - IN_SECTION) * covered(inTitle[file]) : 0;
        const place = Math.max(section, title);
        scores.set(file, (scores.get(file) ?? 0) + place * rareness);
      }
    }
    for (const word of excludedTerms) for (const file of lookUp(terms, word)) scores.delete(file);
    return [...scores].map(([file, score]) => {
      const weight = WEIGHTS[docnames[file].split("/")[0]] ?? 1;
      return [docnames[file], titles[file], "", null, BEST * weight * score / most, filenames[file], SearchResultKind.text];
    });
  }

  const install = () => {
    if (typeof Search === "undefined") return;
    Search.performTermsSearch = performTermsSearch;
    // Without a server no script may read the pages, of which the lines below a result are.
    if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  };
  if (typeof Search !== "undefined") install();
  else document.addEventListener("DOMContentLoaded", install);
})();
