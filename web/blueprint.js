"use strict";
// The picture is Graphviz's: groups of class node and edge, whose title elements are n0 and n0->n1.
(() => {
  const box = document.getElementById("picture");
  const svg = box.querySelector("svg");
  if (!svg) return;
  const natural = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
  let zoom = 1;

  function show(factor) {
    zoom = Math.min(8, Math.max(0.05, factor));
    svg.setAttribute("width", natural.width * zoom);
    svg.setAttribute("height", natural.height * zoom);
  }
  const fit = () => show(Math.min(box.clientWidth / natural.width, box.clientHeight / natural.height) * 0.98);

  const titleOf = (group) => group.querySelector("title").textContent;
  const nodes = [...svg.querySelectorAll(".node")];
  const edges = [...svg.querySelectorAll(".edge")].map((group) => ({ group, ends: titleOf(group).split("->") }));

  function choose(node) {
    const again = node && node.classList.contains("here");
    nodes.forEach((other) => other.classList.remove("here"));
    box.classList.toggle("chosen", Boolean(node) && !again);
    if (!node || again) return;
    node.classList.add("here");
    edges.forEach((edge) => edge.group.classList.toggle("near", edge.ends.includes(titleOf(node))));
  }

  nodes.forEach((node) => node.addEventListener("click", (event) => { event.stopPropagation(); choose(node); }));
  box.addEventListener("click", () => choose(null));
  document.getElementById("fit").addEventListener("click", fit);
  document.getElementById("in").addEventListener("click", () => show(zoom * 1.25));
  document.getElementById("out").addEventListener("click", () => show(zoom / 1.25));
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    nodes.forEach((node) => {
      const link = node.querySelector("a");
      const name = (link ? link.getAttribute("xlink:title") || "" : "") + node.textContent;
      node.classList.toggle("found", wanted !== "" && name.toLowerCase().includes(wanted));
    });
  });
  fit();
})();
