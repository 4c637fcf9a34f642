import { z } from 'zod';
import { userName } from '../base/user-name.js';
import { distinctFindings, trendOf } from '../critic/cycle/tracking.js';
import type { ArtifactHistory, CriticRow } from '../critic/review/messages.js';
import { criticLimits, personJudgements, type Critique } from '../critic/shapes.js';
import { askedAs } from '../remote/artifact-place.js';
import { renderHistory } from '../render/critique-history.js';
import { renderRows } from '../render/critique.js';
import { line } from '../render/terminal.js';
import { nameCharsMax } from './shapes.js';
import { acts, forPeople, listing, looks, plain, type Operation, type Reply } from './operation.js';

/** What became of the artifacts that were reviewed. */

const historyInput = z.strictObject({
  path: z
    .string()
    .max(criticLimits.pathChars)
    .optional()
    .describe('The artifact, as it was reviewed, or as it is listed; absent: all that were.'),
});

const showInput = z.strictObject({ id: z.string().max(nameCharsMax) });

const artifactArgument = {
  ...{ field: 'path', argument: '<artifact>' },
  help: 'a file, or a name from `sigma critic list`',
};

/** `critique_history`: scores over the iterations of an artifact. */
export const critiqueHistory: Operation<typeof historyInput> = {
  name: 'critique_history',
  title: 'Reviews of an artifact',
  description:
    'How an artifact fared over its iterations: scores, modes, what was found, whether it may be accepted and who has to decide; without a path all artifacts that were reviewed.',
  input: historyInput,
  output: z.looseObject({
    artifacts: z.array(
      z.looseObject({ artifact: z.string(), iteration: z.int(), score: z.number().nullable() }),
    ),
    state: z.string().describe('Of the one that was asked for: where its cycle stands.'),
    why: z.string(),
    needs_person: z.boolean(),
    iterations: z.array(
      z.looseObject({
        iteration: z.int(),
        score: z.number().nullable(),
        threshold_met: z.boolean(),
      }),
    ),
  }),
  annotations: looks,
  doing: 'asking the critic',
  cli: [
    {
      command: 'critic history',
      help: 'show the iterations of an artifact, their scores and the next step',
      arguments: [artifactArgument],
      asks: 'the critic',
    },
    {
      command: 'critic list',
      help: 'list reviewed artifacts',
      arguments: [],
      asks: 'the critic',
    },
  ],
  async run({ path }, { bus }): Promise<Reply<History> | Reply<Reviewed>> {
    const critic = await bus.critic();
    if (path === undefined) return listed(await critic.list());
    return told(await askedAs(path, bus.folder, (artifact) => critic.history(artifact)), path);
  },
};

const ratifyInput = z.strictObject({
  path: z.string(),
  judgement: z.enum(personJudgements),
  text: z.string().default(''),
  critique: z.string().default(''),
  as: z.string().optional(),
});

/** `critic ratify`: what only a person may decide. */
export const ratify = forPeople({
  input: ratifyInput,
  command: 'critic ratify',
  annotations: acts,
  help: 'decide a review that waits for a person',
  arguments: [artifactArgument],
  flags: {
    judgement: {
      flag: '--judgement <word>',
      help: 'accept, refuse or revise',
      isRequired: true,
    },
    text: { flag: '--text <words>', help: 'why' },
    critique: {
      flag: '--critique <id>',
      help: 'the review that is decided, refused unless it is the last one (default: the last one)',
    },
    as: { flag: '--as <name>', help: 'who decides (default: the user of this machine)' },
  },
  asks: 'the critic',
  async run({ path, as: by = userName(), ...said }, { bus }) {
    const critic = await bus.critic();
    const its = await askedAs(path, bus.folder, (artifact) =>
      critic.ratify({ artifact, by, ...said }),
    );
    return told(its, path);
  },
});

/** `show_critique`: what the modes of one review said, for pages. */
export const showCritique: Operation<typeof showInput> = {
  name: 'show_critique',
  title: 'One review',
  description: 'A review that is over, by its id: what each mode found, and how it was scored.',
  input: showInput,
  output: z.looseObject({ findings: z.array(z.looseObject({})) }),
  annotations: looks,
  doing: 'asking the critic',
  isTool: false,
  async run({ id }, { bus }) {
    const critique = await (await bus.critic()).finished(id);
    const findings = distinctFindings(critique);
    return plain<CritiqueShown>({ critique, findings }, line`${critique.verdict}: ${critique.why}`);
  },
};

export interface CritiqueShown {
  critique: Critique;
  /** Of all modes, worst first; what several say of one line once. */
  findings: ReturnType<typeof distinctFindings>;
}

export type History = ArtifactHistory & { trend: ReturnType<typeof trendOf> };

function told(history: ArtifactHistory, path: string): Reply<History> {
  const { iterations, threshold } = history.tracking;
  const value = { ...history, trend: trendOf(iterations, threshold) };
  return {
    value,
    cut: {
      rows: ({ tracking }) => tracking.iterations.length,
      keep: ({ tracking, ...its }, rows) => ({
        ...its,
        tracking: { ...tracking, iterations: tracking.iterations.slice(0, rows) },
      }),
    },
    total: iterations.length,
    shown: ({ tracking }) => tracking.iterations.length,
    rest: () => 'A larger max_tokens shows more.',
    text: ({ state, why, tracking }) =>
      [`${path}: ${state}${why === '' ? '' : `: ${why}`}`, ...tracking.iterations.map(lineOf)].join(
        '\n',
      ),
    structure: ({ tracking, state, why, needs_person }) => ({
      ...{ artifacts: [], iterations: tracking.iterations, state, why, needs_person },
    }),
    screen: renderHistory,
  };
}

export interface Reviewed {
  artifacts: CriticRow[];
  more: boolean;
}

function listed({ rows, more }: { rows: CriticRow[]; more: boolean }): Reply<Reviewed> {
  return {
    ...listing<Reviewed>(
      { artifacts: rows, more },
      ['artifacts'],
      ({ artifacts }) =>
        artifacts.length === 0 ? 'Nothing was reviewed yet.' : artifacts.map(rowLine).join('\n'),
      { rest: () => 'A larger max_tokens shows more.' },
    ),
    structure: ({ artifacts }) => ({
      ...{ artifacts, iterations: [], state: '', why: '', needs_person: false },
    }),
    screen: ({ artifacts }) => renderRows(artifacts, more),
  };
}

function rowLine({ artifact, iteration, score, threshold, state }: CriticRow): string {
  const scored = score === null ? 'no score' : `${score.toFixed(3)} of ${threshold}`;
  return `${artifact}: ${state}, iteration ${iteration}, ${scored}`;
}

function lineOf(its: ArtifactHistory['tracking']['iterations'][number]): string {
  const { iteration, score, improvement_delta: delta, modes_applied: modes, flags } = its;
  const change = delta === null ? '' : ` (${delta < 0 ? '' : '+'}${delta.toFixed(3)})`;
  const codes = flags.map(({ code }) => ` ${code}`).join('');
  return `${iteration}: ${score === null ? 'not scored' : score.toFixed(3)}${change} ${modes.join(', ')}${codes}`;
}
