import type { Gate } from '../attention/shapes.js';
import type { SessionView } from '../attention/session/shapes.js';
import type { Review } from '../delegation/manager/review.js';
import type { Step } from '../delegation/task/shapes.js';
import { examinePrompt } from '../prompt/grammar/parse.js';
import { isFinal } from '../task/life/states.js';
import type { Note } from '../task/life/record.js';
import type { TaskIteration } from '../task/life/task-iteration.js';
import type { TaskView } from '../task/requests/messages.js';
import { advisoryText, placeOf } from './task.js';

/** Of one critique, the worst. */
const findingsTold = 3;

/** Something that happened, as a sentence; `what` is its kind, for programs. */
export interface Told {
  at_ms: number;
  what: string;
  text: string;
}

/** How agents and tasks are called. */
export type NameOf = (agent: string) => string;

/** What happened to one task, each kind in its own order; those of one moment stay in this one. */
export function eventsOf(view: TaskView, nameOf: NameOf): Told[] {
  const { notes, response, created_ms, finished_ms, updated_ms, owner, parent } = view;
  const attendedMs = notes.find(({ state }) => state === 'assigned')?.at_ms ?? created_ms;
  const how = owner === '' ? `asked by ${nameOf(parent)}` : `queued by ${nameOf(owner)}`;
  const told = (what: string, at_ms: number, text: string): Told => ({ at_ms, what, text });
  const checkedMs = notes.findLast(({ text }) => text.startsWith('review.done'))?.at_ms;
  return [
    told('asked', created_ms, `${how}: ${wantedIn(view)}`),
    ...view.findings.map((each) =>
      told('risk', attendedMs, `an advisory risk, which stops nothing: ${advisoryText(each)}`),
    ),
    ...view.gates.flatMap(gateEvents),
    ...(response?.steps ?? []).flatMap((each) => stepEvents(each, nameOf)),
    ...view.iterations.flatMap(critiqueEvents),
    ...noteEvents(view, nameOf),
    ...evidenceEvents(view, checkedMs ?? (finished_ms || updated_ms)),
  ];
}

/** A prompt is known by its content; what stands around that is told when it is done. */
function wantedIn({ task: { task, runner } }: TaskView): string {
  if (runner !== 'prompt') return task;
  const examined = examinePrompt(task);
  return ('prompt' in examined && examined.prompt.content) || task;
}

function gateEvents(gate: Gate): Told[] {
  const { id, asked_ms, judged_ms, judged_by, judgement, direction, classification, state } = gate;
  const stopping = classification.findings.filter(({ severity }) => severity === 'Gate');
  const [first] = stopping;
  const risk = first?.action_description || first?.evidence || classification.description;
  const others = stopping.length > 1 ? `, and ${stopping.length - 1} more` : '';
  const asked = `stops: it ${risk}${others}; a person is asked (${id})`;
  const said = `${judged_by} ${Object.hasOwn(judged, judgement) ? judged[judgement] : judgement}`;
  return [
    { at_ms: asked_ms, what: 'gate', text: asked },
    ...(judged_ms === 0
      ? []
      : [{ at_ms: judged_ms, what: 'gate', text: direction ? `${said}: ${direction}` : said }]),
    ...(state === 'expired'
      ? [{ at_ms: gate.expires_ms, what: 'gate', text: 'no person judged it in time' }]
      : []),
  ];
}

const judged: Readonly<Record<string, string>> = {
  approve: 'approved it',
  dismiss: 'allowed it this once',
  modify: 'had something else done',
  halt: 'refused it',
  withdraw: 'refused it, and ended all that belongs to it',
};

/** What it came to, and the worst that was found. */
function critiqueEvents(each: TaskIteration): Told[] {
  const { at_ms, iteration, score, threshold, why, findings } = each;
  // The reason begins with the figures.
  const [, more = ''] = score === null ? ['', why] : (/^[^;]*; ([^]*)$/.exec(why) ?? []);
  const figure = score === null ? 'gave no score' : `gave ${score.toFixed(2)}`;
  const said = `the critic ${figure}, and ${threshold} is needed (iteration ${iteration})`;
  return [
    { at_ms, what: 'critique', text: more === '' ? said : `${said}: ${more}` },
    ...findings.slice(0, findingsTold).map(({ id, severity, text, remedy }) => ({
      ...{ at_ms, what: 'finding', text: `- ${severity}: ${text} ${remedy} (${id})` },
    })),
  ];
}

const stepWords: Readonly<Record<string, string>> = {
  read: 'read',
  ask: 'asked the index:',
  push: 'queued',
  run: 'started what is queued:',
  receive: 'took a message',
  check: 'looked for a message',
  send: 'sent a message:',
  delegate: 'delegated:',
  teardown: 'left in the queue of who asked:',
  model: 'the model',
};

