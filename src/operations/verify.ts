import { z } from 'zod';
import type { Verdict } from '../pgc/shapes.js';
import { placeOf } from '../pgc/answer/evidence-line.js';
import { line } from '../render/terminal.js';
import { citationInput, citationsMax } from './shapes.js';
import { listing, looks, type Operation, type Reply } from './operation.js';

/** Of the citations that a person gives. */
const bytesMax = 16 * 1024 * 1024;

interface Verified {
  valid: number;
  results: (Verdict & { file_path: string; line_start: number; line_end: number })[];
}

const offered = z.strictObject({
  citations: z.array(citationInput).min(1).max(citationsMax).describe('Sources of an answer.'),
});
/** The index says what is wrong with a citation: it reads the files. */
const input = z.strictObject({
  citations: z.array(z.looseObject({}) as unknown as typeof citationInput),
});

/** `verify_citations`: checked against the files. */
export const verifyCitations: Operation<typeof input> = {
  name: 'verify_citations',
  title: 'Check citations',
  description:
    'Are these citations true? Checked against the files and git only: valid, stale (the file has changed; now_at says where the text is) or false. Do this before you rely on an answer.',
  input,
  offered,
  output: z.looseObject({
    valid: z.int(),
    results: z.array(
      z.looseObject({
        status: z.enum(['valid', 'stale', 'false']),
        reason: z.string(),
        now_at: z.string(),
        file_path: z.string(),
        line_start: z.int(),
        line_end: z.int(),
      }),
    ),
  }),
  annotations: looks,
  doing: 'reading the cited lines',
  cli: {
    command: 'verify',
    help: 'check citations: each is valid, stale or false',
    arguments: [
      {
        ...{ field: 'citations', argument: '[file]' },
        help: 'JSON: a citation, an array of citations, or an answer; - reads standard input',
        source: { holds: 'json', bytesMax, what: 'the input' },
      },
    ],
    complete: ({ citations }) => ({ citations: citationsIn(citations) }),
    deadlineMs: 60_000,
    refusal: 'CITATION_MALFORMED',
  },
  async run({ citations }, { bus, deadlineMs, signal }): Promise<Reply<Verified>> {
    const questions = await bus.questions();
    const { results: verdicts } = await questions.verify({ citations }, { deadlineMs, signal });
    const results = citations.map(({ file_path, line_start = 0, line_end = 0 }, at) => ({
      ...(verdicts[at] ?? { status: 'false' as const, reason: 'was not judged', now_at: '' }),
      ...{ file_path, line_start, line_end },
    }));
    const valid = results.filter(({ status }) => status === 'valid').length;
    const answer = listing<Verified>(
      { valid, results },
      ['results'],
      (value: Verified) =>
        [`${value.valid} of ${results.length} are valid`, ...value.results.map(lineOf)].join('\n'),
      { rest: () => 'Give fewer citations at once.' },
    );
    return {
      ...answer,
      document: { results: verdicts },
      screen: ({ results }) => results.map(lineOf).join('\n'),
      failure: valid < results.length ? null : undefined,
    };
  },
};

/** Also what `ask --json` and `lattice query --json` print may be given as it is. */
function citationsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const evidence = (value as { evidence?: unknown } | null)?.evidence;
  return Array.isArray(evidence) ? evidence : [value];
}

function lineOf({ status, reason, now_at, ...place }: Verified['results'][number]): string {
  const now = now_at === '' || status === 'valid' ? '' : `, now at ${now_at}`;
  // What names no lines is where they were found.
  const at = place.line_start > 0 ? placeOf(place) : now_at || place.file_path;
  return line`${status}  ${at}  ${reason}${now}`;
}
