// The page: its form as the program's arguments, results as they come from a worker.

const form = document.getElementById("form");
const element = (id) => document.getElementById(id);
const field = (name) => form.elements[name];
const TYPED = "typed below";

// A worker with the module: planning does not stop the page.
async function started() {
  const packed = Uint8Array.from(atob(element("module").textContent), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const code = element("wasi").textContent + `
    let module;
    onmessage = ({ data }) => {
      if (data.module) { module = data.module; return; }
      try { postMessage({ id: data.id, ...run(module, ["tuwtree", ...data.program], data.input) }); }
      catch (error) { postMessage({ id: data.id, code: 1, output: "", errors: String(error) }); }
    };`;
  const make = () => {
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    worker.postMessage({ module });
    return worker;
  };
  let worker = make(), waiting = new Map(), next = 0;
  const answer = ({ data }) => {
    const resolve = waiting.get(data.id);
    waiting.delete(data.id);
    resolve?.(data);
  };
  worker.onmessage = answer;
  return {
    run: (program, input = "") =>
      new Promise((resolve) => {
        waiting.set(++next, resolve);
        worker.postMessage({ id: next, program, input });
      }),
    // Ends work whose result is not wanted any more.
    stop: () => {
      if (waiting.size === 0) return;
      worker.terminate();
      waiting.clear();
      worker = make();
      worker.onmessage = answer;
    },
  };
}

// Arguments of the program that the form stands for, and its standard input.
function asked() {
  const program = ["optimize", "--op", field("op").value];
  let input = "";
  if (field("blocks").value === "sizes") {
    program.push("--sizes", "-");
    input = field("sizes").value;
  } else {
    for (const [option, name] of [["--dist", "dist"], ["-p", "p"], ["-b", "b"], ["--seed", "seed"]])
      program.push(option, field(name).value.trim());
  }
  if (isRooted()) program.push("--root", field("root").value.trim());
  if (field("machine").value === TYPED)
    for (const name of ["alpha", "overhead", "beta", "gamma"]) {
      if (field(name).value.trim() !== "") program.push(`--${name}`, field(name).value.trim());
    }
  else program.push("--machine", field("machine").value);
  const constructions = field("algorithm").value.split(/[\s,]+/).filter(Boolean);
  if (constructions.length > 0) program.push("--algorithm", constructions.join(","));
  return { program, input };
}

const isRooted = () => ["gather", "scatter"].includes(field("op").value);

function showFields() {
  const shown = {
    dist: field("blocks").value === "dist",
    sizes: field("blocks").value === "sizes",
    typed: field("machine").value === TYPED,
  };
  for (const [name, isShown] of Object.entries(shown))
    for (const one of document.getElementsByClassName(name)) one.hidden = !isShown;
  field("root").closest("label").hidden = !isRooted();
}

// A tree as arrays of C: the parent of each rank, and its children in the order of messages.
function inC(document) {
  const children = document.subtrees, parents = Array(document.ranks).fill(-1);
  children.forEach((own, rank) => own.forEach((child) => { if (child !== rank) parents[child] = rank; }));
  const lists = children.map((own, rank) => own.filter((child) => child !== rank));
  let start = 0;
  const starts = lists.map((own) => { const at = start; start += own.length; return at; }).concat(start);
  const array = (name, values) => `static const int ${name}[] = {${values.join(", ")}};\n`;
  return `/* ${document.ranks} ranks, root ${document.root}; -1: no parent. Children of rank r, in the order of receives in a\n` +
    " * gather: children[first_child[r]] to children[first_child[r + 1] - 1]. */\n" +
    array("parent", parents) + array("first_child", starts) + array("children", lists.flat().concat(lists.flat().length ? [] : [-1]));
}

function link() {
  const state = Object.fromEntries(new FormData(form));
  return `#${new URLSearchParams(state)}`;
}

function restore() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (field(name)) field(name).value = value;
  showFields();
}

async function main() {
  const state = element("state");
  state.textContent = "Starting…";
  const program = await started();
  const names = (text) => text.trim().split("\n").slice(1).map((line) => line.trim().split(/\s+/)[0]).filter(Boolean);
  field("machine").append(new Option(TYPED));
  for (const name of names((await program.run(["machine"])).output)) field("machine").append(new Option(name));
  const refused = (await program.run(["optimize", "--dist", "?"])).errors;
  const distributions = refused.match(/possible values: ([^\]]*)/)?.[1] ?? "same";
  for (const name of distributions.split(",")) field("dist").append(new Option(name.trim()));
  field("dist").value = "spikes";
  field("machine").value = "infiniband";
  restore();

  async function plan() {
    program.stop();
    const { program: words, input } = asked(), began = performance.now();
    state.className = "";
    state.textContent = "Planning…";
    const { code, output, errors } = await program.run([...words, "--report", "-"], input);
    if (code !== 0) {
      state.className = "error";
      state.textContent = errors || `exit code ${code}`;
      element("result").hidden = true;
      return;
    }
    const seconds = (performance.now() - began) / 1000;
    state.textContent = `Planned in ${seconds.toFixed(2)} s.`;
    const quoted = words.map((word) => (/^[\w.,/:-]+$/.test(word) ? word : `'${word}'`));
    element("command").textContent = `tuwtree ${quoted.join(" ")}`;
    element("report").srcdoc = output;
    element("result").hidden = false;
    const plan = await program.run([...words, "-o", "-"], input);
    const isTree = plan.code === 0 && JSON.parse(plan.output).format === "tuwtree-tree";
    element("plan").textContent = isTree ? inC(JSON.parse(plan.output)) : plan.output || plan.errors;
    document.body.dataset.planned = words.join(" ");
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); plan(); });
  form.addEventListener("change", () => { showFields(); history.replaceState(null, "", link()); plan(); });
  element("share").addEventListener("click", () => {
    history.replaceState(null, "", link());
    navigator.clipboard?.writeText(location.href);
  });
  element("copy").addEventListener("click", () => navigator.clipboard?.writeText(element("plan").textContent));
  addEventListener("hashchange", () => { restore(); plan(); });
  await plan();
}

// The page counts as loaded when the first plan is there.
await main().catch((error) => {
  element("state").className = "error";
  element("state").textContent = `This browser cannot run the program: ${error}`;
});
