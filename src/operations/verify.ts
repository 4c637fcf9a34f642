import { z } from 'zod';
import { claimIn } from '../pgc/answer/verify.js';
import type { Verdict } from '../pgc/shapes.js';
import { placeOf } from '../pgc/answer/evidence-line.js';
import { line } from '../render/terminal.js';
import { citationInput, citationsMax } from './shapes.js';
import { listing, looks, type Operation, type Reply } from './operation.js';

/** Of the citations that a person gives. */
const bytesMax = 16 * 1024 * 1024;

const nowhere = { file_path: '', line_start: 0, line_end: 0 };
const unjudged = { status: 'false', reason: 'was not judged', now_at: '' } as const;

interface Verified {
  valid: number;
  results: (Verdict & { file_path: string; line_start: number; line_end: number })[];
}

/** Each has a verdict of its own, what is no citation as well. */
const given = z.array(citationInput.or(z.unknown()));
const input = z.strictObject({ citations: given });
const offered = z.strictObject({
  citations: given.min(1).max(citationsMax).describe('Sources of an answer.'),
});

/** `verify_citations`: checked against the files. */
export const verifyCitations: Operation<typeof input> = {
  name: 'verify_citations',
  title: 'Check citations',
  description:
    'Are these citations true? Checked against the files and git only: valid, stale (the file has changed; now_at says where the text is), false, or malformed (no citation; reason says why). Do this before you rely on an answer.',
  input,
  offered,
  output: z.looseObject({
    valid: z.int(),
    results: z.array(
      z.looseObject({
        status: z.enum(['valid', 'stale', 'false', 'malformed']),
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
    help: 'check citations: each is valid, stale, false or malformed',
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
    const claims = citations.map(claimIn);
    const cited = claims.filter((each) => !('status' in each));
    const questions = await bus.questions();
    const { results: judged } =
      cited.length === 0
        ? { results: [] }
        : await questions.verify({ citations: cited }, { deadlineMs, signal });
    const results = claims.map((claim): Verified['results'][number] => {
      if ('status' in claim) return { ...claim, ...nowhere };
      const { file_path, line_start, line_end } = claim;
      const verdict = judged[cited.indexOf(claim)] ?? unjudged;
      return { ...verdict, file_path, line_start, line_end };
    });
    const valid = results.filter(({ status }) => status === 'valid').length;
    const answer = listing<Verified>(
      { valid, results },
      ['results'],
      (value: Verified) =>
        [`${value.valid} of ${results.length} are valid`, ...linesOf(value)].join('\n'),
      { rest: () => 'Give fewer citations at once.' },
    );
    return {
      ...answer,
      document: {
        results: results.map(({ status, reason, now_at }) => ({ status, reason, now_at })),
      },
      screen: (value) =>
        results.length === 0
          ? 'there is no citation: nothing was checked'
          : linesOf(value).join('\n'),
      // Nothing was shown to be true.
      failure: valid < results.length || results.length === 0 ? null : undefined,
    };
  },
};

/** Also what `ask --json` and `lattice query --json` print may be given as it is. */
function citationsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const evidence = (value as { evidence?: unknown } | null)?.evidence;
  return Array.isArray(evidence) ? evidence : [value];
}

function linesOf({ results }: Verified): string[] {
  return results.map(({ status, reason, now_at, ...place }, at) => {
    const now = now_at === '' || status === 'valid' ? '' : `, now at ${now_at}`;
    // What names no lines is where they were found.
    const where = place.line_start > 0 ? placeOf(place) : now_at || place.file_path;
    return line`${status}  ${where || `citation ${at + 1}`}  ${reason}${now}`;
  });
}
