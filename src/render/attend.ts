import type { Question, Row, SessionView } from '../attention/session/shapes.js';
import { undoneOf } from '../attention/session/trace.js';
import { askingRows, openGates } from '../remote/attends.js';
import { line, printable, table } from './terminal.js';

/** Results that are named one by one. */
const resultsMax = 5;

/** State, open question, tasks and trace of one session. */
export function renderSession(view: SessionView): string {
  const { context, state, run, counts, granularity, upstream, route, reason, question } = view;
  const { assessed, surfaced, halted } = counts;
  const why = reason === '' ? '' : ` (${printable(reason)})`;
  const how = route === '' ? '' : ` · route ${route}`;
  return [
    `Session ${printable(context)}, run ${run}: ${state}${why}${how} · ${granularity}`,
    ...(view.args === '' ? [] : [`  ${printable(headOf(view.args))}`]),
    ...(upstream.resolved.length === 0
      ? []
      : [`  resolved upstream: ${upstream.resolved.map(printable).join(', ')}`]),
    ...(view.team === null ? [] : [`  team: ${teamLine(view)}`]),
    `  tasks assessed: ${assessed} · gates: ${surfaced} · halted: ${halted.length}`,
    ...halted.map((each) => `    halted: ${printable(headOf(each))}`),
    ...(view.trace.length === 0 ? [] : ['', traceTable(view.trace)]),
    ...waiting(view.trace).map(({ entry, why = '' }) => line`${entry} waits: ${why}.`),
    ...(view.is_over ? ['', endLine(view), ...afterwards(view)] : []),
    ...(question === null ? [] : ['', renderQuestion(question, context)]),
    ...openGates(view).map(
      (gate) => line`Gate ${gate} waits for a judgement: sigma gate show ${gate}`,
    ),
    ...askingRows(view).flatMap(({ entry, task, asks = '' }) => [
      line`${entry} asks: ${headOf(asks)}`,
      line`  sigma task show ${task}`,
    ]),
  ].join('\n');
}

function teamLine({ team, absent = {} }: SessionView): string {
  if (team === null || team.kind === 'solo') return 'solo';
  const added = team.kind === 'retained' ? [] : team.roles.map(({ name }) => name);
  const staying =
    team.kind === 'restructured' ? team.retained : team.team.members.map(({ name }) => name);
  const members = [...staying, ...added].map((name) => {
    const why = Object.hasOwn(absent, name) ? absent[name] : undefined;
    return why === undefined ? name : `${name} (${why})`;
  });
  return printable(`${team.team.name}, ${team.kind}: ${members.join(', ')}`);
}

/** Task, risk, findings, judgement, by what it is situated, and what came of it. */
function traceTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.entry,
    row.risk || '-',
    [...new Set(row.findings.map(({ signal, severity }) => `${signal}/${severity}`))].join(' ') ||
      '-',
    row.judgements.map(({ judgement, by }) => `${judgement}${by && ` by ${by}`}`).join(', ') || '-',
    row.situated_by || '-',
    row.outcome || '-',
    row.task || '-',
  ]);
  return table([
    ['task', 'risk', 'findings', 'judgement', 'situated by', 'outcome', 'as'],
    ...cells,
  ]);
}

/** What came of it. A task that ended without its result leaves nothing to be situated, and nothing done. */
export function endLine({ state, is_converged, trace, reason }: SessionView): string {
  const halted = trace.filter(({ outcome }) => outcome === 'halted');
  const rest =
    halted.length === 0
      ? ''
      : ` Halted: ${halted.map(({ entry }) => printable(entry)).join(', ')}.`;
  const done = trace.filter(({ outcome }) => outcome === 'completed');
  if (is_converged && done.length === 0) return `Ended, and nothing was done.${rest}`;
  if (is_converged)
    return `Converged: ${done.length} of ${trace.length} tasks completed, each situated as the trace shows.${rest}`;
  if (state !== 'diverged') {
    const why = Object.hasOwn(endings, reason) ? endings[reason] : undefined;
    return `${why ?? `Ended as ${state}`}; no convergence is claimed.`;
  }
  const blind = done.filter(({ situated_by }) => situated_by === '');
  return blind.length > 0
    ? `Not converged: completed without a judgement: ${blind.map(({ entry }) => printable(entry)).join(', ')}`
    : `Not converged: ${undoneText(trace)}`;
}

