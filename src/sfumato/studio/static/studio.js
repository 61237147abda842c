// The one script of the studio. It sends what a form holds, puts what the server answers into the page, follows a run, and draws the map.
// It computes nothing: every number on a page comes from the library.
"use strict";

const said = (text) => {
  const place = document.getElementById("said");
  place.textContent = text;
  place.className = text ? "beware" : "";
  if (text) place.scrollIntoView({ block: "nearest" });
};

// A form as JSON: fields of one name become a list where there are several, or where the name is said to be one.
const fields = (form) => {
  const found = {};
  for (const [name, value] of new FormData(form)) {
    if (name in found) found[name] = [].concat(found[name], value);
    else found[name] = value;
  }
  return found;
};

const post = async (path, content) => {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), redirect: "error",
  });
  return read(answer);
};

const read = async (answer) => {
  const kind = answer.headers.get("Content-Type") || "";
  const content = kind.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok && !content.error) content.error = "The studio did not answer; is it still running?";
  return content;
};

// Whoever works by keyboard stays where they are when the part of the page around them is replaced: on the same control, or else on the one at its place.
const reached = (place) => [...place.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")];
const same = (a, b) => a.tagName === b.tagName && a.name === b.name && a.getAttribute("href") === b.getAttribute("href")
  && (a.name ? a.value === b.value || a.type !== "radio" : a.textContent === b.textContent);
const stay = (place) => {
  const there = reached(place), at = there.indexOf(document.activeElement), was = there[at];
  if (!was) return () => {};
  const nth = there.slice(0, at).filter((each) => same(each, was)).length;
  return () => {
    const now = reached(place);
    (now.filter((each) => same(each, was))[nth] || now[at])?.focus({ preventScroll: true });
  };
};

const put = (parts) => {
  for (const [id, html] of Object.entries(parts)) {
    const place = document.getElementById(id);
    if (!place) continue;
    const open = [...place.querySelectorAll("details")].map((each) => each.open), back = stay(place);
    place.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    [...place.querySelectorAll("details")].forEach((each, i) => { each.open = each.open || open[i] || false; });
    wire(place);
    back();
  }
};

// Whoever is on the way to another page is not called back by an answer that comes late.
let leaving = false;
window.addEventListener("beforeunload", () => { leaving = true; });
window.addEventListener("pageshow", () => { leaving = false; });

const follow = (answer) => {
  if (leaving) return;
  if (answer.error) { said(answer.error); return; }
  said("");
  for (const [id, value] of Object.entries(answer.fill || {})) document.getElementById(id).value = value;
  if (answer.put) put(answer.put);
  if (answer.go) {
    const [path, mark] = answer.go.split("#");
    if (path === location.pathname && mark && location.hash === "#" + mark) location.reload();
    else if (path === location.pathname && mark) { history.replaceState(null, "", answer.go); location.reload(); }
    else if (path === location.pathname) location.reload();
    else location.assign(answer.go);
  }
};

const guarded = async (work) => {
  try { follow(await work()); } catch (error) { said("The studio does not answer. Is `sfumato studio` still running?"); }
};

const busy = async (form, work) => {
  const buttons = [...form.querySelectorAll("button")];
  form.setAttribute("aria-busy", "true");
  buttons.forEach((button) => { button.disabled = true; });
  await guarded(work);
  buttons.forEach((button) => { button.disabled = false; });
  form.removeAttribute("aria-busy");
};

// A live form is sent whenever it changes: one request at a time, and the last state always.
const live = (form, event, path = form.dataset.post) => {
  let waiting = false, running = false;
  const send = async () => {
    if (running) { waiting = true; return; }
    running = true;
    do { waiting = false; await guarded(() => post(path, fields(form))); } while (waiting);
    running = false;
  };
  form.addEventListener(event, send);
};

// What a slider means stands beside it: words for each place, or the number itself.
const words = (output) => {
  const input = document.getElementById(output.dataset.of);
  const told = output.dataset.words ? JSON.parse(output.dataset.words) : null;
  const tell = () => {
    output.textContent = told ? told[Number(input.value)] : input.value + "%";
    if (told) input.setAttribute("aria-valuetext", told[Number(input.value)]);
  };
  input.addEventListener("input", tell);
  tell();
};

// The lattice: a click on one of its nodes sets the sliders to it.
const toLevels = (place) => {
  const set = () => {
    const form = document.getElementById("sliders"), inputs = [...form.querySelectorAll("input[name=levels]")];
    place.dataset.levels.split(",").forEach((level, i) => { inputs[i].value = level; inputs[i].dispatchEvent(new Event("input", { bubbles: true })); });
    document.getElementById("main").scrollIntoView({ block: "start" });
  };
  place.addEventListener("click", set);
};

// A button outside of a form that sends it elsewhere.
const sending = (button) => button.addEventListener("click", () => {
  const form = document.getElementById(button.dataset.form);
  busy(button.parentElement, () => post(button.dataset.search, fields(form)));
});

// An explanation opens over the page; without this it is a page of its own.
const explain = async (link) => {
  const answer = await fetch(link.href);
  if (!answer.ok) { location.assign(link.href); return; }
  const there = new DOMParser().parseFromString(await answer.text(), "text/html");
  const box = document.getElementById("explanation");
  box.querySelector("h2").textContent = there.querySelector("h1").textContent;
  box.querySelector("div").replaceChildren(...there.getElementById("explained").childNodes);
  if (!box.open) box.showModal();
};

// The row that names the columns, and whether the last one is a total: a click says so, and the table is read again.
document.addEventListener("click", (event) => {
  const row = event.target.closest("tr.choose");
  if (!row || event.target.closest("label")) return;
  row.querySelector("input").checked = true;
  row.closest("form").requestSubmit();
});
document.addEventListener("change", (event) => {
  const box = event.target.closest("[data-sets]");
  if (!box) return;
  document.getElementById(box.dataset.sets).value = box.checked ? "yes" : "no";
  box.closest("form").requestSubmit();
});

// A slider of ready-made rules fills the form; the form then shows what they do.
const ready = (slider) => {
  const choices = JSON.parse(slider.dataset.choices), form = slider.closest("form");
  const [rule, values] = ["rule", "values"].map((name) => form.elements.namedItem(name));
  const at = choices.findIndex(([kind, text]) => kind === rule.value && text === values.value);
  if (at >= 0) slider.value = at;
  const tell = () => slider.setAttribute("aria-valuetext", choices[Number(slider.value)].join(": "));
  slider.addEventListener("input", () => { [rule.value, values.value] = choices[Number(slider.value)]; tell(); });
  tell();
};

// A value dragged onto another shares its group; the text fields say the same to whoever does not drag.
const dragging = (form) => {
  let taken = null;
  for (const line of form.querySelectorAll("[draggable]")) {
    const field = line.querySelector("input");
    line.addEventListener("dragstart", (event) => { taken = line; event.dataTransfer.setData("text/plain", line.dataset.value); });
    line.addEventListener("dragover", (event) => { if (taken && taken !== line) { event.preventDefault(); line.classList.add("over"); } });
    line.addEventListener("dragleave", () => line.classList.remove("over"));
    line.addEventListener("drop", (event) => {
      event.preventDefault();
      line.classList.remove("over");
      if (!taken || taken === line) return;
      if (!field.value) field.value = `${line.dataset.value} and ${taken.dataset.value}`;
      taken.querySelector("input").value = field.value;
      taken = null;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
};

const upload = (form) => {
  const input = form.querySelector("input[type=file]"), bar = form.querySelector("progress");
  const send = (file) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.dataset.upload);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    bar.hidden = false;
    request.upload.addEventListener("progress", (event) => { bar.value = event.total ? event.loaded / event.total : 0; });
    request.addEventListener("loadend", () => {
      bar.hidden = true;
      let content = { error: request.responseText || "The file was not taken." };
      try { content = JSON.parse(request.responseText); } catch (error) { /* a refusal is plain text */ }
      follow(content);
    });
    request.send(file);
  };
  input.addEventListener("change", () => { if (input.files.length) send(input.files[0]); });
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
};

const events = (place) => {
  const source = new EventSource(place.dataset.events);
  source.addEventListener("message", (message) => {
    const content = JSON.parse(message.data);
    if (content.over) { source.close(); location.reload(); return; }
    put(content.put);
  });
};

// Vega under the page's policy: expressions are interpreted, and neither its style nor its tooltip is used.
const draw = async (place) => {
  try {
    const answer = await fetch(place.dataset.figure);
    if (!answer.ok) throw new Error();
    const spec = await answer.json();
    if (!window.vegaEmbed) await new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = "/vega.js";
      script.addEventListener("load", done);
      script.addEventListener("error", failed);
      document.head.append(script);
    });
    place.replaceChildren();
    const { view } = await window.vegaEmbed(place, spec, {
      renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: tip,
    });
    move(place, view);
  } catch (error) {
    place.textContent = "The map cannot be drawn here; the table below has the same numbers.";
  }
};

