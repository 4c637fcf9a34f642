import { expect, test } from 'vitest';
import { answered } from '../../src/attention/session/answers.js';
import { materialised, resolved, tasksIn } from '../../src/attention/session/materialise.js';
import { loadPolicy } from '../../src/attention/policy/policy-file.js';
import {
  advancedSession,
  begunSession,
  decodeSession,
  encodeSession,
  questionOf,
  sessionState,
} from '../../src/attention/session/record.js';
import type { SessionRecord } from '../../src/attention/session/session-record.js';
import { readAttend } from '../../src/attention/session/request.js';
import {
  protocols,
  type Deficit,
  type Protocol,
  type Row,
} from '../../src/attention/session/shapes.js';
import { augmented, membersOf, restructured } from '../../src/attention/session/team.js';
import {
  countsOf,
  escaped,
  granularityOf,
  isSituated,
  situatedBy,
} from '../../src/attention/session/trace.js';
import { declaredDeficit, isBlocking, scanned } from '../../src/attention/session/upstream.js';
import type { Finding, Judgement } from '../../src/attention/shapes.js';
import { checkpointOf, workerFor } from '../../src/task/station/session-tasks.js';

const rules = loadPolicy().upstream;
const nothing = { prior: null, tasks: [], args: '', conversation: '', brought: [] };
const foundIn = (args: string, more: object = {}): string[] =>
  scanned({ ...nothing, args, ...more }, [], new Set(), rules).map(({ protocol }) => protocol);

// Upstream heuristics, the table of deficits.
test.each<[intent: string, found: Protocol[]]>([
  ['Fix it.', ['clarify']],
  ['Make everything better somehow', ['clarify', 'goal']],
  ['The parser and the performance', ['goal']],
  ['Look into the ring buffer', ['goal']],
  ['Should I delete the old branch?', ['bound']],
  ['Rename the function, or not: your call', ['bound']],
  ['Implement the retry as discussed', ['inquire']],
  ['Add the header; the name is TBD', ['inquire']],
  ['Add a cache, either in memory or on disk', ['frame']],
  ['Write the parser; which approach is open', ['frame']],
  ['Add locking like sqlite does', ['ground']],
  ['Implement a queue similar to Kafka', ['ground']],
  ['Rename nic_open to nic_start in drivers/nic', []],
  ['Find every caller of kfree and list those that ignore its result', []],
  ['Add a test so that `fix it` and "should I" are printed', []],
])('2.1 deficits: %s', (intent, found) => {
  expect(foundIn(intent)).toEqual(found);
});

test('2.1 scan order: clarify, goal, bound, then the rest; declared ones say so', () => {
  const declared = [...protocols].reverse().map((each) => declaredDeficit(each, 'said'));
  const all = scanned({ ...nothing, args: 'fix it' }, declared, new Set(), rules);
  expect(all.map(({ protocol }) => protocol)).toEqual([
    ...['clarify', 'clarify', 'goal', 'bound', 'inquire', 'frame', 'ground'],
  ]);
  expect(new Set(all.map(({ origin }) => origin))).toEqual(new Set(['declared', 'found']));
});

test('2.1 filter: what does not block is not asked about, in doubt it is', () => {
  const declared = [declaredDeficit('frame', 'aesthetic', false)];
  const seen = scanned(
    { ...nothing, args: 'Add a button, any colour' },
    declared,
    new Set(),
    rules,
  );
  expect(seen).toEqual([]);
  expect(
    readAttend({ deficits: [{ protocol: 'goal', evidence: 'why' }] }).deficits[0],
  ).toMatchObject({
    blocking: true,
    deficit: 'GoalIndeterminate',
  });
});

test.each<[resolvedSet: string[], isLeft: boolean]>([
  [[], true],
  [['goal'], false],
  [['GoalIndeterminate'], false],
  [['clarify'], true],
])('TYPES Resolved: %j', (known, isLeft) => {
  const deficit = declaredDeficit('goal', 'why');
  expect(isBlocking(deficit, new Set(known))).toBe(isLeft);
});

test('scan source priority: prior, tasks, args, conversation', () => {
  const source = (what: object): string | undefined =>
    scanned({ ...nothing, ...what }, [], new Set(), rules).find(
      ({ protocol }) => protocol === 'bound',
    )?.source;
  const words = 'your call';
  const task = { id: 'a', role: '', document: { task: words, acceptance_criteria: ['x'] } };
  const prior = { protocols: [], text: words, tasks: [] };
  const all = { prior, tasks: [task], args: words, conversation: words };
  expect(source(all)).toBe('prior');
  expect(source({ ...all, prior: null })).toBe('task a');
  expect(source({ ...all, prior: null, tasks: [] })).toBe('args');
  expect(source({ conversation: words })).toBe('conversation');
});

