import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SeededRandom } from '../simulation/random.js';
import { DecoderFuzz, fuzzCodecs } from './decoder.js';
import { GrammarFuzz } from './grammar.js';

/** Looks at the memory on the way. */
const samples = 20;

/** Bytes that stay after a collection. */
export function memoryOf(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Growth of a line through the second half of the samples, in bytes a step (least squares). */
export function slopeOf(values: readonly number[]): number {
  const half = values.slice(Math.floor(values.length / 2));
  const meanX = (half.length - 1) / 2;
  const meanY = half.reduce((sum, each) => sum + each, 0) / half.length;
  let top = 0;
  let bottom = 0;
  for (const [x, y] of half.entries()) {
    top += (x - meanX) * (y - meanY);
    bottom += (x - meanX) ** 2;
  }
  return bottom === 0 ? 0 : top / bottom;
}

const usage =
  'usage: npm run campaign:fuzz -- [--seed N] [--frames N] [--bodies N] [--sequences N]';

/** The command line. Resolves with the exit code: 1 when something happened that must not. */
export async function main(argv: string[]): Promise<number> {
  const number = (text: string): { type: 'string'; default: string } => ({
    type: 'string',
    default: text,
  });
  const { values } = parseArgs({
    args: argv,
    options: {
      seed: number('1'),
      frames: number('1000000'),
      bodies: number('20000'),
      sequences: number('100000'),
      help: { type: 'boolean', default: false },
    },
  });
  const say = (value: unknown): void =>
    void process.stdout.write(
      `${typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}\n`,
    );
  if (values.help) {
    say(usage);
    return 0;
  }
  const seed = Number(values.seed);
  const violations: string[] = [];

  const decoder = new DecoderFuzz(new SeededRandom(`decoder ${seed}`));
  await measured('frames', Number(values.frames), say, (count) => decoder.run(count));
  violations.push(...decoder.report.violations);
  say({ decoder: { ...decoder.report, violations: decoder.report.violations.length } });

  const random = new SeededRandom(`bodies ${seed}`);
  await measured('bodies', Number(values.bodies), say, (count) => {
    violations.push(...fuzzCodecs(random, count));
  });

  const grammar = await GrammarFuzz.open(seed);
  await measured('sequences', Number(values.sequences), say, (count) => grammar.run(count));
  await grammar.close();
  violations.push(...grammar.report.violations);
  say({ grammar: { ...grammar.report, violations: grammar.report.violations.length } });

  for (const each of violations) say(`VIOLATION ${each.slice(0, 1_000)}`);
  return violations.length === 0 ? 0 : 1;
}

async function measured(
  what: string,
  count: number,
  say: (value: unknown) => void,
  run: (count: number) => void | Promise<void>,
): Promise<void> {
  const startedMs = performance.now();
  const memory = [memoryOf()];
  for (let sample = 0; sample < samples; sample += 1) {
    await run(Math.ceil(count / samples));
    memory.push(memoryOf());
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  say({
    [what]: count,
    seconds: round(seconds),
    [`${what}PerSecond`]: round(count / seconds),
    memoryMiB: memory.map((bytes) => round(bytes / 2 ** 20)).join(' '),
    [`bytesPer1000${what}`]: round((slopeOf(memory) / (count / samples)) * 1_000),
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