/** Reasons of an end, in words. */
const endings: Readonly<Record<string, string>> = {
  NO_TASKS: 'Nothing was done: no task was named, and the list holds none that is left',
  DECLINED: 'Nothing was done: the tasks were not confirmed',
  ATTEND_EXPIRED: 'Withdrawn: its question was not answered in time',
  GATE_WITHDRAWN: 'Withdrawn by a judgement at a gate',
};

/** Where what came of it can be read, and how to go on with what is left. */
function afterwards({ context, trace }: SessionView): string[] {
  const begun = trace.filter(({ task }) => task !== '');
  const undone = undoneOf(trace);
  return [
    ...begun.slice(0, resultsMax).map(({ entry, task, outcome }) => {
      const what = outcome === 'completed' ? 'result' : 'what happened';
      return line`  ${what} of ${entry}: sigma task show ${task}`;
    }),
    ...(begun.length > resultsMax
      ? ['  of the others: sigma task show, with the id in the last column']
      : []),
    ...(undone.length === 0
      ? []
      : [line`  what is left, once more: sigma attend --context ${context}`]),
  ];
}

/** Tasks that do not go on by themselves, and ask nothing. */
function waiting(trace: readonly Row[]): Row[] {
  return trace.filter(
    ({ is_over, why = '', outcome }) => !is_over && why !== '' && outcome === 'pending',
  );
}

/** `1 of 2 tasks was not done: b failed (why)`. */
export function undoneText(trace: readonly Row[]): string {
  const undone = undoneOf(trace);
  const each = undone.map(({ entry, outcome, why = '' }) => {
    const because = why === '' ? '' : ` (${headOf(why)})`;
    return line`${entry} ${outcome.replaceAll('_', ' ')}${because}`;
  });
  return `${undone.length} of ${trace.length} tasks ${undone.length === 1 ? 'was' : 'were'} not done: ${each.join(', ')}`;
}

/** With the command that answers it; without a context for a form, which has a field for the text. */
export function renderQuestion({ text, options }: Question, context = ''): string {
  const how = context === '' ? 'text' : '--text';
  return [
    ...text.split('\n').map(printable),
    ...options.map(
      ({ choice, means, needs }, at) =>
        `  ${at + 1}. ${printable(choice)}: ${printable(means)}${needs === '' ? '' : ` (${how}: ${printable(needs)})`}`,
    ),
    ...(context === '' ? [] : [`  sigma attend answer ${printable(context)} CHOICE`]),
  ].join('\n');
}

export function renderSessions(views: readonly SessionView[]): string {
  if (views.length === 0) return 'There are no sessions.';
  const rows = views.map((view) => [
    view.context,
    view.state,
    view.question?.kind ??
      (openGates(view).length > 0 ? 'gate' : askingRows(view).length > 0 ? 'task' : '-'),
    `${view.trace.filter(({ is_over }) => is_over).length}/${view.trace.length}`,
    headOf(view.args),
  ]);
  return table([['context', 'state', 'asks', 'tasks', 'intent'], ...rows]);
}

/** A line for each step of a session that is followed. */
export function sessionLine({ context, state, granularity, trace }: SessionView): string {
  const over = trace.filter(({ is_over }) => is_over).length;
  const tasks =
    trace.length === 0 ? '' : ` · ${over} of ${trace.length} tasks over · ${granularity}`;
  const waits = waiting(trace).map(({ entry, why = '' }) => ` · ${entry}: ${why}`);
  return printable(`${context}: ${state}${tasks}${waits.join('')}`);
}

function headOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
