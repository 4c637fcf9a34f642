import { parseArgs } from 'node:util';
import { machines } from './machines.js';
import { crashPoints, plants, Trial, type CrashPoint, type Plant, type Report } from './trial.js';

export interface Row {
  machine: string;
  point: CrashPoint;
  seeds: number;
  strikes: number;
  lost: number;
  doubled: number;
  early: number;
  /** Effects that were performed once more, under the same id. */
  again: number;
  /** The first fault of each seed that has one. */
  faults: string[];
}

export const faultsOf = ({ lost, doubled, early }: Report): string[] => [
  ...lost.map((what) => `lost: ${what}`),
  ...doubled.map((what) => `doubled: ${what}`),
  ...early.map((what) => `not on disk before: ${what}`),
];

/** Every machine at every crash point. */
export async function campaign(options: {
  from: number;
  seeds: number;
  plant?: Plant;
  machine?: string;
}): Promise<Row[]> {
  const { from, seeds, plant, machine } = options;
  const rows: Row[] = [];
  for (const make of machines.filter((each) => [undefined, each().name].includes(machine)))
    for (const point of crashPoints) {
      const row: Row = {
        ...{ machine: make().name, point, seeds, strikes: 0, lost: 0, doubled: 0 },
        ...{ early: 0, again: 0, faults: [] },
      };
      for (let seed = from; seed < from + seeds; seed += 1) {
        const report = await new Trial(make(), point, seed, plant).run();
        row.strikes += report.strikes;
        row.lost += report.lost.length;
        row.doubled += report.doubled.length;
        row.early += report.early.length;
        row.again += report.again;
        const [first] = faultsOf(report);
        if (first !== undefined)
          row.faults.push(`${row.machine}, ${point}, seed ${seed}: ${first}`);
      }
      rows.push(row);
    }
  return rows;
}

/** The first seed that finds a planted fault in a machine; undefined: none of so many does. */
export async function seedThatFinds(
  plant: Plant,
  make: (typeof machines)[number],
  seeds: number,
): Promise<number | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1)
    for (const point of crashPoints)
      if (faultsOf(await new Trial(make(), point, seed, plant).run()).length > 0) return seed;
  return undefined;
}

const usage =
  'usage: npm run campaign:durable -- [--seeds N] [--from N] [--machine NAME] [--plants]';

/** The command line. Resolves with the exit code: 1 when something was lost or doubled, or a planted fault was not found. */
export async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seeds: { type: 'string', default: '200' },
      from: { type: 'string', default: '1' },
      machine: { type: 'string' },
      plants: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  if (values.help) return (say(usage), 0);
  const seeds = Number(values.seeds);
  if (values.plants) {
    let missed = 0;
    for (const plant of plants)
      for (const make of machines) {
        const seed = await seedThatFinds(plant, make, seeds);
        say(`${make().name}, ${plant}: ${seed === undefined ? 'NOT found' : `seed ${seed}`}`);
        if (seed === undefined) missed += 1;
      }
    return missed === 0 ? 0 : 1;
  }
  const rows = await campaign({
    ...{ from: Number(values.from), seeds },
    ...(values.machine !== undefined && { machine: values.machine }),
  });
  say('| machine | crash point | seeds | struck | lost | doubled | early | performed again |');
  say('|---|---|---|---|---|---|---|---|');
  for (const { machine, point, strikes, lost, doubled, early, again } of rows)
    say(`| ${[machine, point, seeds, strikes, lost, doubled, early, again].join(' | ')} |`);
  const faults = rows.flatMap((row) => row.faults);
  faults.slice(0, 40).forEach(say);
  return faults.length === 0 ? 0 : 1;
}
