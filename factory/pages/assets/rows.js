// What the catalogue and the comparison share: the rows of data.js, how they are written, and packages.js, which is
// fetched when a page first needs it. Text goes into a page as text, never as markup.
"use strict";
window.kilnRows = (() => {
  const data = window.kilnCatalogue;
  const words = data.words;
  // A row of data.js, by position (factory/pages/catalogue_data.cc).
  const at = {NAME: 0, PATH: 1, APPLICATION: 2, VERSION: 3, METHOD: 4, COMPILERS: 5, CPU: 6, ACCELERATORS: 7, SIZE: 8, CREATED: 9,
    STATE: 10, SPEEDS: 11, PYTHON: 12, CUDA: 13, DRIVER: 14};
  const speed = {WORKLOAD: 0, UNIT: 1, HOST: 2, MEDIAN: 3, LOW: 4, HIGH: 5, DOUBT: 6};
  const STATES = ["stale", "failing", "retired", "untested", "mapping", "optimised", "proven", "no gain", "slower"];  // bits, the lowest first
  const numbers = new Intl.NumberFormat("en");

  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const has = (row, state) => (row[at.STATE] >> STATES.indexOf(state)) & 1;
  // What an image is called by its gain over stock, as build_words() has it (registry/select/gain.h).
  const buildOf = (row) => (has(row, "mapping") ? "mapping" : has(row, "proven") ? "optimised build, proven"
    : has(row, "no gain") ? "no gain over stock" : has(row, "slower") ? "slower than stock"
    : has(row, "optimised") ? "optimised build, gain not measured" : "stock build");
  const pathOf = (row) => row[at.PATH] || `images/${row[at.NAME].replace(":", "/")}.html`;
  const sizeText = (bytes) => (!bytes ? "" : bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB`
    : bytes < 1e9 ? `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`);
  const speedText = (median) => (median >= 1000 ? numbers.format(Math.round(median)) : String(Number(median.toPrecision(4))));

  // The mark of a figure that is to be taken with care, or nothing.
  function doubtOf(one) {
    const why = words[one[speed.DOUBT]];
    if (!why) return [];
    const mark = element("span", "doubtful", "badge care");
    mark.title = why;
    mark.append(element("span", `: ${why}`, "unseen"));
    return [" ", mark];
  }

  let fetched;
  function packages() {
    fetched = fetched || new Promise((resolve, reject) => {
      const script = element("script");
      script.src = "packages.js";
      script.onload = () => resolve(window.kilnPackages);
      script.onerror = () => reject(new Error("packages.js could not be read."));
      document.head.append(script);
    });
    return fetched;
  }

  return {data, words, rows: data.rows, at, speed, STATES, numbers, element, has, buildOf, pathOf, sizeText, speedText, doubtOf, packages};
})();