test('a criterion, an action, or what a protocol brought is an end; resolving one deficit may settle another', () => {
  const words = 'The parser and the performance';
  const task = (more: object): object => ({
    tasks: [{ id: 'a', role: '', document: { task: words, ...more } }],
  });
  expect(foundIn('', task({}))).toEqual(['goal']);
  expect(foundIn('', task({ acceptance_criteria: ['it is twice as fast'] }))).toEqual([]);
  expect(foundIn('', task({ action: { argv: ['make'] } }))).toEqual([]);
  const brought = [{ protocol: 'clarify', text: 'Measure the parser until it is below 1 ms' }];
  expect(foundIn(words, { brought })).toEqual([]);
});

// MATERIALIZATION ROUTING.
const draft = (id: string): { id: string; role: string; document: { task: string } } => ({
  ...{ id, role: '', document: { task: id } },
});
const prior = { protocols: ['goal'], text: '', tasks: [draft('p')] };
test.each([
  ['resume', { tasks: [draft('t')], prior: null, isFired: false }, ['t']],
  ['resume', { tasks: [draft('t')], prior: null, isFired: true }, ['t']],
  ['conflict', { tasks: [draft('t')], prior, isFired: true }, []],
  ['confirm_boundary', { tasks: [], prior, isFired: true }, ['p']],
  ['auto_proceed', { tasks: [], prior: null, isFired: true }, ['task-1']],
  ['confirm', { tasks: [], prior: null, isFired: false }, ['task-1']],
])('materialisation: %s', (route, what, ids) => {
  const made = materialised({ ...what, args: 'do it' });
  expect([made.route, made.drafts.map(({ id }) => id)]).toEqual([route, ids]);
});

