// Where the time of a request goes: CPU profiles of the three processes, summed by part of the program.
import { table } from '../kernel/figures.mjs';
import { sigmaRequests } from './sides.mjs';

const none = '';
const rest = 'Node: event loop, promises, native code';

/** By function and file; first match wins. What is of no part here counts for what called it. */
const parts = [
  // What waits, and the profiler's own start and end, is no cost of a request.
  [none, /^\(idle\)|\/bus\/probe/],
  ['garbage collection', /^\(garbage collector\)/],
  ['checksums', /crc-32|wire\/crc|crc32/],
  ['envelopes (protobuf)', /protobufjs|wire\/generated|wire\/(codec|messages|plain-integers)/],
  ['frames and batches', /src\/wire\/|src\/transport\/outbox/],
  ['sockets (zeromq.js, libzmq, kernel)', /src\/transport\/|\/zeromq\//],
  ['broker', /src\/(broker|machine|store|observe|config)\/|\/services\/|xstate|level\//],
  ['client', /src\/client\//],
  ['the bench itself', /test\/bench\//],
  ['shared code (clock, ids, errors)', /\/dist\/|node_modules/],
  [rest, /^/],
];

/**
 * A table of microseconds per request for each window. How the time is shared out says a profile of the broker
 * as compiled; how much there was says /proc, of the bundle and without a profiler.
 */
export async function profileTables(folder, { bytes, windows, effort }) {
  const shipped = await sigmaRequests(folder, { bytes, name: 'shipped' });
  const profiled = await sigmaRequests(folder, {
    ...{ bytes, name: 'profiled', isBundled: false, probe: 'probe-cpu.mjs' },
  });
  const tables = [];
  for (const window of windows) {
    process.stderr.write(`profile, window ${window}\n`);
    for (const side of [shipped, profiled]) await side.run({ window, ms: effort.warmMs });
    const { cpu } = await shipped.run({ window, ms: effort.profileMs });
    const { probed } = await profiled.probe({ window, ms: effort.profileMs });
    tables.push(partsTable(window, cpu, probed));
  }
  for (const side of [shipped, profiled]) await side.close();
  return tables.join('\n\n');
}

function partsTable(window, cpu, probed) {
  const shares = cpu.map(({ role }) => sharesOf(probed[role].nodes));
  const us = (figures) => figures.map((each) => each.toFixed(2));
  const lines = parts
    .map(([part]) => part)
    .filter((part) => part !== none)
    .map((part) => [
      part,
      ...us(cpu.map(({ mainUs }, at) => mainUs * (shares[at].get(part) ?? 0))),
    ]);
  return table([
    [`window ${window}`, ...cpu.map(({ role }) => role)],
    ...lines,
    ['main thread', ...us(cpu.map(({ mainUs }) => mainUs))],
    ['other threads', ...us(cpu.map(({ othersUs }) => othersUs))],
  ]);
}

/** Of the time that counts, which share each part has. */
function sharesOf(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map();
  let total = 0;
  for (const node of nodes) {
    const part = partOf(node, byId);
    if (part === none) continue;
    times.set(part, (times.get(part) ?? 0) + node.us);
    total += node.us;
  }
  return new Map([...times].map(([part, time]) => [part, time / total]));
}

/** A builtin of Node or V8, `Buffer.concat` for example, is a cost of the part that calls it. */
function partOf(node, byId) {
  for (let at = node; at.functionName !== '(root)'; at = byId.get(at.parent)) {
    const [part] = parts.find(([, pattern]) => pattern.test(`${at.functionName} ${at.url}`));
    if (part !== rest) return part;
  }
  return rest;
}