/** The content stands at the beginning, the end in what came of it; that a model called tools is seen by these. */
function stepEvents({ at_ms, what, text }: Step, nameOf: NameOf): Told[] {
  const isNoise =
    what === 'content' || what === 'end' || (what === 'model' && text.startsWith('called'));
  if (isNoise) return [];
  if (what === 'index') {
    const came = text === '' ? 'the index answered' : 'the index alone could not do it';
    return [{ at_ms, what, text: came }];
  }
  const from = /^from (\S+)$/.exec(text)?.[1];
  const said = from === undefined ? text : `from ${nameOf(from)}`;
  const words = Object.hasOwn(stepWords, what) ? stepWords[what] : `called ${what}:`;
  return [{ at_ms, what, text: `${words} ${said}`.trim().replace(/:$/, '') }];
}

/** By the event that a note of the manager holds; `*` is the last worker, `…` what else the note says. Empty: told elsewhere. */
const noteWords: Readonly<Record<string, string>> = {
  'task.released': 'started',
  'task.ready': '',
  'dependency.failed': 'waits for a person, because what it needs was not done',
  'attention.passed': '',
  'attention.gated': '',
  'gate.judged': '',
  'worker.absent': 'no worker for it is there; it waits',
  'worker.accepted': '* works on it',
  'worker.returned': '* was lost, and is back',
  'worker.completed': '* is done; its result is checked',
  'worker.failed': '* could not do it: …',
  'worker.blocked': '* could not go on: …',
  'worker.gated': '* stopped at a risk',
  'worker.asked': '* asks a question',
  'worker.lost': '* was lost: …; it is done again',
  'critic.awaited': 'the critic is away; its review goes on when it is back',
  'revision.prepared': '',
  'clarification.given': '…',
  'block.resolved': '…',
  'outcome.reported': '…',
  'decision.made': '…',
  'manager.returned': 'the manager was started again, and goes on',
  'bus.returned': 'the bus was lost, and is back',
  'critic.returned': 'the critic was lost, and is back: its review goes on',
  'pgc.returned': 'the index was lost, and is back',
};

const saidWords: readonly [RegExp, string][] = [
  [/^accept by ([^:]+)/, '$1 accepted it'],
  [/^refuse by ([^:]+)/, '$1 refused it'],
  [/^revise by ([^:]+)/, '$1 had it revised'],
  [/^halt by ([^:]+)/, '$1 ended it'],
  [/^answer by ([^:]+)/, '$1 answered'],
  [/^reassign by ([^:]+)/, '$1 had it done again'],
  [/^regenerate by ([^:]+)/, '$1 had the missing overlays made'],
  [/^relax by ([^:]+)/, '$1 let it go on without the evidence'],
  [/^done by ([^:]+)/, '$1 said that it had been done'],
  [/^failed by ([^:]+)/, '$1 said that it had failed'],
];

const reasonWords: Readonly<Record<string, string>> = {
  OUTCOME_UNKNOWN: 'it was interrupted, and how far it came is not known; a person is asked',
  LEASE_EXPIRED: 'it said nothing for too long',
  WORKER_LOST: 'it is gone',
};

function noteEvents(view: TaskView, nameOf: NameOf): Told[] {
  const { notes, reviews, iterations } = view;
  const checks = notes.filter(({ text }) => text.startsWith('review.done'));
  let worker = '';
  return notes.slice(1).flatMap((note, at) => {
    const { at_ms, state, text } = note;
    const [, event = '', more = ''] = /^(\w+\.\w+)(?:: ([^]*))?$/.exec(text) ?? [];
    if (event === 'worker.accepted' || event === 'worker.returned') worker = more;
    const isLast = at === notes.length - 2;
    const told = (said: string): Told[] =>
      said === '' ? [] : [{ at_ms, what: state, text: said }];
    // Of many reviews, and of many notes, the first are not kept.
    const review =
      event === 'review.done' ? reviews.at(checks.indexOf(note) - checks.length) : undefined;
    const check = review === undefined ? [] : told(reviewText(review));
    if (isFinal(state)) return [...check, ...told(endText(view, note, nameOf))];
    if (event === 'review.done')
      return [
        ...check,
        ...(state === 'deciding' ? told('a person is asked whether it counts') : []),
      ];
    if (event === 'critique.done') {
      const isAsked = state === 'deciding' && iterations.length > 0;
      return told(isAsked ? 'a person is asked what is to be done about it' : afterCritique(state));
    }
    // What follows tells the same.
    if (event === 'worker.completed' && !isLast) return [];
    if (!Object.hasOwn(noteWords, event)) return told(text);
    return told(
      (noteWords[event] ?? '')
        .replace('*', worker === '' ? 'the worker' : nameOf(worker))
        .replace('…', () => inWords(more)),
    );
  });
}

function afterCritique(state: string): string {
  return state === 'revising' ? 'it goes back to be revised' : '';
}

