// By `--import`: a CPU profile of this process, as `{ nodes: [{ id, parent, functionName, url, us }] }`.
import { Session } from 'node:inspector/promises';
import { serveProbe } from './probe.mjs';

const intervalUs = 250;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: intervalUs });

serveProbe({
  start: () => session.post('Profiler.start'),
  async end() {
    const { profile } = await session.post('Profiler.stop');
    const us = new Map();
    for (const [at, node] of profile.samples.entries())
      us.set(node, (us.get(node) ?? 0) + profile.timeDeltas[at]);
    const parents = new Map();
    for (const { id, children = [] } of profile.nodes)
      for (const child of children) parents.set(child, id);
    const nodes = profile.nodes.map(({ id, callFrame: { functionName, url } }) => {
      return { id, parent: parents.get(id), functionName, url, us: us.get(id) ?? 0 };
    });
    return { nodes };
  },
});
