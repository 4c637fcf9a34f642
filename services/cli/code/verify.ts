import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import type { Verdict } from '../../../src/pgc/shapes.js';
import { withQuestions } from '../connect.js';
import { wholeOf } from '../input.js';
import { configOf, withTree, type TreeOptions } from '../options.js';
import { print } from '../output.js';

const deadlineMsDefault = 60_000;
const inputBytesMax = 16 * 1024 * 1024;

export function addVerifyCommand(sigma: Command): void {
  withTree(
    sigma
      .command('verify')
      .argument(
        '[file]',
        'JSON: a citation, an array of citations, or an answer; - reads standard input',
        '-',
      ),
    deadlineMsDefault,
  )
    .description('check citations: each is valid, stale or false')
    .action(async (file: string, options: TreeOptions) => {
      const citations = citationsIn(await readInput(file));
      const results = await withQuestions(configOf(options), options.repo, (questions) =>
        questions.verify(citations, { deadlineMs: options.deadline }),
      );
      print(options, { results }, () => render(citations, results));
      if (results.some((verdict) => verdict.status !== 'valid')) process.exitCode = 1;
    });
}

async function readInput(file: string): Promise<unknown> {
  const bytes = await wholeOf(file, inputBytesMax, 'the input');
  try {
    // Without the mark of the encoding, which some shells write in front.
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new BusError('CITATION_MALFORMED', {
      detail: error instanceof Error ? error.message : 'not JSON',
    });
  }
}

/** Also what `ask --json` and `lattice query --json` print may be given as it is. */
function citationsIn(value: unknown): object[] {
  if (Array.isArray(value)) return value.map(asObject);
  const whole = asObject(value) as { evidence?: unknown };
  return Array.isArray(whole.evidence) ? whole.evidence.map(asObject) : [whole];
}

function asObject(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BusError('CITATION_MALFORMED', {
      detail: `${JSON.stringify(value).slice(0, 60)} is not an object`,
    });
  }
  return value;
}

function render(citations: object[], results: Verdict[]): string {
  return results
    .map((verdict, at) => {
      const cited = citations[at] as { file_path?: string; line_start?: number };
      const now =
        verdict.status === 'valid' || verdict.now_at === '' ? '' : `, now at ${verdict.now_at}`;
      return `${verdict.status.padEnd(5)}  ${cited.file_path ?? '?'}:${cited.line_start ?? '?'}  ${verdict.reason}${now}`;
    })
    .join('\n');
}
