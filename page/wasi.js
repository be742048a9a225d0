// The part of WASI (preview 1) that the program calls: arguments, standard input, output and error, a clock, and random
// numbers; no files. A run is one instance of the module.

class Exit extends Error {
  constructor(code) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

// Runs the module with these arguments and this standard input. Exit code, standard output and standard error.
function run(module, program, input) {
  const BAD_DESCRIPTOR = 8, NOT_THERE = 44, NOT_SUPPORTED = 58;
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const words = program.map((word) => encoder.encode(word + "\0"));
  const written = [[], []];
  let rest = encoder.encode(input), memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const number = (at, value) => view().setUint32(at, value, true);
  // The vectors of a read or write, each as memory.
  const vectors = (at, count) =>
    Array.from({ length: count }, (_, one) =>
      bytes(view().getUint32(at + 8 * one, true), view().getUint32(at + 8 * one + 4, true)));
  const list = (table, at, texts) => {
    for (const text of texts) {
      number(table, at);
      bytes(at, text.length).set(text);
      table += 4;
      at += text.length;
    }
    return 0;
  };
  const sizes = (count, length, texts) => {
    number(count, texts.length);
    number(length, texts.reduce((sum, text) => sum + text.length, 0));
    return 0;
  };
  const calls = {
    args_get: (table, at) => list(table, at, words),
    args_sizes_get: (count, length) => sizes(count, length, words),
    environ_get: () => 0,
    environ_sizes_get: (count, length) => sizes(count, length, []),
    clock_time_get: (clock, _precision, at) => {
      const time = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(time * 1e6)), true);
      return 0;
    },
    random_get: (at, length) => {
      crypto.getRandomValues(bytes(at, length));
      return 0;
    },
    fd_write: (descriptor, at, count, result) => {
      if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
      let sum = 0;
      for (const vector of vectors(at, count)) {
        written[descriptor - 1].push(vector.slice());
        sum += vector.length;
      }
      number(result, sum);
      return 0;
    },
    fd_read: (descriptor, at, count, result) => {
      if (descriptor !== 0) return BAD_DESCRIPTOR;
      let sum = 0;
      for (const vector of vectors(at, count)) {
        const part = rest.subarray(0, vector.length);
        vector.set(part);
        rest = rest.subarray(part.length);
        sum += part.length;
      }
      number(result, sum);
      return 0;
    },
    // A character device, so that nothing is sought in it.
    fd_fdstat_get: (descriptor, at) => {
      if (descriptor > 2) return BAD_DESCRIPTOR;
      bytes(at, 24).fill(0);
      view().setUint8(at, 2);
      return 0;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    fd_close: () => 0,
    path_open: () => NOT_THERE,
    path_filestat_get: () => NOT_THERE,
    sched_yield: () => 0,
    proc_exit: (code) => {
      throw new Exit(code);
    },
  };
  const imports = {};
  for (const { name } of WebAssembly.Module.imports(module)) imports[name] = calls[name] ?? (() => NOT_SUPPORTED);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  memory = instance.exports.memory;
  let code = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  const text = (parts) => parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  return { code, output: text(written[0]), errors: text(written[1]) };
}
