// The catalogue: search, filters, order and pages over the rows of data.js. Nothing is fetched; what is looked at stands
// in the fragment of the address. Text goes into the page as text, never as markup.
"use strict";
(() => {
  const {data, words, rows, at: ROW, speed: SPEED, STATES, numbers, element, has, buildOf, pathOf, sizeText, speedText, doubtOf, packages} =
    window.kilnRows;
  const {NAME, APPLICATION, VERSION, METHOD, COMPILERS, CPU, ACCELERATORS, SIZE, CREATED, SPEEDS, PYTHON, CUDA, DRIVER} = ROW;
  const {WORKLOAD, UNIT, HOST, MEDIAN, LOW, HIGH} = SPEED;
  const PAGE = 50;
  const NONE = "none";

  const at = (id) => document.getElementById(id);

  // What can be filtered by: `of` gives the values of a row.
  const orNone = (list) => (list.length ? list.map((one) => words[one]) : [NONE]);
  const facets = [
    {id: "framework", any: "All frameworks", of: (row) => [words[row[APPLICATION]]]},
    {id: "version", any: "All versions", of: (row) => [data.versions[row[VERSION]]], newestFirst: true},
    {id: "compiler", any: "Any graph compiler", of: (row) => orNone(row[COMPILERS])},
    {id: "target", any: "Any processor", of: (row) => [words[row[CPU]] || NONE]},
    {id: "accelerator", any: "Any accelerator", of: (row) => orNone(row[ACCELERATORS])},
    {id: "python", any: "Any Python", of: (row) => [words[row[PYTHON]] || NONE]},
    {id: "cuda", any: "Any CUDA", of: (row) => [words[row[CUDA]] || NONE]},
    {id: "speed", any: "Measured or not", of: (row) => row[SPEEDS].length
      ? ["measured", ...new Set(row[SPEEDS].map((one) => words[one[WORKLOAD]]))] : ["not measured"]},
    {id: "state", any: "Any state", of: (row) => {
      const bad = ["stale", "failing", "retired"].filter((state) => has(row, state));
      return [...(bad.length ? bad : ["good"]), buildOf(row),
        ...(has(row, "untested") ? ["untested"] : [])];
    }},
  ];

  // Numbers in the place of words, once: what is typed must be answered within a frame.
  for (const facet of facets) {
    const seen = new Map();
    facet.values = rows.map((row) => facet.of(row).map((value) => {
      if (!seen.has(value)) seen.set(value, seen.size);
      return seen.get(value);
    }));
    facet.names = [...seen.keys()];
    facet.numbers = seen;
    facet.counts = new Int32Array(facet.names.length);
    facet.select = at(facet.id);
    facet.chosen = "";
  }
  const haystacks = rows.map((row) => [row[NAME], words[row[METHOD]], data.versions[row[VERSION]], words[row[CPU]],
    ...row[COMPILERS].map((one) => words[one]), ...row[ACCELERATORS].map((one) => words[one])].join(" ").toLowerCase());

  const facetNamed = (id) => facets.find((facet) => facet.id === id);
  const state = {query: "", package: "", sort: "", page: 1};
  let installed = null;  // for each row whether it has the package; null: no package is looked for, or the list is on its way
  let found = [];

  // The speed of a row that is shown, and by which it is ordered: of the workload that was chosen, or its first.
  function speedOf(row) {
    const workload = facetNamed("speed").chosen;
    return row[SPEEDS].find((one) => words[one[WORKLOAD]] === workload) || row[SPEEDS][0];
  }

  // Numbers that stand in the order of the texts: made when a reader first orders by them.
  function ranks(texts, by) {
    const order = [...new Set(texts)].sort(by);
    const rank = new Map(order.map((text, i) => [text, i]));
    return Int32Array.from(texts, (text) => rank.get(text));
  }
  const made = {};
  const once = (name, make) => made[name] || (made[name] = make());

  // For each column a number for each row, by which the rows are ordered, the least first.
  const keys = {
    name: () => once("name", () => ranks(rows.map((row) => row[NAME]))),
    version: () => once("version", () => Int32Array.from(rows, (row) => row[VERSION])),  // data.versions: newest first
    target: () => once("target", () => ranks(rows.map((row) => words[row[CPU]]))),
    python: () => once("python", () => versionRanks(PYTHON)),
    cuda: () => once("cuda", () => versionRanks(CUDA)),
    driver: () => once("driver", () => versionRanks(DRIVER)),
    size: () => once("size", () => Float64Array.from(rows, (row) => row[SIZE])),
    created: () => once("created", () => ranks(rows.map((row) => row[CREATED])).map((rank) => -rank)),
    speed: () => once(`speed ${facetNamed("speed").chosen}`, speedKeys),
  };

  // The newest first; those without one last.
  function versionRanks(column) {
    const collator = new Intl.Collator("en", {numeric: true});
    return ranks(rows.map((row) => words[row[column]]), (a, b) => (a === "") - (b === "") || collator.compare(b, a));
  }

  // Speeds of one workload and unit stand together, the fastest first; what was not measured comes last.
  function speedKeys() {
    const speeds = rows.map(speedOf);
    const place = ranks(speeds.map((speed) => (speed ? `${words[speed[WORKLOAD]]} ${words[speed[UNIT]]}` : "")));
    const value = (speed) => (words[speed[UNIT]].endsWith("/s") ? -speed[MEDIAN] : speed[MEDIAN]);
    const order = speeds.map((speed, number) => number).filter((number) => speeds[number]);
    order.sort((a, b) => place[a] - place[b] || value(speeds[a]) - value(speeds[b]));
    const key = new Int32Array(rows.length).fill(rows.length);
    order.forEach((number, i) => { key[number] = i; });
    return key;
  }

  // Rows that suit, and for each filter how many there would be of each value were that filter not set.
  function find() {
    const parts = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = facets.map((facet) => (facet.chosen === "" ? -1 : facet.numbers.has(facet.chosen) ? facet.numbers.get(facet.chosen) : -2));
    for (const facet of facets) facet.counts.fill(0);
    found = [];
    for (let number = 0; number < rows.length; ++number) {
      if (!parts.every((part) => haystacks[number].includes(part)) || (installed && !installed[number])) continue;
      let missed = 0, which = -1;
      for (let i = 0; i < facets.length && missed < 2; ++i) {
        if (chosen[i] === -1 || facets[i].values[number].includes(chosen[i])) continue;
        ++missed;
        which = i;
      }
      if (missed > 1) continue;
      if (missed === 0) found.push(number);
      for (let i = 0; i < facets.length; ++i) {
        if (missed === 1 && i !== which) continue;
        for (const value of facets[i].values[number]) ++facets[i].counts[value];
      }
    }
    const [, down, column] = state.sort.match(/^(-?)(\w+)$/) || [];
    if (!Object.hasOwn(keys, column || "")) return;
    const key = keys[column](), sign = down ? -1 : 1;
    // Those without a speed stay last, whichever way the others go.
    const last = column === "speed" ? (number) => (rows[number][SPEEDS].length ? 0 : 1) : () => 0;
    found.sort((a, b) => last(a) - last(b) || sign * (key[a] - key[b]) || a - b);
  }

  function makeOptions() {
    const collator = new Intl.Collator("en", {numeric: true});
    for (const facet of facets) {
      facet.options = new Map();
      const names = [...facet.names].sort(facet.newestFirst
        ? (a, b) => data.versions.indexOf(a) - data.versions.indexOf(b) : collator.compare);
      facet.select.replaceChildren(new Option(facet.any, ""));
      for (const name of names) {
        const option = new Option(name, name);
        facet.options.set(name, option);
        facet.select.append(option);
      }
    }
  }

  function showCounts() {
    for (const facet of facets) {
      for (const [name, option] of facet.options) {
        const count = facet.counts[facet.numbers.get(name)];
        const text = `${name || NONE} (${numbers.format(count)})`;
        if (option.text !== text) option.text = text;
        const hidden = count === 0 && facet.chosen !== name;
        if (option.hidden !== hidden) option.hidden = option.disabled = hidden;
      }
      facet.select.value = facet.chosen;
      facet.select.classList.toggle("set", facet.chosen !== "");
    }
  }

  function cell(label, kind, ...content) {
    const made = element("td", undefined, kind);
    made.dataset.label = label;
    made.setAttribute("role", "cell");
    made.append(...content);
    if (!made.textContent) made.classList.add("empty");
    return made;
  }

  // Two images that are marked can be compared.
  const marked = new Set();
  function markBox(row) {
    const box = element("input");
    box.type = "checkbox";
    box.checked = marked.has(row);
    box.title = "Mark two images to compare them";
    box.setAttribute("aria-label", `Compare ${row[NAME]}`);
    box.addEventListener("change", () => {
      if (box.checked) marked.add(row);
      else marked.delete(row);
      showMarked();
    });
    return box;
  }
  function showMarked() {
    const link = at("compare"), parameters = new URLSearchParams([...marked].map((row, i) => ["ab"[i], pathOf(row)]).slice(0, 2));
    link.hidden = marked.size === 0;
    if (marked.size === 2) link.href = `compare.html#${parameters}`;
    else link.removeAttribute("href");
    link.textContent = marked.size === 2 ? "Compare the two" : marked.size === 1 ? "Mark another image to compare" : "Only two can be compared";
  }

  function nameCell(row) {
    const made = element("th");
    made.scope = "row";
    made.setAttribute("role", "rowheader");
    made.append(markBox(row), " ");
    const link = element("a");
    link.href = pathOf(row);
    link.append(element("bdi", row[NAME]));
    made.append(link);
    for (const one of STATES)
      if (has(row, one) && !["optimised", "proven", "no gain", "slower"].includes(one))
        made.append(" ", element("span", one, `badge ${{stale: "care", failing: "bad", retired: "bad"}[one] || ""}`));
    return made;
  }

  function speedCell(row) {
    const speed = speedOf(row);
    if (!speed) return cell("Measured", "");
    const value = element("span", `${speedText(speed[MEDIAN])} ${words[speed[UNIT]]}`, "value");
    value.title = `quartiles ${speedText(speed[LOW])} to ${speedText(speed[HIGH])}, on ${words[speed[HOST]]}`;
    return cell("Measured", "", value, " ", element("span", words[speed[WORKLOAD]], "soft"), ...doubtOf(speed));
  }

  function rowOf(row) {
    const made = element("tr");
    made.setAttribute("role", "row");
    const version = data.versions[row[VERSION]];
    made.append(nameCell(row), cell("Version", "short", version),
      cell("Compilers", "", row[COMPILERS].map((one) => words[one]).join(", ")),
      cell("Target", "", [words[row[CPU]], ...row[ACCELERATORS].map((one) => words[one])].filter(Boolean).join(", ")),
      cell("Python", "short", words[row[PYTHON]]), cell("CUDA", "short", words[row[CUDA]]),
      cell("Driver", "short", words[row[DRIVER]]), speedCell(row), cell("Size", "short", sizeText(row[SIZE])), cell("Published", "date", row[CREATED]));
    return made;
  }

  function showRows() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(Math.max(1, state.page), pages);
    const shown = found.slice((state.page - 1) * PAGE, state.page * PAGE);
    at("rows").replaceChildren(...shown.map((number) => rowOf(rows[number])));
    at("results").hidden = found.length === 0;
    at("empty").hidden = found.length !== 0;
    at("pager").hidden = pages < 2;
    at("previous").disabled = state.page === 1;
    at("next").disabled = state.page === pages;
    at("where").textContent = `Page ${numbers.format(state.page)} of ${numbers.format(pages)}`;
  }

  function showOrder() {
    const [, down, column] = state.sort.match(/^(-?)(\w+)$/) || [];
    for (const button of document.querySelectorAll("th button[data-sort]")) {
      const head = button.closest("th");
      if (button.dataset.sort === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  const isFiltered = () => state.query !== "" || state.package !== "" || facets.some((facet) => facet.chosen !== "");

  // What an order by speed cannot say.
  function caution() {
    if (["", "measured"].includes(facetNamed("speed").chosen)) return "Speeds of different workloads do not compare: choose one.";
    const hosts = new Set(found.map((number) => speedOf(rows[number])?.[HOST]));
    return hosts.size > 1 ? `Measured on ${hosts.size} kinds of hosts, whose speeds do not compare: choose a processor and an accelerator.` : "";
  }

  function showCount() {
    const all = numbers.format(rows.length), some = numbers.format(found.length);
    const text = isFiltered() ? `${some} of ${all} images` : rows.length === 1 ? "1 image" : `${all} images`;
    const warning = /^-?speed$/.test(state.sort) ? caution() : "";
    if (at("count").textContent !== text) at("count").textContent = text;
    if (at("caution").textContent !== warning) at("caution").textContent = warning;
    at("clear").hidden = !isFiltered();
  }

  // What is looked at, as the fragment of an address, so that a link shows the same.
  function fragment() {
    const parameters = new URLSearchParams();
    if (state.query) parameters.set("q", state.query);
    if (state.package) parameters.set("package", state.package);
    for (const facet of facets) if (facet.chosen !== "") parameters.set(facet.id, facet.chosen);
    if (state.sort) parameters.set("sort", state.sort);
    if (state.page > 1) parameters.set("page", state.page);
    return parameters.toString();
  }

  function readFragment() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    state.query = parameters.get("q") || "";
    state.package = parameters.get("package") || "";
    state.sort = parameters.get("sort") || "";
    state.page = Number.parseInt(parameters.get("page"), 10) || 1;
    for (const facet of facets) facet.chosen = parameters.get(facet.id) || "";
    at("query").value = state.query;
    at("package").value = state.package;
  }

  // "numpy 2.5": a part of the name, and how the version begins.
  function matchesPackage(text, wanted) {
    const [name, version = ""] = wanted.toLowerCase().split(/[\s=]+/);
    const blank = text.lastIndexOf(" ");
    return text.slice(0, blank).toLowerCase().includes(name) && text.slice(blank + 1).startsWith(version);
  }

  const HINT = at("package-hint").textContent;
  async function findPackage() {
    const wanted = state.package.trim();
    installed = null;
    at("package-hint").textContent = wanted ? "Reading the bills of materials …" : HINT;
    if (!wanted) return;
    let said = "", found = null;
    try {
      const bills = await packages();
      const good = bills.words.map((text) => matchesPackage(text, wanted));
      const sets = bills.sets.map((set) => set.some((one) => good[one]));
      found = bills.of.map((set) => set >= 0 && sets[set]);
      const names = bills.words.filter((text, i) => good[i]);
      said = bills.sets.length === 0 ? "No image has a bill of materials."
        : names.length === 0 ? "No image has such a package."
        : names.slice(0, 3).join(", ") + (names.length > 3 ? `, and ${numbers.format(names.length - 3)} more` : "");
    } catch (error) {
      said = error.message;
    }
    if (wanted !== state.package.trim()) return;  // more was typed meanwhile
    installed = found;
    at("package-hint").textContent = said;
    show();
  }

  function show() {
    find();
    showCounts();
    showRows();
    showOrder();
    showCount();
    for (const facet of facets) facet.select.value = facet.chosen;
  }

  function changed() {
    show();
    const now = fragment();
    if (now !== location.hash.slice(1)) history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
  }

  function clear() {
    state.query = at("query").value = "";
    state.package = at("package").value = "";
    state.page = 1;
    for (const facet of facets) facet.chosen = "";
    findPackage();
    changed();
    at("query").focus();
  }

  function turn(pages) {
    state.page += pages;
    changed();
    at("results").focus({preventScroll: true});
    at("results").scrollIntoView({block: "start"});
  }

  function listen() {
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    at("package").addEventListener("input", () => {
      state.package = at("package").value;
      state.page = 1;
      findPackage();
      changed();
    });
    at("query").addEventListener("input", () => {
      state.query = at("query").value.trim();
      state.page = 1;
      changed();
    });
    for (const facet of facets)
      facet.select.addEventListener("change", () => {
        facet.chosen = facet.select.value;
        state.page = 1;
        changed();
      });
    for (const button of document.querySelectorAll("th button[data-sort]"))
      button.addEventListener("click", () => {
        const column = button.dataset.sort;
        state.sort = state.sort === column ? `-${column}` : state.sort === `-${column}` ? "" : column;
        state.page = 1;
        changed();
      });
    for (const id of ["clear", "clear-empty"]) at(id).addEventListener("click", clear);
    at("previous").addEventListener("click", () => turn(-1));
    at("next").addEventListener("click", () => turn(1));
    window.addEventListener("hashchange", () => {
      readFragment();
      findPackage();
      show();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      event.preventDefault();
      at("query").focus();
    });
  }

  readFragment();
  makeOptions();
  listen();
  findPackage();
  show();
  at("catalogue").hidden = false;
  if (matchMedia("(min-width: 60rem)").matches) at("more-filters").open = true;
})();
