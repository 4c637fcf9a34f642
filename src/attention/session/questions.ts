import type { SessionRecord } from './session-record.js';
import {
  dutyOf,
  protocols,
  sessionLimits,
  type Draft,
  type Option,
  type Question,
  type QuestionKind,
  type Row,
} from './shapes.js';

const linesMax = 12;
const lineChars = 100;

/** What a person is asked in a state; undefined: nothing. Each option is one of the protocol's own (rules 20 and 21). */
export function questionAt(state: string, record: SessionRecord): Question | undefined {
  const kind = kindAt(state, record);
  if (kind === undefined) return undefined;
  return { number: record.questions, kind, ...askers[kind](record) };
}

function kindAt(state: string, { route, checkpoint }: SessionRecord): QuestionKind | undefined {
  switch (state) {
    case 'routing':
      return 'upstream';
    case 'suspended':
      return 'restore';
    case 'confirming':
      return route === 'conflict' || route === 'confirm_boundary' ? route : 'confirm';
    case 'teaming':
      return 'team';
    case 'casting':
      return 'augment';
    case 'planning':
      return checkpoint === 'plan' ? 'plan' : 'classification';
    default:
      return undefined;
  }
}

type Asked = Pick<Question, 'text' | 'options'>;

const option = (choice: string, means: string, needs = ''): Option => ({ choice, means, needs });
const withdraw = option('withdraw', 'end the session and whatever it has begun');

const confirming = (what: string, drafts: readonly Draft[]): Asked => ({
  text: [`${what} Is this what is to be done?`, ...taskLines(drafts)].join('\n'),
  options: [
    option('confirm', 'these tasks'),
    option('replace', 'other tasks instead', 'tasks as a JSON array, or a list in words'),
    option('cancel', 'nothing is done'),
  ],
});

const askers: Readonly<Record<QuestionKind, (record: SessionRecord) => Asked>> = {
  upstream: ({ deficits, resolved, snapshot }) => {
    const first = deficits[0]?.protocol ?? 'clarify';
    const others = protocols.filter((each) => !resolved.includes(each)).join(', ');
    const left = sessionLimits.rounds - snapshot.context.rounds;
    return {
      text: [
        'Something is missing that the work depends on. How shall it be resolved?',
        ...deficits.map(
          ({ protocol, deficit, evidence, origin }) =>
            `  /${protocol} ${deficit}, ${origin}: ${evidence}`,
        ),
      ].join('\n'),
      options: [
        option(
          'route',
          `by /${first} (recommended) or another one of the list: ${dutyOf[first]}; ${left} more can be routed`,
        ),
        option('other', 'by a protocol that is not listed for it', `one of ${others}`),
        option('proceed', 'go on without it'),
      ],
    };
  },
  restore: ({ suspended }) => ({
    text: [
      `The session waits for /${suspended?.protocol ?? ''}. This is up to you, or to an agent of yours:`,
      `  ${dutyOf[suspended?.protocol ?? 'clarify']}.`,
      'What has come of it?',
    ].join('\n'),
    options: [
      option('restore', 'go on with what has come of it', 'what has come of it'),
      option('escape', 'leave it, and go on to the tasks'),
    ],
  }),
  conflict: ({ found, proposed }) => ({
    text: [
      'There are tasks, and there is the output of an earlier protocol. Which counts?',
      `the list: ${found.length}`,
      ...taskLines(found),
      `the protocol: ${proposed.length}`,
      ...taskLines(proposed),
    ].join('\n'),
    options: [
      option('resume', 'the tasks of the list'),
      option('refresh', 'those of the protocol, in place of the list'),
      option('merge', 'both'),
    ],
  }),
  confirm_boundary: ({ drafts }) => confirming('An earlier protocol brought these tasks.', drafts),
  confirm: ({ drafts }) => confirming('Nothing of this was checked before.', drafts),
  team: ({ asked: { team }, rows, absent }) => ({
    text: [
      `How should team ${team?.name ?? ''} be structured for ${rows.length === 1 ? 'one task' : `${rows.length} tasks`}?`,
      ...(team?.members ?? []).map(({ name, type, perspective }) => {
        const who = [name, type, perspective].filter((each) => each !== '').join(' · ');
        return `  ${who.slice(0, 200)}${absentText(name, absent)}`;
      }),
    ].join('\n'),
    options: [
      option('retain', 'as it is'),
      option(
        'augment',
        `with more roles, ${sessionLimits.roles} in all`,
        'roles: [{"name": AGENT, "type": …, "focus": …}]',
      ),
      option(
        'restructure',
        'with some of its members; with none of them there is no team',
        '{"retained": [NAME], "roles": […]}',
      ),
    ],
  }),
  augment: ({ cast }) => ({
    text: [
      'These roles are added. Is that right?',
      ...cast.map(
        ({ name, type, focus }) => `  ${[name, type, focus].filter(Boolean).join(' · ')}`,
      ),
    ].join('\n'),
    options: [option('confirm', 'add them'), option('back', 'choose again')],
  }),
  classification: ({ rows }) => ({
    text: ['No risk was seen in any of this. Delegate all of it?', ...riskLines(rows)].join('\n'),
    options: [option('delegate', 'all of them'), withdraw],
  }),
  plan: ({ rows }) => ({
    text: [
      'Several of these actions cannot be taken back. Is this the right direction?',
      ...riskLines(rows),
    ].join('\n'),
    options: [option('delegate', 'go on; each still stops for a judgement of its own'), withdraw],
  }),
};

function taskLines(drafts: readonly Draft[]): string[] {
  return shortened(
    drafts.map(
      ({ id, document }) => `  ${id}: ${headOf(document.task)}${runs(actionOf(document))}`,
    ),
  );
}

function riskLines(rows: readonly Row[]): string[] {
  const risky = rows.toSorted(
    (one, other) => Number(other.risk === 'Elevated') - Number(one.risk === 'Elevated'),
  );
  return shortened(
    risky.map(({ entry, risk, findings, content, description }) => {
      const seen = [...new Set(findings.map(({ signal }) => signal))].join(', ');
      const what = description === content ? '' : description;
      return `  ${entry}: ${risk}${seen === '' ? '' : ` (${seen})`}  ${headOf(content)}${runs(what)}`;
    }),
  );
}

/** What is agreed to is the action: what is said of it may be something else. */
function runs(action: string): string {
  return action === '' ? '' : `; runs: ${headOf(action)}`;
}

/** Empty: the task runs no program by its arguments. */
function actionOf({ action }: Readonly<Record<string, unknown>>): string {
  const argv = (action as { argv?: unknown } | null | undefined)?.argv;
  return Array.isArray(argv) ? argv.map(String).join(' ') : '';
}

function absentText(name: string, absent: Readonly<Record<string, string>> = {}): string {
  const why = Object.hasOwn(absent, name) ? absent[name] : undefined;
  return why === undefined ? '' : ` (${why})`;
}

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `  … and ${more} more`] : [...lines];
}

function headOf(value: unknown): string {
  const line = (typeof value === 'string' ? value : '').trim().split('\n')[0] ?? '';
  return line.length > lineChars ? `${line.slice(0, lineChars - 1)}…` : line;
}
