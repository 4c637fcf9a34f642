import { z } from 'zod';
import type { Verdict } from '../pgc/shapes.js';
import { placeOf } from '../pgc/answer/evidence-line.js';
import { line } from '../render/terminal.js';
import { citationInput, citationsMax } from './shapes.js';
import { listing, looks, type Operation } from './operation.js';

interface Verified {
  valid: number;
  results: (Verdict & { file_path: string; line_start: number; line_end: number })[];
}

const input = z.strictObject({
  citations: z.array(citationInput).min(1).max(citationsMax).describe('Sources of an answer.'),
});

/** `verify_citations`: checked against the files. */
export const verifyCitations: Operation<typeof input> = {
  name: 'verify_citations',
  title: 'Check citations',
  description:
    'Are these citations true? Checked against the files and git only: valid, stale (the file has changed; now_at says where the text is) or false. Do this before you rely on an answer.',
  input,
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
  async run({ citations }, { bus, deadlineMs, signal }) {
    const verdicts = await (await bus.questions()).verify(citations, { deadlineMs, signal });
    const results = citations.map(({ file_path, line_start, line_end }, at) => ({
      ...(verdicts[at] ?? { status: 'false' as const, reason: 'was not judged', now_at: '' }),
      ...{ file_path, line_start, line_end },
    }));
    const valid = results.filter(({ status }) => status === 'valid').length;
    return listing<Verified>(
      { valid, results },
      ['results'],
      (value: Verified) =>
        [
          `${value.valid} of ${results.length} are valid`,
          ...value.results.map(
            (each) =>
              line`${each.status} ${placeOf(each)} ${each.reason}${each.now_at === '' || each.status === 'valid' ? '' : `, now at ${each.now_at}`}`,
          ),
        ].join('\n'),
      { rest: () => 'Give fewer citations at once.' },
    );
  },
};
