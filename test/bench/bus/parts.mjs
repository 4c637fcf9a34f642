// Where the time of a request goes: CPU profiles of the three processes, summed by part of the program.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sigmaRequests } from './sides.mjs';

const intervalUs = 250;

/** First match wins. What runs before the load, and what waits, is no cost of a request. */
const parts = [
  ['', /^\((idle|root)\)|node:internal\/(modules|bootstrap|main)|compile|\/(commander|pino|zod)\//],
  ['garbage collection', /^\(garbage collector\)/],
  ['checksums', /crc-32|wire\/crc|crc32/],
  ['envelopes (protobuf)', /protobufjs|wire\/generated|wire\/codec/],
  ['frames and batches', /src\/wire\/|src\/transport\/outbox/],
  ['sockets (zeromq.js, libzmq, kernel)', /src\/transport\/|\/zeromq\//],
  ['broker', /src\/broker\/|src\/machine\/|xstate/],
  ['client', /src\/client\/|src\/base\//],
  ['the bench itself', /test\/bench\//],
  ['Node: buffers, promises, event loop', /^/],
];

/**
 * `[{ part, requester, broker, worker }]`, in microseconds of the main threads per request; a profile
 * says how time is shared out, /proc how much there was.
 */
export async function measureParts(folder, load) {
  const profiles = path.join(folder, 'profiles');
  mkdirSync(profiles);
  const execArgv = [
    '--cpu-prof',
    `--cpu-prof-dir=${profiles}`,
    `--cpu-prof-interval=${intervalUs}`,
  ];
  const side = await sigmaRequests(folder, { execArgv });
  const { cpu } = await side.run(load);
  await side.close();
  const shares = {};
  for (const file of readdirSync(profiles)) {
    // CPU.<date>.<time>.<pid>.<thread>.<sequence>.cpuprofile; thread 0 is the main thread.
    const [, , , pid, thread] = file.split('.').map(Number);
    if (thread !== 0) continue;
    const role = Object.keys(side.pids).find((each) => side.pids[each] === pid);
    if (role !== undefined) shares[role] = sharesOf(path.join(profiles, file));
  }
  return parts
    .map(([part]) => part)
    .filter((part) => part !== '')
    .map((part) => {
      const us = ({ role, mainUs }) => [role, mainUs * (shares[role]?.get(part) ?? 0)];
      return { part, ...Object.fromEntries(cpu.map(us)) };
    });
}

/** Of the time that counts, which share each part has. */
function sharesOf(file) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const partOf = new Map(nodes.map(({ id, callFrame }) => [id, partCalled(callFrame)]));
  const times = new Map();
  for (const [at, node] of samples.entries()) {
    const part = partOf.get(node);
    if (part !== '') times.set(part, (times.get(part) ?? 0) + timeDeltas[at]);
  }
  const total = [...times.values()].reduce((sum, each) => sum + each, 0);
  return new Map([...times].map(([part, time]) => [part, time / total]));
}

function partCalled({ functionName, url }) {
  return parts.find(([, pattern]) => pattern.test(`${functionName} ${url}`))[0];
}
