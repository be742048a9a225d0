// The page's controls and timelines. The trees are pictures already; timelines are drawn here, on
// canvases, because there may be tens of thousands of bars. All timelines share one axis of time.
"use strict";
(() => {
  const AXIS = 22; // pixels above the rows
  const GUTTER = 64; // pixels left of the bars
  const RIGHT = 12; // pixels right of the bars
  const TALLEST_ROW = 24;
  const LARGEST_ZOOM = 10000;
  const KINDS = { s: "send", r: "receive", x: "exchange", c: "copy", m: "combine", w: "wait", l: "latency", g: "shared" };

  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element("data").textContent);
  const view = { zoom: 1, position: 0, rows: 0 };

  // A timeline: bars in columns, those of row r at first[r] to first[r + 1]. A bar on the critical
  // path has a capital letter for its kind.
  const timelines = data.timelines.map((bars, index) => {
    const article = element(`candidate-${index}`);
    const scroller = article.querySelector(".timeline");
    const first = [0];
    for (const count of bars.counts) first.push(first[first.length - 1] + count);
    return {
      bars, first, article, scroller, drawn: 0,
      rows: bars.counts.length,
      canvas: scroller.querySelector("canvas"),
      spacer: scroller.querySelector(".rows"),
    };
  });
  // When the last of the timelines that are shown ends.
  let end = 0;

  const number = (value) =>
    Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
  // A time, of seconds with a prefix that suits it.
  function inUnit(value) {
    if (!data.in_seconds || value === 0) return number(value);
    const units = [[1, "s"], [1e3, "ms"], [1e6, "µs"], [1e9, "ns"]];
    const [scale, name] = units.find(([scale]) => value * scale >= 0.99995) || units[3];
    return `${Number((value * scale).toPrecision(4))} ${name}`;
  }
  const plotWidth = (timeline) => Math.max(timeline.canvas.clientWidth - GUTTER - RIGHT, 50);
  const span = () => (end > 0 ? end : 1) / view.zoom;
  const startTime = () => view.position * Math.max((end > 0 ? end : 1) - span(), 0);
  const rowsHeight = (timeline) => Math.max(timeline.scroller.clientHeight - AXIS - 4, 50);

  // From all rows at once to the tallest, in equal ratios.
  function rowHeight(timeline) {
    const least = Math.min(rowsHeight(timeline) / timeline.rows, TALLEST_ROW);
    return least * Math.pow(TALLEST_ROW / least, view.rows);
  }

  function rowName(timeline, row) {
    const { starts, ranks } = timeline.bars;
    if (!starts) return String(row);
    const last = (row + 1 < starts.length ? starts[row + 1] : ranks) - 1;
    return last > starts[row] ? `${starts[row]} to ${last}` : String(last);
  }

  function roundStep(least) {
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999999);
  }

  function drawAxis(context, timeline, colours, width, height) {
    const scale = plotWidth(timeline) / span();
    const step = roundStep(90 / scale);
    context.textBaseline = "middle";
    context.textAlign = "center";
    const from = startTime();
    for (let tick = Math.ceil(from / step - 1e-9); tick * step <= (from + span()) * (1 + 1e-12); tick++) {
      const x = GUTTER + (tick * step - from) * scale;
      context.fillStyle = colours.line;
      context.fillRect(x, AXIS - 5, 1, height - AXIS + 5);
      context.fillStyle = colours.faint;
      const label = inUnit(Number((tick * step).toPrecision(12)));
      const half = context.measureText(label).width / 2;
      context.fillText(label, Math.min(x, width - half - 2), AXIS / 2 - 1);
    }
  }

  function visibleRows(timeline, height) {
    const top = timeline.scroller.scrollTop / rowHeight(timeline);
    const count = (height - AXIS) / rowHeight(timeline);
    return [Math.max(Math.floor(top), 0), Math.min(Math.ceil(top + count), timeline.rows)];
  }

  function drawNames(context, timeline, colours, [from, to]) {
    const tall = rowHeight(timeline);
    const every = Math.max(roundStep(13 / tall), 1);
    context.fillStyle = colours.faint;
    context.textAlign = "right";
    for (let row = from - (from % every); row < to; row += every) {
      const y = AXIS + (row + 0.5) * tall - timeline.scroller.scrollTop;
      if (y >= AXIS + 4) context.fillText(rowName(timeline, row), GUTTER - 6, y, GUTTER - 8);
    }
  }

  function isThin(kind) {
    return kind === "wait" || kind === "latency";
  }

  // Draws the bars of one layer, waits lowest, and returns how many they were.
  function drawBars(context, timeline, colours, [from, to], layer) {
    const { kinds, from: starts, to: ends, bytes } = timeline.bars;
    const tall = rowHeight(timeline);
    const scale = plotWidth(timeline) / span();
    const left = startTime();
    const right = left + span();
    const ports = timeline.bars.ports;
    let drawn = 0;
    for (let row = from; row < to; row++) {
      const top = AXIS + row * tall - timeline.scroller.scrollTop;
      for (let bar = timeline.first[row]; bar < timeline.first[row + 1]; bar++) {
        if (ends[bar] < left || starts[bar] > right) continue;
        const letter = kinds[bar];
        const kind = KINDS[letter.toLowerCase()];
        const isCritical = letter !== letter.toLowerCase();
        if (isThin(kind) !== (layer === "waits") || (layer === "critical" && !isCritical)) continue;
        const x1 = GUTTER + Math.max(starts[bar] - left, 0) * scale;
        const x2 = GUTTER + Math.min(ends[bar] - left, span()) * scale;
        const gap = tall >= 6 ? 1 : 0;
        const lane = (tall - 2 * gap) / ports;
        const y = top + gap + lane * (timeline.bars.port ? timeline.bars.port[bar] : 0);
        let high = Math.max(lane, 1);
        if (layer === "critical") {
          context.fillStyle = colours.critical;
          context.fillRect(x1, y + Math.max(high - 3, 0), Math.max(x2 - x1, 1), Math.min(high, 3));
        } else {
          context.fillStyle = colours[kind];
          context.globalAlpha = kind === "shared" ? 0.1 + 0.08 * bytes[bar] : 1;
          const thin = kind === "latency" ? 1 : 2;
          const has = isThin(kind) && high > 3;
          context.fillRect(x1, has ? y + (high - thin) / 2 : y, Math.max(x2 - x1, 0.7), has ? thin : high);
          context.globalAlpha = 1;
        }
        drawn++;
      }
    }
    return drawn;
  }

  function coloursOfPage() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ink", "faint", "line", "critical", ...Object.values(KINDS)];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  function draw(timeline) {
    const { canvas, scroller } = timeline;
    if (timeline.article.hidden || scroller.clientWidth === 0) return;
    const sharp = devicePixelRatio || 1;
    const width = scroller.clientWidth;
    const height = scroller.clientHeight;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    // The canvas stays in place while an empty box of all rows' height scrolls.
    timeline.spacer.style.height = `${Math.max(rowHeight(timeline) * timeline.rows + AXIS + 4 - height, 0)}px`;
    const context = canvas.getContext("2d");
    context.scale(sharp, sharp);
    context.font = "12px 'DejaVu Sans', Verdana, Arial, sans-serif";
    const colours = coloursOfPage();
    drawAxis(context, timeline, colours, width, height);
    const rows = visibleRows(timeline, height);
    drawNames(context, timeline, colours, rows);
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, width, height);
    context.clip();
    timeline.drawn = 0;
    for (const layer of ["waits", "bars", "critical"]) {
      timeline.drawn += drawBars(context, timeline, colours, rows, layer);
    }
    context.restore();
    drawBound(context, timeline, colours, height);
  }

  // No schedule ends before the lower bound: a dashed line where it is.
  function drawBound(context, timeline, colours, height) {
    const x = GUTTER + ((data.bound - startTime()) / span()) * plotWidth(timeline);
    if (data.bound <= 0 || x < GUTTER) return;
    context.strokeStyle = colours.ink;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, height);
    context.stroke();
    context.setLineDash([]);
  }

  function drawAll() {
    timelines.forEach(draw);
  }

  // Trees are taller than their frames: their roots are what people want to see first.
  function showRoots() {
    for (const { article } of timelines) {
      const frame = article.querySelector(".tree");
      for (const root of frame.querySelectorAll(".root")) {
        const place = root.getBoundingClientRect();
        if (place.height === 0) continue;
        const area = frame.getBoundingClientRect();
        frame.scrollTop += place.top - area.top - frame.clientHeight / 2;
      }
    }
  }

  // What a bar is, in words.
  function story(timeline, row, bar) {
    const { kinds, from, to, bytes, peers } = timeline.bars;
    const kind = KINDS[kinds[bar].toLowerCase()];
    const when = `${inUnit(from[bar])} to ${inUnit(to[bar])}`;
    const name = rowName(timeline, row);
    if (kind === "shared") return `ranks ${name}: up to ${10 * bytes[bar]} % busy, ${when}`;
    const peer = peers[bar] < 0 ? "" : { send: " to ", receive: " from ", exchange: " with ", wait: " for ", latency: " of the message with " }[kind] + peers[bar];
    const size = kind === "wait" ? "" : `, ${bytes[bar]} bytes`;
    const critical = kinds[bar] === kinds[bar].toLowerCase() ? "" : ", on the critical path";
    return `rank ${name}: ${kind}${peer}${size}, ${when}${critical}`;
  }

  // The bar next to a point, actions before waits; null where there is none near.
  function barAt(timeline, x, y) {
    if (x < GUTTER || y < AXIS) return null;
    const tall = rowHeight(timeline);
    const reach = tall < 4 ? 3 : 0;
    const place = y - AXIS + timeline.scroller.scrollTop;
    const time = startTime() + ((x - GUTTER) / plotWidth(timeline)) * span();
    const slack = (2 / plotWidth(timeline)) * span();
    const { kinds, from, to } = timeline.bars;
    let best = null;
    const last = Math.min(Math.floor((place + reach) / tall), timeline.rows - 1);
    for (let row = Math.max(Math.floor((place - reach) / tall), 0); row <= last; row++) {
      for (let bar = timeline.first[row]; bar < timeline.first[row + 1]; bar++) {
        if (time < from[bar] - slack || time > to[bar] + slack) continue;
        const outside = time < from[bar] || time > to[bar] ? tall + 10 : 0;
        const waiting = isThin(KINDS[kinds[bar].toLowerCase()]) ? 1000 : 0;
        const distance = Math.abs((row + 0.5) * tall - place) + outside + waiting;
        if (!best || distance < best.distance) best = { row, bar, distance };
      }
    }
    return best;
  }

  function showTip(timeline, event) {
    const tip = element("tip");
    const area = timeline.canvas.getBoundingClientRect();
    const found = barAt(timeline, event.clientX - area.left, event.clientY - area.top);
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = story(timeline, found.row, found.bar);
    tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
    tip.style.top = `${Math.max(Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8), 0)}px`;
  }

  function readControls() {
    view.zoom = Math.pow(LARGEST_ZOOM, element("zoom").value / 100);
    view.position = element("position").value / 1000;
    view.rows = element("height").value / 100;
    const detail = element("detail").value;
    for (const level of [0, 1, 2]) document.body.classList.toggle(`detail-${level}`, String(level) === detail);
    for (const { value } of element("colours").options) {
      document.body.classList.toggle(`by-${value}`, value === element("colours").value);
    }
    document.documentElement.style.setProperty("--tree-size", `${element("size").value}%`);
    for (const box of document.getElementsByName("shown")) {
      timelines[Number(box.value)].article.hidden = !box.checked;
    }
    end = Math.max(0, ...timelines.filter(({ article }) => !article.hidden).map(({ bars }) => bars.end));
    const text = {
      zoom: `${number(Number(view.zoom.toPrecision(3)))} ×`,
      position: `from ${inUnit(Number(startTime().toPrecision(4)))}`,
      height: view.rows === 0 ? "all rows" : `${Math.round(element("height").value)} %`,
      size: `${element("size").value} %`,
      detail: `up to ${data.detail[Number(detail)]} rows`,
    };
    for (const [name, value] of Object.entries(text)) {
      element(`${name}-text`).textContent = value;
      element(name).setAttribute("aria-valuetext", value);
    }
    drawAll();
  }

  // Moves a control as if its user had.
  function move(id, by) {
    const control = element(id);
    control.value = Number(control.value) + by;
    readControls();
  }

  function onKey(event) {
    const step = Math.max(Math.round(200 / view.zoom), 1);
    const moves = { ArrowLeft: ["position", -step], ArrowRight: ["position", step], "+": ["zoom", 5], "-": ["zoom", -5] };
    const wanted = moves[event.key];
    if (!wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(...wanted);
  }

  // The wheel zooms at the pointer if Ctrl is held, as maps do.
  function onWheel(timeline, event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const area = timeline.canvas.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - area.left - GUTTER) / plotWidth(timeline), 0), 1);
    const time = startTime() + share * span();
    const zoom = element("zoom");
    zoom.value = Number(zoom.value) - Math.sign(event.deltaY) * 4;
    view.zoom = Math.pow(LARGEST_ZOOM, zoom.value / 100);
    const free = (end > 0 ? end : 1) - span();
    element("position").value = free > 0 ? (1000 * (time - share * span())) / free : 0;
    readControls();
  }

  for (const timeline of timelines) {
    timeline.scroller.addEventListener("scroll", () => draw(timeline));
    timeline.scroller.addEventListener("keydown", onKey);
    timeline.canvas.addEventListener("wheel", (event) => onWheel(timeline, event), { passive: false });
    timeline.canvas.addEventListener("pointermove", (event) => showTip(timeline, event));
    timeline.canvas.addEventListener("pointerleave", () => { element("tip").hidden = true; });
    new ResizeObserver(() => draw(timeline)).observe(timeline.scroller);
  }
  element("controls").addEventListener("input", (event) => {
    readControls();
    if (["detail", "size"].includes(event.target.id)) showRoots();
  });
  element("controls").addEventListener("submit", (event) => event.preventDefault());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  for (const timeline of timelines) {
    const needed = timeline.rows * TALLEST_ROW + AXIS + 6;
    if (needed < timeline.scroller.clientHeight) timeline.scroller.style.height = `${needed}px`;
  }
  readControls();
  showRoots();
  const drawn = timelines.reduce((sum, timeline) => sum + timeline.drawn, 0);
  document.documentElement.dataset.ready = String(drawn);
})();
