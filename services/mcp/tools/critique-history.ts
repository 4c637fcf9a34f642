import { z } from 'zod';
import type { ArtifactHistory, CriticRow } from '../../../src/critic/review/messages.js';
import { criticLimits } from '../../../src/critic/shapes.js';
import { askedAs } from '../../../src/remote/artifact-place.js';
import { RemoteCritic } from '../../../src/remote/critic.js';
import type { Bus } from '../bus.js';
import { listing, looks, type Operation } from '../../../src/operations/operation.js';

const historyInput = z.strictObject({
  path: z
    .string()
    .max(criticLimits.pathChars)
    .optional()
    .describe('The artifact, as it was reviewed, or as it is listed; absent: all that were.'),
});

const historyOutput = z.looseObject({
  artifacts: z.array(
    z.looseObject({ artifact: z.string(), iteration: z.int(), score: z.number().nullable() }),
  ),
  state: z.string().describe('Of the one that was asked for: where its cycle stands.'),
  why: z.string(),
  needs_person: z.boolean(),
  iterations: z.array(
    z.looseObject({ iteration: z.int(), score: z.number().nullable(), threshold_met: z.boolean() }),
  ),
});

type HistoryAnswer = {
  artifacts: CriticRow[];
  iterations: ArtifactHistory['tracking']['iterations'];
} & Pick<ArtifactHistory, 'state' | 'why' | 'needs_person'>;

/** `critique_history`: scores over the iterations of an artifact. */
export const critiqueHistory: Operation<typeof historyInput, Bus> = {
  name: 'critique_history',
  title: 'Reviews of an artifact',
  description:
    'How an artifact fared over its iterations: scores, modes, what was found, whether it may be accepted and who has to decide; without a path all artifacts that were reviewed.',
  input: historyInput,
  output: historyOutput,
  annotations: looks,
  doing: 'asking the critic',
  async run({ path }, { bus }) {
    const critic = new RemoteCritic(await bus.client());
    const value: HistoryAnswer =
      path === undefined
        ? { artifacts: (await critic.list()).rows, iterations: [], ...nothingAsked }
        : historyOf(await askedAs(path, bus.folder, (artifact) => critic.history(artifact)));
    const key = path === undefined ? 'artifacts' : 'iterations';
    return listing<HistoryAnswer>(
      value,
      [key],
      (part: HistoryAnswer) =>
        path === undefined ? listed(part.artifacts) : toldHistory(path, part),
      { rest: () => 'A larger max_tokens shows more.' },
    );
  },
};

const nothingAsked = { state: '', why: '', needs_person: false };

const historyOf = ({ tracking, state, why, needs_person }: ArtifactHistory): HistoryAnswer => ({
  artifacts: [],
  iterations: tracking.iterations,
  state,
  why,
  needs_person,
});

function listed(rows: readonly CriticRow[]): string {
  if (rows.length === 0) return 'Nothing was reviewed yet.';
  return rows
    .map(
      ({ artifact, iteration, score, threshold, state }) =>
        `${artifact}: ${state}, iteration ${iteration}, ${score === null ? 'no score' : `${score.toFixed(3)} of ${threshold}`}`,
    )
    .join('\n');
}

function toldHistory(path: string, { state, why, iterations }: HistoryAnswer): string {
  const rows = iterations.map(
    ({ iteration, score, improvement_delta: delta, modes_applied: modes, flags }) =>
      `${iteration}: ${score === null ? 'not scored' : score.toFixed(3)}${delta === null ? '' : ` (${delta < 0 ? '' : '+'}${delta.toFixed(3)})`} ${modes.join(', ')}${flags.map(({ code }) => ` ${code}`).join('')}`,
  );
  return [`${path}: ${state}${why === '' ? '' : `: ${why}`}`, ...rows].join('\n');
}
