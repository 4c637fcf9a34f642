// What one client feels of others: its latency alone, and while they do what a broker must bear.
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes, table } from '../kernel/figures.mjs';
import { median, milliseconds } from './compare.mjs';
import { ask, endAll, forkScript, residentBytes } from './processes.mjs';
import { sigmaBroker, sigmaSide } from './sides.mjs';

const windows = [1, 16];
const sessions = 1_000;
const crowds = 4;
const largeBytes = 65_536;
const service = 'bench.disturbed';
/** Until a disturbance has filled what it fills. */
const settleMs = 500;

/**
 * `others(address, elsewhere)`: the processes that disturb, at the broker of the client; `elsewhere` is the address of
 * another broker, whose disturbance costs the client only the processor.
 */
const conditions = [
  { name: 'alone', others: () => [] },
  { name: 'a flood, 1 KiB each', others: (address) => flood(address, 1_024) },
  { name: 'a flood, 64 KiB each', others: (address) => flood(address, largeBytes) },
  { name: 'a flood, 64 KiB each, on another bus', others: (_, other) => flood(other, largeBytes) },
  { name: 'a peer that does not read', others: (address) => mute(address, 1_024) },
  { name: `${sessions} idle sessions`, others: idle },
];

/** A table: the latency of the client, and the memory of its broker, by what others do. */
export async function fairnessTables(folder, { bytes, effort }) {
  const elsewhere = await sigmaBroker(path.join(folder, 'elsewhere'));
  const cases = [];
  for (const { name, others } of conditions) {
    const { broker, address } = await sigmaBroker(path.join(folder, `case-${cases.length}`));
    const side = await sigmaSide(name, { broker, address, bytes });
    cases.push({ side, others: await others(address, elsewhere.address), runs: new Map() });
  }
  for (const window of windows) {
    for (let round = 0; round <= effort.runs; round += 1) {
      process.stderr.write(`fairness, window ${window}, round ${round} of ${effort.runs}\n`);
      for (const each of cases) {
        const figures = await disturbed(each, { window, ms: effort.ms });
        // The first warms up.
        if (round > 0) each.runs.set(window, [...(each.runs.get(window) ?? []), figures]);
      }
    }
  }
  for (const { side, others } of cases) {
    await endAll(others.toReversed());
    await side.close();
  }
  await endAll([elsewhere.broker]);
  return resultTable(cases);
}

async function disturbed({ side, others }, load) {
  const switched = others.filter(({ isSwitched }) => isSwitched);
  for (const child of switched) await ask(child, { isOn: true });
  if (switched.length > 0) await wait(settleMs);
  const figures = await side.run(load);
  const brokerBytes = residentBytes(side.pids.broker);
  let floodPerSecond;
  for (const child of switched)
    floodPerSecond = (await ask(child, { isOn: false })).figures?.perSecond;
  return { ...figures, brokerBytes, floodPerSecond };
}

function resultTable(cases) {
  const figureOf = (runs, figure) => median(runs.map((each) => each[figure]));
  const head = ['window', 'while there is', 'p50', 'p99', 'p99 / alone', 'broker', 'flood'];
  const lines = windows.flatMap((window) => {
    const alone = figureOf(cases[0].runs.get(window), 'p99Ms');
    return cases.map(({ side, runs }) => {
      const all = runs.get(window);
      const p99Ms = figureOf(all, 'p99Ms');
      const flooded = figureOf(all, 'floodPerSecond');
      return [
        ...[window, side.name, milliseconds(figureOf(all, 'p50Ms')), milliseconds(p99Ms)],
        (p99Ms / alone).toFixed(1),
        megabytes(Math.max(...all.map(({ brokerBytes }) => brokerBytes))),
        Number.isNaN(flooded) ? '' : `${Math.round(flooded)}/s`,
      ];
    });
  });
  return table([head, ...lines]);
}

async function flood(address, bytes) {
  return [await echo(address), await disturber('sigma-flood.mjs', [address, service, bytes])];
}

async function mute(address, bytes) {
  return [await echo(address), await disturber('sigma-mute.mjs', [address, service, bytes])];
}

function idle(address) {
  return Promise.all(
    Array.from({ length: crowds }, (_, at) =>
      disturber('sigma-idle.mjs', [address, sessions / crowds, at]),
    ),
  );
}

/** What is asked by others is answered by others: the worker of the client is its own. */
function echo(address) {
  return forkScript('sigma-worker.mjs', [address, service, 'bench-disturbed']);
}

async function disturber(script, args) {
  const child = await forkScript(script, args.map(String));
  child.isSwitched = true;
  return child;
}
