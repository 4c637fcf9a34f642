import { parseArgs } from 'node:util';
import { plants, type Plant } from './plants.js';
import { World, type WorldReport } from './world.js';

export interface CampaignReport {
  runs: number;
  failed: number[];
  events: number;
  virtualMs: number;
  counts: Record<string, number>;
}

/** Runs seeds one after the other until the last, or until one fails and `untilFailure`. */
export async function campaign(options: {
  from: number;
  seeds: number;
  plant?: Plant;
  untilFailure: boolean;
  onRun?: (report: WorldReport) => void;
}): Promise<CampaignReport> {
  const { from, seeds, plant, untilFailure, onRun } = options;
  const all: CampaignReport = { runs: 0, failed: [], events: 0, virtualMs: 0, counts: {} };
  for (let seed = from; seed < from + seeds; seed += 1) {
    const report = await new World(seed, plant === undefined ? {} : { plant }).run();
    all.runs += 1;
    all.events += report.events;
    all.virtualMs += report.virtualMs;
    for (const [what, count] of Object.entries({ ...report.counts, ...report.faults }))
      all.counts[what] = (all.counts[what] ?? 0) + count;
    if (report.violation !== undefined) all.failed.push(seed);
    onRun?.(report);
    if (report.violation !== undefined && untilFailure) break;
  }
  return all;
}

const usage = `usage: npm run campaign:simulation -- [--seeds N] [--from N] [--seed N [--verbose]] [--plant ${plants.join('|')}]`;

/** The command line. Resolves with the exit code: 1 when a claim was broken, or a planted bug was not found. */
export async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      plant: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const plant = plants.find((each) => each === values.plant);
  if (values.help || (values.plant !== undefined && plant === undefined)) {
    say(usage);
    return values.help ? 0 : 2;
  }
  if (values.seed !== undefined) {
    const onLine = values.verbose ? say : () => undefined;
    const world = new World(Number(values.seed), { onLine, ...(plant && { plant }) });
    const report = await world.run();
    if (!values.verbose && report.violation !== undefined) report.tail.forEach(say);
    say(JSON.stringify({ ...report, tail: undefined }, undefined, 2));
    return report.violation === undefined ? 0 : 1;
  }
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const report = await campaign({
    from: Number(values.from),
    seeds: Number(values.seeds),
    untilFailure: plant !== undefined,
    ...(plant && { plant }),
    onRun: ({ seed, violation, tail, digest }) => {
      if (violation === undefined || plant !== undefined) return;
      say(`seed ${seed} broke: ${violation}`);
      for (const line of tail.slice(-40)) say(`  ${line}`);
      say(
        `again: npm run campaign:simulation -- --seed ${seed} --verbose   (${digest.slice(0, 12)})`,
      );
    },
  });
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(startedCpu);
  const cpuSeconds = (user + system) / 1_000_000;
  say(
    JSON.stringify(
      {
        ...report,
        virtualHours: report.virtualMs / 3_600_000,
        seconds,
        cpuSeconds,
        rss: process.memoryUsage.rss(),
      },
      undefined,
      2,
    ),
  );
  if (plant === undefined) return report.failed.length === 0 ? 0 : 1;
  const [seed] = report.failed;
  say(
    seed === undefined ? `${plant} was NOT found` : `${plant} was found after ${report.runs} seeds`,
  );
  return seed === undefined ? 1 : 0;
}