// What a candidate is and what its numbers say, from its line of the table.
const tell = (row, x, y) => {
  const place = document.getElementById("tip");
  place.replaceChildren(...[["b", row.dataset.name], ["p", row.dataset.standing], ["p", row.dataset.sentences]].map(([kind, text]) => {
    const part = document.createElement(kind);
    part.textContent = text;
    return part;
  }));
  place.hidden = false;
  place.style.left = Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - place.offsetWidth - 8)) + "px";
  place.style.top = y + 14 + "px";
};

const tip = (handler, event, item, value) => {
  const row = value && [...document.querySelectorAll("tr.candidate")].find((each) => each.dataset.name === value.candidate);
  if (row) tell(row, event.pageX, event.pageY);
  else document.getElementById("tip").hidden = true;
};

// Zoom by buttons and keys, and go from candidate to candidate, from the most useful on.
const move = (place, view) => {
  const rows = [...document.querySelectorAll("tr.candidate[data-risk]")].sort((a, b) => a.dataset.utility - b.dataset.utility);
  const ring = document.getElementById("ring"), whole = { utility: view.scale("x").domain(), risk: view.scale("y").domain() };
  let at = -1;
  const mark = () => {
    if (at < 0) return;
    const inset = view.padding(), row = rows[at];
    const [dx, dy] = view.origin().map((each, i) => each + (i ? inset.top : inset.left));
    const x = view.scale("x")(Number(row.dataset.utility)) + dx, y = view.scale("y")(Number(row.dataset.risk)) + dy;
    const box = place.querySelector("svg").getBoundingClientRect(), around = place.parentElement.getBoundingClientRect();
    ring.hidden = x < dx || y < dy || x > dx + view.width() || y > dy + view.height();
    ring.style.left = box.left - around.left + x + "px";
    ring.style.top = box.top - around.top + y + "px";
    tell(row, box.left + scrollX + x, box.top + scrollY + y);
  };
  const zoom = async (times) => {
    for (const [axis, field] of [["x", "utility"], ["y", "risk"]]) {
      const [low, high] = times ? view.scale(axis).domain() : whole[field];
      const here = at < 0 ? (low + high) / 2 : Number(rows[at].dataset[field]), width = (high - low) * times;
      const start = Math.max(whole[field][0], here - width / 2);
      view.signal("zoom_" + field, times ? [start, start + width] : whole[field]);
    }
    await view.runAsync();
    mark();
  };
  const go = (step) => { if (rows.length) { at = (at + step + rows.length + (at < 0 && step < 0 ? 1 : 0)) % rows.length; mark(); } };
  const tick = () => { if (at >= 0) rows[at].querySelector("input").click(); };
  const does = { in: () => zoom(.5), out: () => zoom(2), whole: () => zoom(0), before: () => go(-1), next: () => go(1) };
  const keys = { "+": does.in, "=": does.in, "-": does.out, 0: does.whole, ArrowLeft: does.before, ArrowUp: does.before, ArrowRight: does.next, ArrowDown: does.next, Enter: tick };
  for (const button of document.querySelectorAll("[data-map]")) button.addEventListener("click", does[button.dataset.map]);
  place.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  place.addEventListener("blur", () => { ring.hidden = true; document.getElementById("tip").hidden = true; });
};