function inWords(said: string): string {
  const [pattern, words] = saidWords.find(([each]) => each.test(said)) ?? [];
  if (pattern !== undefined && words !== undefined) return said.replace(pattern, words);
  const known = Object.hasOwn(reasonWords, said) ? `${reasonWords[said]} ` : '';
  return known === '' ? said : `${known}(${said})`;
}

/** `the manager checked the result: 2 of 2 citations hold, 1 of 1 criteria met` */
function reviewText({ citations, criteria, findings, verdict }: Review): string {
  const held = citations.filter(({ status }) => status === 'valid').length;
  // Those that only a reader can judge are told among the findings.
  const checked = criteria.filter((each) => each.verdict !== 'unchecked');
  const met = checked.filter((each) => each.verdict === 'met').length;
  const counts = [
    ...(citations.length === 0 ? [] : [`${held} of ${citations.length} citations hold`]),
    ...(checked.length === 0 ? [] : [`${met} of ${checked.length} criteria met`]),
  ];
  const objections = findings.map(({ text }) => text).join('; ');
  // There was nothing to check.
  if (counts.length === 0 && objections === '') return '';
  const how = verdict === 'refused' ? `refused: ${objections}` : objections;
  return `the manager checked the result: ${[counts.join(', '), how].filter(Boolean).join('; ')}`;
}

function endText(view: TaskView, { state }: Note, nameOf: NameOf): string {
  const { error, response, parent } = view;
  const files = response?.files_modified ?? [];
  const changed = files.length === 0 ? '' : `, changed ${files.join(', ')}`;
  const told = isPassing(parent) ? '' : `; ${nameOf(parent)}`;
  if (state === 'completed') return `done${changed}${told && `${told} gets the result`}`;
  const why = error === null ? '' : `: ${error.text}`;
  const how = state === 'not_done' ? 'not done' : `${state.replaceAll('_', ' ')}, not done`;
  return `${how}${why}${told && `${told} is told`}`;
}

function evidenceEvents({ response, reviews }: TaskView, at_ms: number): Told[] {
  const evidence = response?.grounding_evidence ?? null;
  if (evidence === null) return [];
  const statuses = reviews.at(-1)?.citations ?? [];
  const places = evidence.citations.map(
    (each, at) => `${placeOf(each)} (${statuses[at]?.status ?? 'unverified'})`,
  );
  const asked = evidence.queries_executed.map((each) => `"${each}"`).join(', ');
  return [
    ...(asked === '' ? [] : [{ at_ms, what: 'query', text: `the index was asked: ${asked}` }]),
    ...(places.length === 0
      ? []
      : [{ at_ms, what: 'citations', text: `it rests on ${places.join(', ')}` }]),
  ];
}

/** A command line that is gone has no mailbox. */
export function isPassing(agent: string): boolean {
  return /^cli-\d+-[0-9a-f]+$/.test(agent);
}

/** What was asked about a session of attention, and what a person said. */
export function sessionEvents(view: SessionView, nameOf: NameOf): Told[] {
  const { created_ms, finished_ms, owner, args, answers, is_over, upstream } = view;
  const told = (at_ms: number, text: string): Told => ({ at_ms, what: 'attend', text });
  return [
    told(created_ms, `${nameOf(owner)} wants: ${args || 'what stands in the list'}`),
    ...upstream.brought.map(({ protocol, text }) =>
      told(created_ms, `cleared up before (${protocol}): ${text}`),
    ),
    ...answers.map(({ at_ms, kind, choice, by, text }) => {
      const about = Object.hasOwn(questionWords, kind) ? questionWords[kind] : kind;
      return told(at_ms, `asked ${about}, ${by} said: ${choice}${text === '' ? '' : ` (${text})`}`);
    }),
    ...(is_over ? [told(finished_ms, endOf(view))] : []),
  ];
}

/** `over: 2 of 3 tasks are done; publish is halted` */
function endOf({ trace, state }: SessionView): string {
  const done = trace.filter(({ outcome }) => outcome === 'completed').length;
  const others = trace.filter(({ outcome }) => outcome !== 'completed');
  const named = others.map(({ entry, outcome }) => `${entry} is ${outcome || 'not begun'}`);
  const how = state === 'converged' || state === 'diverged' ? 'over' : state;
  return [`${how}: ${done} of ${trace.length} tasks are done`, ...named].join('; ');
}

const questionWords: Readonly<Record<string, string>> = {
  upstream: 'about something that is missing',
  restore: 'whether what was missing is there now',
  conflict: 'which of the tasks count',
  confirm_boundary: 'whether these are the tasks',
  confirm: 'whether this is the task',
  team: 'who shall do it',
  augment: 'who else shall do it',
  classification: 'whether it shall be done, where nothing is risky',
  plan: 'about a plan in which several actions cannot be taken back',
};
