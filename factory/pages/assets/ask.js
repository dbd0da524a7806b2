// A question as a form: it writes a document of the DSL and the command that asks it; where a server has sent this page, that
// server is asked. What comes back goes into the page as text.
"use strict";
(() => {
  const MOST = 4 << 20;  // bytes of a document, as kiln reads it
  const at = (id) => document.getElementById(id);
  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const value = (id) => at(id).value.trim();

  function compilers() {
    return Object.fromEntries([...document.querySelectorAll("#compilers input:checked")].map((box) => [box.value, true]));
  }

  // As docs/formats/files.md has it: members that are empty are left out.
  const filled = (object) => Object.fromEntries(Object.entries(object).filter(([, one]) => one !== "" && one !== undefined));

  function optimisation() {
    const built = value("build") === "yes", name = value("application");
    const common = {
      enable_opt_build: built,
      app_type: value("kind") === "ai" ? "ai_training" : "hpc",
      opt_build: filled({cpu_type: value("cpu-type"), acc_type: value("acc-type")}),
      workload: value("workload"),
    };
    if (value("kind") === "ai")
      return {...filled(common), "app_type-ai_training": {
        config: {ai_framework: name},
        [`ai_framework-${name}`]: filled({version: value("version"), method: value("method"), ...(built ? compilers() : {})}),
      }};
    return {...filled(common), "app_type-hpc": {
      config: {parallelisation: "mpi"}, "parallelisation-mpi": filled({version: value("version"), method: value("method")}),
    }};
  }

  function question() {
    const application = filled({app_tag: value("kind") === "ai" ? "" : value("application"), executable: value("program")});
    const asked = {optimisation: optimisation()};
    return Object.keys(application).length ? {application, ...asked} : asked;
  }

  // What is no part of the document, for the command and for the server.
  const jobTerms = () => filled({host: value("host"), scheduler: value("scheduler"), infrastructure: value("infrastructure")});

  const word = (text) => (/^[A-Za-z0-9._:,/@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  function showCommand() {
    const host = value("host"), given = `<<'JSON'\n${at("document").value.trimEnd()}\nJSON`;
    at("command").textContent = `kiln select --dsl - ${host ? `--host ${word(host)} ` : ""}--explain ${given}`;
    const options = Object.entries(jobTerms()).map(([name, one]) => `--${name} ${word(one)} `).join("");
    at("job-command").textContent = `kiln job --dsl - ${options}${given}`;
    at("job-script").hidden = true;  // it is of another question
    at("job-said").replaceChildren();
  }

  function write() {
    at("document").value = `${JSON.stringify(question(), null, 2)}\n`;
    at("file-said").textContent = "";
    showCommand();
  }

  async function open(file) {
    if (!file) return;
    if (file.size > MOST) {
      at("file-said").textContent = `${file.name} has more than 4 MiB, and no question has.`;
      return;
    }
    at("document").value = await file.text();
    at("file-said").textContent = `${file.name} was read. The form does not show it; a change there writes a new one.`;
    showCommand();
  }

  // The answer of a server that has the member `wanted`.
  async function post(path, terms, wanted) {
    const query = new URLSearchParams(terms).toString();
    const reply = await fetch(`${path}${query ? `?${query}` : ""}`, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: at("document").value,
    });
    const text = await reply.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      throw new Error(`This server answers no questions (status ${reply.status}): it has the pages alone. The commands below ask.`);
    }
    if (json && Object.hasOwn(json, wanted)) return json;
    const said = json && (json.error?.message || json.message || json.detail || json.error);
    throw new Error(typeof said === "string" ? said : `The server refused the question (status ${reply.status}).`);
  }

  const ask = (host) => post("/v1/select", filled({host}), "selected");

  function link(image) {
    const name = image.name || image.reference || image.code || "";
    if (!/^[a-z0-9][a-z0-9._-]*:[a-z0-9][a-z0-9._-]*$/.test(name)) return element("bdi", name);
    const made = element("a", name);
    made.href = `images/${name.replace(":", "/")}.html`;
    return made;
  }

  function list(title, items) {
    if (!items.length) return [];
    const made = element("ul");
    made.append(...items.map((item) => {
      const line = element("li");
      line.append(...[item].flat());
      return line;
    }));
    return [element("h3", title), made];
  }

  function showAnswer(json) {
    const box = element("div", undefined, json.selected ? "answer" : "answer none");
    box.append(element("h2", json.selected ? "The answer" : "No image is an answer"));
    if (json.selected) {
      const name = element("p", undefined, "name");
      name.append(link(json.selected));
      box.append(name);
      if (json.answer && json.answer !== json.selected.name) box.append(element("p", json.answer, "soft"));
    }
    const others = json.others || [];
    box.append(
      ...list("Why", json.reasons || []),
      ...list("Also good, best first", others.filter((one) => one.qualifies).slice(0, 5).map((one) => [link(one)])),
      ...list("Why the others are not", (json.misses_by_reason || []).slice(0, 8).map((one) => `${one.reason} (${one.count})`)),
      ...list("Read in the document and passed over", (json.notes || []).map((one) => (typeof one === "string" ? one : one.message || ""))));
    at("answer").replaceChildren(box);
  }

  function showProblem(where, error) {
    const text = error instanceof TypeError ? "The server cannot be reached." : error.message;
    at(where).replaceChildren(element("p", text, "notice bad"));
  }

  async function askOnce() {
    if (!at("document").value.trim()) return showProblem("answer", new Error("There is no question yet."));
    at("rungs").replaceChildren();
    at("answer").replaceChildren(element("p", "Asking …"));
    try {
      showAnswer(await ask(value("host")));
    } catch (error) {
      showProblem("answer", error);
    }
  }

  async function writeJob() {
    if (!at("document").value.trim()) return showProblem("job-said", new Error("There is no question yet."));
    at("job-script").hidden = true;
    at("job-said").replaceChildren(element("p", "Asking …"));
    try {
      const job = await post("/v1/job", jobTerms(), "job_script");
      at("script").textContent = job.job_script;
      at("job-said").replaceChildren(...list("Notes on the job script", job.notes || []));
      at("job-script").hidden = false;
    } catch (error) {
      showProblem("job-said", error);
    }
  }

  // How many times as fast one answer is as another, where both were measured by the same workload in the same unit; else 0.
  function timesAsFast(one, other) {
    if (!one || !other || one.workload !== other.workload || one.unit !== other.unit) return 0;
    return one.unit.endsWith("/s") ? one.median / other.median : other.median / one.median;
  }

  function rung({host, json, times}) {
    const row = element("tr"), head = element("th", host), name = element("td"), why = element("td");
    const speed = json.selected?.measurement;
    head.scope = "row";
    if (json.selected) name.append(link(json.selected));
    else name.textContent = "none";
    if (speed) {
      const compared = times > 0 && host !== value("host") ? `, ${times.toFixed(2)} times as fast as the answer` : "";
      why.textContent = `${speed.median} ${speed.unit} (${speed.workload})${compared}`;
    } else why.textContent = json.selected ? (json.reasons || [])[0] || "" : (json.misses_by_reason || [])[0]?.reason || "";
    row.append(head, name, why);
    return row;
  }

  function rungTable() {
    const table = element("table"), body = element("tbody"), head = element("tr"), thead = element("thead");
    const box = element("div", undefined, "wide");
    for (const title of ["Host", "Answer", "Measured there, or why"]) {
      const cell = element("th", title);
      cell.scope = "col";
      head.append(cell);
    }
    thead.append(head);
    table.append(element("caption", "The answer on each kind of host"), thead, body);
    box.append(table);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "The answer on each kind of host");
    return [box, body];
  }

  // The same question for each kind of host that images of the catalogue are for: where a faster image than the answer would
  // run stands first, then where there is another answer, then where there is none.
  async function climb() {
    const [box, body] = rungTable();
    at("rungs").replaceChildren(element("h2", "On other hosts"), box);
    const rungs = [];
    const place = (one) => (one.json.selected ? one.times : -1);
    try {
      const here = await ask(value("host"));
      showAnswer(here);
      for (const host of [...at("hosts").options].map((option) => option.value)) {
        const json = await ask(host);
        rungs.push({host, json, times: timesAsFast(json.selected?.measurement, here.selected?.measurement)});
        rungs.sort((a, b) => place(b) - place(a));
        body.replaceChildren(...rungs.map(rung));
      }
    } catch (error) {
      showProblem("rungs", error);
    }
  }

  function listen() {
    const beside = ["host", "scheduler", "infrastructure"];
    at("form").addEventListener("input", (event) => (beside.includes(event.target.id) ? showCommand() : write()));
    at("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (location.protocol !== "file:") askOnce();
    });
    at("job").addEventListener("click", writeJob);
    at("ladder").addEventListener("click", climb);
    at("document").addEventListener("input", showCommand);
    at("file").addEventListener("change", () => open(at("file").files[0]));
    const drop = at("drop");
    for (const kind of ["dragenter", "dragover"])
      drop.addEventListener(kind, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      open(event.dataTransfer.files[0]);
    });
  }

  at(location.protocol === "file:" ? "from-file" : "served").hidden = false;
  if (!value("application")) at("application").value = at("applications").options[0]?.value || "";  // to begin with
  listen();
  write();
})();
