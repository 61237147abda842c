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

const put = (parts) => {
  for (const [id, html] of Object.entries(parts)) {
    const place = document.getElementById(id);
    if (!place) continue;
    const open = [...place.querySelectorAll("details")].map((each) => each.open);
    place.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    [...place.querySelectorAll("details")].forEach((each, i) => { each.open = each.open || open[i] || false; });
    wire(place);
  }
};

const follow = (answer) => {
  if (answer.error) { said(answer.error); return; }
  said("");
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
const live = (form, event) => {
  let waiting = false, running = false;
  const send = async () => {
    if (running) { waiting = true; return; }
    running = true;
    do { waiting = false; await guarded(() => post(form.dataset.post, fields(form))); } while (waiting);
    running = false;
  };
  form.addEventListener(event, send);
};

const words = (output) => {
  const input = document.getElementById(output.dataset.of);
  const tell = () => {
    if (!output.dataset.values) { output.textContent = input.value + "%"; return; }
    const alone = Number(output.dataset.values.split(",")[Number(input.value)]);
    output.textContent = `level ${input.value} of ${input.max}; ${alone.toLocaleString("en")} row${alone === 1 ? "" : "s"} alone by it`;
  };
  input.addEventListener("input", tell);
  tell();
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
    await window.vegaEmbed(place, spec, {
      renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: tip,
    });
  } catch (error) {
    place.textContent = "The map cannot be drawn here; the table below has the same numbers.";
  }
};

const tip = (handler, event, item, value) => {
  const place = document.getElementById("tip");
  if (!value) { place.hidden = true; return; }
  const list = document.createElement("dl");
  for (const [name, each] of Object.entries(value)) {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = String(each);
    list.append(term, text);
  }
  place.replaceChildren(list);
  place.hidden = false;
  place.style.left = Math.min(event.pageX + 14, document.documentElement.clientWidth - place.offsetWidth - 8) + "px";
  place.style.top = event.pageY + 14 + "px";
};

const wire = (root) => {
  for (const form of root.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
  for (const form of root.querySelectorAll("form[data-post]")) {
    if (form.dataset.live) live(form, form.dataset.live);
    else form.addEventListener("submit", () => busy(form, () => post(form.dataset.post, fields(form))));
  }
  for (const form of root.querySelectorAll("form[data-get]"))
    form.addEventListener("change", () => location.assign(form.dataset.get + "?" + new URLSearchParams(new FormData(form))));
  for (const form of root.querySelectorAll("form[data-upload]")) upload(form);
  for (const output of root.querySelectorAll("output[data-of]")) words(output);
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
