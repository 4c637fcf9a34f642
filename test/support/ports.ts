import { createServer } from 'node:net';

/** Below the range from which the system takes ports for outgoing connections. */
const lowest = 10_000;
const highest = 32_000;
/** Networks that one test has open at a time. */
const pairsMax = 4;

const free: number[] = [];
while (free.length < pairsMax) {
  const port = lowest + 2 * Math.floor((Math.random() * (highest - lowest)) / 2);
  if ((await isFree(port)) && (await isFree(port + 1))) free.push(port);
}

/** A free port of this machine whose successor is free too; give it back when done. */
export function takePortPair(): { port: number; release: () => void } {
  const port = free.shift();
  if (port === undefined) throw new Error(`more than ${pairsMax} networks are open`);
  return { port, release: () => void free.push(port) };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
