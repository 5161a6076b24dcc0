"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const style = () => getComputedStyle(document.documentElement);
  const colour = (name) => style().getPropertyValue("--" + name).trim();
  const states = ["active", "waiting", "unoccupied"];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const element = (tag, cls, parent, text) => {
    const made = document.createElement(tag);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  };
  const seconds = (ns) => ns >= 1e9 ? (ns / 1e9).toPrecision(3) + " s" : (ns / 1e6).toPrecision(3) + " ms";

  function legendEntry(parent, colourName, block, label, detail) {
    const entry = element("div", "", parent);
    element("span", block ? "key block" : "key", entry).style.background = colour(colourName);
    entry.appendChild(document.createTextNode(label + " "));
    if (detail) element("span", "origin", entry, detail);
  }

  // One chart's rows: [x, value of each column]; a run that has ended has no value.
  function rows(axis, columns) {
    const grid = data[axis];
    return grid.x.map((x, i) => [x].concat(columns.map(([run, name]) => {
      const value = grid.runs[run][name][i];
      return value === undefined ? null : value;
    })));
  }

  function options(axis, labels, colours, more) {
    return Object.assign({
      labels: ["x"].concat(labels), colors: colours, stepPlot: true, includeZero: true, drawGapEdgePoints: true,
      xlabel: axis === "absolute" ? "time since the window's begin (s)" : "share of the run (%)",
      ylabel: "threads", axisLineColor: colour("line"), gridLineColor: colour("line"), gridLineWidth: 0.6,
      strokeWidth: 1.8, legend: "follow", labelsSeparateLines: true, highlightCircleSize: 2, xRangePad: 4, yRangePad: 6,
      axes: { x: { valueFormatter: (x) => axis === "absolute" ? x.toPrecision(4) + " s" : x.toPrecision(3) + " %" },
              y: { valueFormatter: (y) => y === null ? "-" : String(Math.round(y * 100) / 100) } },
    }, more || {});
  }

  let charts = [];
  function draw() {
    charts.forEach((chart) => chart.destroy());
    charts = [];
    const axis = document.getElementById("axis").value;
    const series = document.getElementById("series").value;
    const legend = document.getElementById("legend");
    const stateLegend = document.getElementById("states");
    const stacks = document.getElementById("stacks");
    [legend, stateLegend, stacks].forEach((node) => node.replaceChildren());

    data.runs.forEach((run, i) => legendEntry(legend, "run" + i, false, run.name,
      run.origin + ", " + seconds(run.duration_ns) + (run.source ? ", " + run.source : "")));
    charts.push(new Dygraph(document.getElementById("overlay"), rows(axis, data.runs.map((_, i) => [i, series])),
      options(axis, data.runs.map((run) => run.name + " (" + run.origin + ")"), data.runs.map((_, i) => colour("run" + i)),
        { ylabel: "threads " + series })));

    states.forEach((state) => legendEntry(stateLegend, state, true, state));
    const peak = Math.max(1, ...data.runs.map((_, i) =>
      Math.max(...data[axis].x.map((_, k) => states.reduce((sum, s) => sum + (data[axis].runs[i][s][k] || 0), 0)))));
    data.runs.forEach((run, i) => {
      const title = element("div", "run-title", stacks, run.name + " ");
      element("span", "origin", title, "(" + run.origin + ", " + seconds(run.duration_ns) + ")");
      const box = element("div", "chart", stacks);
      // Dygraphs stacks the last series at the bottom.
      const order = states.slice().reverse();
      charts.push(new Dygraph(box, rows(axis, order.map((s) => [i, s])),
        options(axis, order, order.map(colour), { stackedGraph: true, strokeWidth: 0.6, fillAlpha: 0.85, valueRange: [0, peak * 1.05] })));
    });
  }
  document.getElementById("axis").addEventListener("change", draw);
  document.getElementById("series").addEventListener("change", draw);
  dark.addEventListener("change", draw);
  draw();
})();
