// Two images side by side: what their rows in data.js say, their speeds in the same place, and the packages of which their
// bills of materials differ. Which two stands in the fragment of the address.
"use strict";
(() => {
  const {data, words, rows, at: ROW, speed: SPEED, element, has, buildOf, pathOf, sizeText, speedText, doubtOf, packages} = window.kilnRows;
  const at = (id) => document.getElementById(id);
  const byPath = new Map(rows.map((row, number) => [pathOf(row), number]));
  const byName = new Map(rows.map((row, number) => [row[ROW.NAME], number]));
  const list = (numbers) => numbers.map((one) => words[one]).join(", ");
  let shown = 0;  // of several comparisons that were begun, the last counts

  const properties = [
    ["Application", (row) => words[row[ROW.APPLICATION]]],
    ["Version", (row) => data.versions[row[ROW.VERSION]]],
    ["Install method", (row) => words[row[ROW.METHOD]]],
    ["Build", buildOf],
    ["Graph compilers", (row) => list(row[ROW.COMPILERS]) || "none"],
    ["Processor", (row) => words[row[ROW.CPU]]],
    ["Accelerators", (row) => list(row[ROW.ACCELERATORS]) || "none"],
    ["Python", (row) => words[row[ROW.PYTHON]]],
    ["CUDA", (row) => words[row[ROW.CUDA]]],
    ["Oldest NVIDIA driver", (row) => words[row[ROW.DRIVER]]],
    ["Size, compressed", (row) => sizeText(row[ROW.SIZE])],
    ["Published", (row) => row[ROW.CREATED]],
    ["State", (row) => ["stale", "failing", "retired", "untested"].filter((state) => has(row, state)).join(", ") || "good"],
  ];

  function table(caption, head, body) {
    const made = element("table"), box = element("div", undefined, "wide"), row = element("tr"), rowsOf = element("tbody");
    for (const title of head) {
      const cell = element("th", title);
      cell.scope = "col";
      row.append(cell);
    }
    const top = element("thead");
    top.append(row);
    rowsOf.append(...body);
    made.append(element("caption", caption), top, rowsOf);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", caption);
    box.append(made);
    return box;
  }

  // `cells`: texts, or lists of what goes into a cell. The last column says in words what a colour would.
  function line(title, cells, differs) {
    const made = element("tr", undefined, differs ? "differs" : "");
    const head = element("th", title);
    head.scope = "row";
    made.append(head);
    for (const one of cells) {
      const cell = element("td");
      cell.append(...[one].flat());
      made.append(cell);
    }
    if (differs !== undefined) made.append(element("td", differs ? "differs" : ""));
    return made;
  }

  const imageLink = (row) => {
    const link = element("a");
    link.href = pathOf(row);
    link.append(element("bdi", row[ROW.NAME]));
    return [link];
  };

  function facts(a, b) {
    const body = [line("Image", [imageLink(a), imageLink(b)], false)];
    for (const [title, of] of properties)
      if (of(a) || of(b)) body.push(line(title, [of(a) || "none", of(b) || "none"], of(a) !== of(b)));
    return table("The two images", ["Property", "First image", "Second image", "Difference"], body);
  }

  const place = (one) => [SPEED.WORKLOAD, SPEED.UNIT, SPEED.HOST].map((part) => words[one[part]]).join("\n");
  const speedOf = (one) => (one ? [`${speedText(one[SPEED.MEDIAN])} ${words[one[SPEED.UNIT]]}, quartiles ${speedText(one[SPEED.LOW])} to ${
    speedText(one[SPEED.HIGH])}`, ...doubtOf(one)] : ["not measured"]);

  function speeds(a, b) {
    const places = [...new Set([...a[ROW.SPEEDS], ...b[ROW.SPEEDS]].map(place))].sort();
    if (!places.length) return [element("p", "Neither was measured.")];
    const body = places.map((wanted) => {
      const [workload, , host] = wanted.split("\n");
      return line(`${workload}, on ${host}`, [a, b].map((row) => speedOf(row[ROW.SPEEDS].find((one) => place(one) === wanted))));
    });
    const hint = element("p", "For a gain with its interval: ", "soft");
    hint.append(element("code", "kiln bench compare"), ".");
    return [table("Measured speeds", ["Workload and host", "First image", "Second image"], body), hint];
  }

  // Name → versions, sorted; null without a bill.
  function billOf(bills, number) {
    const set = bills.of[number];
    if (set < 0) return null;
    const bill = new Map();
    for (const one of bills.sets[set]) {
      const text = bills.words[one], blank = text.lastIndexOf(" ");
      const name = text.slice(0, blank), version = text.slice(blank + 1);
      bill.set(name, bill.has(name) ? `${bill.get(name)}, ${version}` : version);
    }
    return bill;
  }

  function bills(all, one, other) {
    const a = billOf(all, one), b = billOf(all, other);
    if (!a || !b) return [element("p", `The ${a ? "second" : b ? "first" : "two"} image${a || b ? " has" : "s have"} no bill of materials.`)];
    const names = [...new Set([...a.keys(), ...b.keys()])].sort();
    const different = names.filter((name) => a.get(name) !== b.get(name));
    const words = `${different.length} of ${names.length} packages differ.`;
    if (!different.length) return [element("p", `Both have the same ${names.length} packages.`)];
    const missing = () => [element("span", "not installed", "soft")];
    return [element("p", words), table("Packages that differ", ["Package", "First image", "Second image"],
      different.map((name) => line(name, [a.get(name) ?? missing(), b.get(name) ?? missing()])))];
  }

  async function compare(one, other) {
    const turn = ++shown, a = rows[one], b = rows[other];
    const box = element("section"), waiting = element("p", "Reading the bills of materials …", "soft");
    box.append(element("h2", "Packages"), waiting);
    const measured = element("section");
    measured.append(element("h2", "Measured speed"), ...speeds(a, b));
    at("comparison").replaceChildren(facts(a, b), measured, box);
    let found;
    try {
      found = bills(await packages(), one, other);
    } catch (error) {
      found = [element("p", error.message, "doubt")];
    }
    if (turn === shown) waiting.replaceWith(...found);
  }

  function show() {
    const chosen = ["a", "b"].map((id) => byName.get(at(id).value.trim()));
    const unknown = ["a", "b"].filter((id, i) => at(id).value.trim() && chosen[i] === undefined);
    at("said").textContent = unknown.length ? `The catalogue has no image ${at(unknown[0]).value.trim()}.`
      : chosen.includes(undefined) ? "Choose two images." : "";
    if (chosen.includes(undefined)) {
      ++shown;
      at("comparison").replaceChildren();
      return;
    }
    compare(...chosen);
  }

  function readFragment() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    for (const id of ["a", "b"]) {
      const number = byPath.get(parameters.get(id));
      at(id).value = number === undefined ? parameters.get(id) || "" : rows[number][ROW.NAME];
    }
    show();
  }

  at("images").append(...rows.map((row) => new Option("", row[ROW.NAME])));
  for (const id of ["a", "b"])
    at(id).addEventListener("change", () => {
      const parameters = new URLSearchParams();
      for (const one of ["a", "b"]) {
        const number = byName.get(at(one).value.trim());
        if (number !== undefined) parameters.set(one, pathOf(rows[number]));
      }
      history.replaceState(null, "", `#${parameters}`);
      show();
    });
  at("pair").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", readFragment);
  readFragment();
})();
