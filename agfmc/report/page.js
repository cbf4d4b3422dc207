"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Tables: a button in each heading sorts the rows; a third click puts them back.
  const key = cell => {
    const words = (cell.dataset.value ?? cell.innerText).trim().replace("\u2212", "-");
    const number = /^[-+]?[.\d]/.test(words) ? parseFloat(words.replace(/(\d)\s(?=\d)/g, "$1")) : NaN;
    return words === "" ? null : words === "\u00b7" ? 0 : number === number ? number : words;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b :
    String(a).localeCompare(String(b), "en", {numeric: true});
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0], original = [...body.rows];
    const heads = all("thead th", table);
    heads.forEach(head => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort"), at = head.cellIndex;
        heads.forEach(other => other.removeAttribute("aria-sort"));
        const keyed = original.map(row => [key(row.cells[at]), row]);
        const first = keyed.some(([value]) => typeof value === "string") ? "ascending" : "descending";
        const second = first === "ascending" ? "descending" : "ascending";
        const order = before === null ? first : before === first ? second : null;
        if (order) {
          head.setAttribute("aria-sort", order);
          const sign = order === "ascending" ? 1 : -1;
          keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) :
            sign * compare(a, b));
        }
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  // Classes and nodes: what belongs to the one below the pointer, or in focus, is lit everywhere.
  const parts = all("[data-classes],[data-node]").map(element => ({
    element, node: element.dataset.node,
    classes: new Set((element.dataset.classes ?? "").split(" ").filter(Boolean))}));
  const known = new Map(parts.map(part => [part.element, part]));
  let lit = [], chosen = null;
  const light = wanted => {
    lit.forEach(element => element.classList.remove("lit"));
    lit = [];
    if (!wanted) return;
    for (const {element, node, classes} of parts) {
      const own = [...classes], common = own.filter(one => wanted.classes.has(one)).length;
      const same = wanted.node !== undefined && node === wanted.node;
      // several classes, as those of a node, light what is within them, one all that it is part of
      if (same || common && (wanted.classes.size === 1 || common === own.length)) lit.push(element);
    }
    for (const head of lit.filter(element => element.matches(".matrix thead th")))
      for (const row of head.closest("table").tBodies[0].rows) lit.push(row.cells[head.cellIndex]);
    lit.forEach(element => element.classList.add("lit"));
  };
  const over = event => {
    const element = event.target.closest?.("[data-classes],[data-node]");
    light(element ? known.get(element) : chosen);
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("focusin", over);
  const chooser = document.querySelector(".chooser");
  if (chooser) {
    chooser.hidden = false;
    chooser.querySelector("select").addEventListener("change", event => {
      const at = event.target.value;
      chosen = at === "" ? null : {classes: new Set([at])};
      light(chosen);
    });
  }

  // Commands: a button copies them.
  if (navigator.clipboard) for (const code of all("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => navigator.clipboard.writeText(code.textContent).then(
      () => { button.textContent = "Copied"; }, () => getSelection().selectAllChildren(code)));
    code.before(button);
  }

  // Boxes that need no scrolling are no stops of the keyboard.
  const boxes = all(".scroll");
  const stops = () => boxes.forEach(box => {
    box.tabIndex = box.scrollWidth > box.clientWidth + 1 ||
      box.scrollHeight > box.clientHeight + 1 ? 0 : -1;
  });
  stops();
  addEventListener("resize", stops);
  all("details").forEach(one => one.addEventListener("toggle", stops));

  // Contents: the section that is read.
  const links = new Map(all("nav a").map(link => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(entries => entries.forEach(({target, isIntersecting}) => {
    if (!isIntersecting) return;
    links.forEach(link => link.removeAttribute("aria-current"));
    links.get(target.id)?.setAttribute("aria-current", "true");
  }), {rootMargin: "-20% 0px -75%"});
  all("main > section").forEach(section => seen.observe(section));
})();
