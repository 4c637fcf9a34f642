// What must hold of gates, by what persons were told, what the manager shows at the end, and what the programs wrote down.
import { attentionLimits } from '../../../dist/src/attention/shapes.js';
import { claim } from '../claims.mjs';
import { finals } from '../tasks/boss.mjs';

const leaves = new Set(['approve', 'dismiss']);
const examplesMax = 6;

export function rowsOf({ views, works }) {
  const head = [
    'TASKS',
    'DELEGATED',
    'GATES',
    'COMPLETED',
    'HALTED',
    'CANCELLED',
    'FAILED',
    'UNKNOWN',
    'RUNS',
  ];
  const kinds = [...new Set(views.map(({ work }) => work.kind))].sort();
  return [
    head,
    ...kinds.map((kind) => {
      const its = views.filter(({ work }) => work.kind === kind);
      const ended = (state) => its.filter(({ view }) => view.state === state).length;
      return [
        kind,
        its.length,
        its.reduce((sum, { view }) => sum + view.gates.length, 0),
        ended('completed'),
        ended('halted'),
        ended('cancelled'),
        ended('failed'),
        its.filter(({ work }) => work.isUnknown).length,
        its.reduce((sum, { work }) => sum + runsOf(works, work), 0),
      ];
    }),
  ];
}

/** Claims, `{ name, holds, detail }`. */
export function claimsOf({ views, works, ledger, judgements, stories, killed, delivered }) {
  const none = (name, which) =>
    claim(name, which.length === 0, which.slice(0, examplesMax).join('; '));
  const shown = [...ledger.gates.values()];
  const where = (is, words) => views.filter(is).map(words);
  const labels = views.flatMap(({ work, view }) =>
    works.labelsOf(work).map((label) => ({
      ...{ work, label, runs: works.runsOf(label) },
      leave: leaveFor(label, { work, view, works, shown }),
    })),
  );
  return [
    none('a gate that was shown is there under its id until the end', [...ledger.wrong.vanished]),
    none('what was shown of a gate stays, and so does its judgement', [...ledger.wrong.changed]),
    none('no gate is answered twice', answeredTwice(judgements, shown)),
    none(
      'who judges a gate that is open is heard, and else told that it is judged',
      unheard(judgements),
    ),
    none(
      'nothing risky runs without leave, nor what was halted, withdrawn, expired, void or changed',
      labels
        .filter(({ runs, leave, work }) => work.kind !== 'harmless' && runs > 0 && leave === 0)
        .map(wordsOf),
    ),
    none(
      'what has no key runs at most once for each leave',
      labels
        .filter(
          ({ runs, leave, work }) =>
            work.kind !== 'keyed' && work.kind !== 'harmless' && runs > leave,
        )
        .map(wordsOf),
    ),
    none(
      'what has a key and is completed has its effect',
      where(
        ({ work, view }) =>
          work.kind === 'keyed' && (view.state === 'completed') !== works.hasKey(work.id),
        ({ work, view }) => `${work.id} ${view.state}`,
      ),
    ),
    none(
      'what is completed has run, and without a key once',
      where(
        ({ work, view }) =>
          view.state === 'completed' &&
          (work.kind === 'keyed' ? runsOf(works, work) < 1 : runsOf(works, work) !== 1),
        ({ work }) => `${work.id} (${work.kind}) ${runsOf(works, work)}`,
      ),
    ),
    none(
      'the harmless passes in silence',
      where(
        ({ work, view }) => work.kind === 'harmless' && view.gates.length > 0,
        ({ work }) => work.id,
      ),
    ),
    none(
      'what is withdrawn takes its session with it',
      where(
        ({ work, view }) =>
          work.kind === 'withdrawn' &&
          withdrawnIn(work.session, views) &&
          !['halted', 'cancelled'].includes(view.state),
        ({ work, view }) => `${work.id} ${view.state}`,
      ).concat(leftInSession(views)),
    ),
    claim(
      'every task ends',
      views.every(({ view }) => finals.has(view.state)),
      stories.join('; '),
    ),
    none(
      'the end of a task is told once',
      [...delivered].filter(([, told]) => told.length !== 1).map(([id, told]) => `${id} ${told}`),
    ),
    none(
      'nobody is asked again and again',
      where(
        ({ view }) =>
          view.gates.length > attentionLimits.gates || view.error?.code === 'GATES_EXCEEDED',
        ({ work, view }) => `${work.id} ${view.gates.length}`,
      ),
    ),
    claim(
      'somebody was killed of each kind',
      Object.keys(killed).length === 3,
      JSON.stringify(killed),
    ),
  ];
}

/** Answers that do not agree with each other, or with what is kept. */
function answeredTwice(judgements, shown) {
  const wrong = [];
  for (const { id, state, judgement, judged_by } of shown) {
    const told = judgements.filter(({ gate, told: isTold }) => gate === id && isTold);
    const words = told.map((each) => `${each.by.name} ${each.judgement}`).join(', ');
    if (told.length > 1) wrong.push(`${id}: ${words}`);
    const isKept = ({ by, judgement: said }) =>
      state === 'judged' && said === judgement && by.isBy(judged_by);
    if (!told.every(isKept))
      wrong.push(`${id}: ${words}, and kept is ${state} ${judgement} ${judged_by}`);
    if (state === 'judged' && told.length === 0)
      wrong.push(`${id}: ${judgement} ${judged_by}, and nobody was told`);
  }
  return wrong;
}

function unheard(judgements) {
  return judgements
    .filter(({ told, code }) => told !== true && code !== 'GATE_JUDGED')
    .map(({ gate, code, error, message }) => `${gate} ${code ?? ''} ${error ?? message}`);
}

/** How often this may run: once for each gate of it that was approved or dismissed, and by an approval of its session. */
function leaveFor(label, { work, view, works, shown }) {
  const its = view.gates.filter(
    (gate) =>
      gate.state === 'judged' && leaves.has(gate.judgement) && works.labelOf(work, gate) === label,
  );
  const milder = work.kind === 'milder' && label.endsWith('/m');
  const isApproved =
    work.kind === 'shared' &&
    label.endsWith('/v1') &&
    shown.some(
      ({ session, task, judgement }) =>
        session === work.session && task !== work.id && judgement === 'approve',
    );
  const isModified = milder && view.gates.some(({ judgement }) => judgement === 'modify');
  return its.length + (isApproved || isModified ? 1 : 0);
}

function withdrawnIn(session, views) {
  return views.some(
    ({ work, view }) =>
      work.session === session && view.gates.some(({ judgement }) => judgement === 'withdraw'),
  );
}

/** Ended by the silence of persons, though somebody withdrew their session before. */
function leftInSession(views) {
  const withdrawn = new Map();
  for (const { work, view } of views)
    for (const { judgement, judged_ms } of view.gates)
      if (judgement === 'withdraw') withdrawn.set(work.session, judged_ms);
  return views
    .filter(({ work, view }) =>
      view.gates.some(
        ({ state, expires_ms }) => state === 'expired' && expires_ms > withdrawn.get(work.session),
      ),
    )
    .map(({ work }) => `${work.id} expired in a session that was withdrawn`);
}

function runsOf(works, work) {
  return works.labelsOf(work).reduce((sum, label) => sum + works.runsOf(label), 0);
}

const wordsOf = ({ work, label, runs, leave }) =>
  `${label} (${work.kind}) ran ${runs} times with leave for ${leave}`;