// Two ticked candidates are held side by side.
const pair = (form) => {
  const [a, b, ...more] = new FormData(form).getAll("pick");
  if (b === undefined || more.length) { said("Tick two candidates in the table."); return; }
  busy(form, () => post(form.dataset.pair, { a, b }));
};

// Heard from the first moment on, also of what is still to come: no press is lost while the page loads, and no form is ever sent by the browser itself.
document.addEventListener("submit", (event) => {
  const form = event.target, { post: path, live: changes, pair: two } = form.dataset;
  if (form.method === "dialog") return; // its button closes what lies over the page
  event.preventDefault();
  if (two) pair(form);
  else if (path && !changes) busy(form, () => post(path, fields(form)));
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.explain");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  explain(link);
});

const wire = (root) => {
  for (const form of root.querySelectorAll("form[data-post][data-live]")) live(form, form.dataset.live);
  for (const slider of root.querySelectorAll("[data-choices]")) ready(slider);
  for (const form of root.querySelectorAll("form[data-preview]")) live(form, "input", form.dataset.preview);
  for (const form of root.querySelectorAll("form.groups")) dragging(form);
  for (const form of root.querySelectorAll("form[data-get]"))
    form.addEventListener("change", () => location.assign(form.dataset.get + "?" + new URLSearchParams(new FormData(form))));
  for (const form of root.querySelectorAll("form[data-upload]")) upload(form);
  for (const button of root.querySelectorAll("[data-print]")) button.addEventListener("click", () => window.print());
  for (const output of root.querySelectorAll("output[data-of]")) words(output);
  for (const place of root.querySelectorAll("[data-levels]")) toLevels(place);
  for (const button of root.querySelectorAll("button[data-search]")) sending(button);
  for (const place of root.querySelectorAll("[data-events]")) events(place);
  for (const place of root.querySelectorAll("[data-figure]")) draw(place);
  for (const form of root.querySelectorAll("#roles")) form.addEventListener("change", () => {
    const persons = [...form.querySelectorAll("select[name=roles]")].some((each) => each.value === "person");
    document.getElementById("persons").hidden = !persons;
  });
};

document.addEventListener("DOMContentLoaded", () => {
  wire(document);
  const events = document.querySelector("[data-events]");
  if (events && "events" in events.dataset) events.setAttribute("aria-live", "polite");
});