test('conflict: resume, refresh, or merge without what is there twice', () => {
  const sides = { found: [draft('a')], proposed: [draft('a'), draft('b')] };
  const ids = (choice: 'resume' | 'refresh' | 'merge'): string[] =>
    resolved(choice, sides).map(({ id }) => id);
  expect([ids('resume'), ids('refresh'), ids('merge')]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
});

test('tasks are the items of a list, else the whole; nothing is made up', () => {
  expect(
    tasksIn('Do:\n- one\n2. two\n* [ ] three', 't').map(({ document }) => document.task),
  ).toEqual([...['one', 'two', 'three']]);
  expect(tasksIn('just\nthis', 't')).toMatchObject([{ document: { task: 'just\nthis' } }]);
  expect(tasksIn('  ', 't')).toEqual([]);
});

// Phase -1, Sub-A0: the loop.
function routedTo(record: SessionRecord, deficits: Deficit[]): SessionRecord {
  const event = { type: 'upstream.scanned', isClear: deficits.length === 0 } as const;
  return advancedSession(record, { event, patch: { deficits } }, 1).record;
}

test('Sub-A0 ends after as many rounds as there are protocols, whatever is left; suspended, it comes back from disk', () => {
  let { record } = begunSession(readAttend({ args: 'x' }), { owner: 'me', run: 1, nowMs: 0 });
  const left = protocols.map((each) => declaredDeficit(each, 'said'));
  for (const protocol of protocols) {
    record = routedTo(record, left);
    expect(sessionState(record)).toBe('routing');
    const said = { number: 0, choice: 'route', text: protocol };
    record = advancedSession(record, answered(record, said, 'me', 2), 2).record;
    record = decodeSession(encodeSession(record));
    expect([sessionState(record), record.suspended?.protocol]).toEqual(['suspended', protocol]);
    const brought = { number: 0, choice: 'restore', text: `by ${protocol}` };
    record = advancedSession(record, answered(record, brought, 'me', 3), 3).record;
  }
  expect(record.resolved).toEqual([...protocols]);
  expect(record.brought).toHaveLength(6);
  // Even if the scan still found something.
  expect(sessionState(routedTo(record, left))).toBe('materialising');
  expect(record.snapshot.context.isFired).toBe(true);
});

test('rules 20 and 21: only the options of the question, and only of the question that is open', () => {
  const { record: first } = begunSession(readAttend({}), { owner: 'me', run: 1, nowMs: 0 });
  const record = routedTo(first, [declaredDeficit('goal', 'said')]);
  expect(questionOf(record)?.options.map(({ choice }) => choice)).toEqual([
    'route',
    'other',
    'proceed',
  ]);
  const say = (choice: string, number = 0, text = ''): unknown => {
    try {
      return answered(record, { number, choice, text }, 'me', 1).event.type;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(say('approve')).toBe('USAGE');
  expect(say('other')).toBe('USAGE');
  expect(say('route', 0, 'ground')).toBe('USAGE');
  expect(say('proceed', 7)).toBe('ATTEND_STATE');
  expect(say('proceed', 1)).toBe('upstream.proceeded');
});

// Sub-B.
const member = (name: string): { name: string; type: string; perspective: string } => ({
  ...{ name, type: `${name}-type`, perspective: '' },
});
const role = (name: string): { name: string; type: string; focus: string } => ({
  ...{ name, type: '', focus: '' },
});
const team = { name: 'crew', members: ['a', 'b', 'c'].map(member) };

test('Sub-B: six roles in all, somebody is retained or it is solo', () => {
  expect(augmented(team, ['d', 'e', 'f'].map(role)).kind).toBe('augmented');
  expect(() => augmented(team, ['d', 'e', 'f', 'g'].map(role))).toThrow('at most 6');
  expect(() => augmented(team, [role('a')])).toThrow('twice');
  expect(restructured(team, [], [role('d')])).toEqual({ kind: 'solo' });
  const changed = restructured(team, ['b'], [role('d')]);
  expect(membersOf(changed).map(({ name }) => name)).toEqual(['b', 'd']);
  expect(() => restructured(team, ['z'], [])).toThrow('no member');
});

test('phase 0: what is elevated goes to a member only where that one keeps to judgements', () => {
  const record = { team: { kind: 'retained', team } } as const;
  const to = (risk: 'Low' | 'Elevated', isAttending: boolean): string =>
    workerFor(record, { role: 'b-type', risk }, () => isAttending);
  expect([to('Low', false), to('Elevated', true), to('Elevated', false)]).toEqual(['b', 'b', '']);
});

// Rules 19 and 22.
const finding = (signal: Finding['signal'], severity: Finding['severity']): Finding => ({
  ...{ signal, severity, evidence: '', action_description: '', rule: '', file: '' },
});
const row = (more: Partial<Row>): Row => ({
  ...{ entry: 'e', task: '', content: '', role: '', to: '', risk: 'Low', findings: [] },
  ...{ is_approved: false, description: '', judgements: [], open_gate: '', gates: 0 },
  ...{ situated_by: 'low', outcome: '', is_over: false, revision: 0 },
  ...more,
});
const deadly = row({
  risk: 'Elevated',
  findings: [finding('Irreversibility', 'Gate')],
  situated_by: '',
});
const loud = row({
  risk: 'Elevated',
  findings: [finding('HumanCommunication', 'Gate')],
  situated_by: '',
});
test.each<[rows: Row[], checkpoint: string]>([
  [[row({}), row({})], 'classification'],
  [[row({}), deadly], 'none'],
  [[deadly, deadly], 'plan'],
  [[deadly, loud], 'none'],
  [[row({ task: 'running' })], 'none'],
])('rules 19 and 22: checkpoint %#', (rows, checkpoint) => {
  expect(checkpointOf(rows)).toBe(checkpoint);
});

// ADAPTATION RULES and CONVERGENCE.
const judged = (...said: (Judgement | 'expired')[]): Row['judgements'] =>
  said.map((judgement) => ({ gate: 'g', judgement, by: 'me' }));
test.each<[what: string, row: Partial<Row>, by: string]>([
  ['Low', {}, 'low'],
  [
    'advisory only',
    { risk: 'Elevated', findings: [finding('ScopeEscalation', 'Advisory')] },
    'noted',
  ],
  ['not judged yet', { ...deadly, open_gate: 'g' }, ''],
  ['approved', { ...deadly, judgements: judged('approve') }, 'approved'],
  ['dismissed', { ...deadly, judgements: judged('dismiss') }, 'approved'],
  ['approved by the session', { ...deadly, is_approved: true }, 'approved'],
  ['modified, then approved', { ...deadly, judgements: judged('modify', 'approve') }, 'adapted'],
  ['halted', { ...deadly, judgements: judged('halt') }, 'adapted'],
  ['expired', { ...deadly, judgements: judged('expired') }, 'adapted'],
  ['withdrawn', { ...deadly, judgements: judged('withdraw') }, ''],
])('situated: %s', (_, its, by) => {
  expect(situatedBy(row(its))).toBe(by);
});

test('completed ⟹ situated; an escape is told apart', () => {
  const blind = { ...deadly, outcome: 'completed', is_over: true };
  expect(isSituated([row({ outcome: 'completed', is_over: true })])).toBe(true);
  expect(isSituated([blind])).toBe(false);
  expect(isSituated([{ ...blind, outcome: 'halted' }])).toBe(true);
  const after = escaped([blind, row({}), row({ outcome: 'completed', is_over: true })]);
  expect(after.map(({ situated_by }) => situated_by)).toEqual(['escape', 'escape', 'low']);
});

test('Σ: a gate is Micro, the end of its task Meso; assessed, surfaced, halted', () => {
  const gated = { ...deadly, gates: 2, description: 'rm -rf x' };
  expect(granularityOf([row({}), gated])).toBe('Micro');
  expect(granularityOf([row({}), { ...gated, is_over: true }])).toBe('Meso');
  const rows = [row({}), { ...gated, outcome: 'halted' }, row({ risk: '' })];
  expect(countsOf(rows)).toEqual({ assessed: 2, surfaced: 2, halted: ['rm -rf x'] });
});
