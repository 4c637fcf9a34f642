import type { Finding as RiskFinding } from '../attention/shapes.js';
import { BusError } from '../errors/bus-error.js';
import { isErrorCode } from '../errors/catalogue.js';
import { isEvidenceRequired, type EvidenceCitation } from '../delegation/task/shapes.js';
import type { CitationVerdict, Review } from '../delegation/manager/review.js';
import { trendText, type TaskIteration } from '../task/life/task-iteration.js';
import type { TaskView } from '../task/requests/messages.js';
import { hasResult, type TodoListView } from '../task/todo/sigma-task-update.js';
import { isAsking, isOver } from '../remote/tasks.js';
import { printable, printableText, table, wrap } from './terminal.js';

/** Of a task in a list, and of an entry. */
const rowChars = 60;

/** Tasks for people. Their texts are foreign: none reaches a terminal unescaped. */

export function renderTasks(tasks: readonly TaskView[], more: boolean): string {
  if (tasks.length === 0) return 'There are no such tasks.';
  const rows = tasks.map((each) => [
    each.id,
    each.state + (isAsking(each) ? ' (asks)' : ''),
    each.task.criticality,
    each.assigned_to || '-',
    String(each.attempt),
    age(each.created_ms),
    headOf(each.task.task),
  ]);
  const head = ['ID', 'STATE', 'CRIT', 'WORKER', 'ATTEMPT', 'AGE', 'TASK'];
  return table([head, ...rows]) + (more ? '\n… and more' : '');
}

export function renderTask(view: TaskView): string {
  const { response, error, progress, asks, task } = view;
  const review = view.reviews.at(-1);
  const citations = response?.grounding_evidence?.citations ?? [];
  return [
    headLine(view),
    ...indented(task.task),
    ...(progress === '' ? [] : [`progress: ${printable(progress)}`]),
    ...view.findings.map((each) => note(`advisory, not stopped: ${advisoryText(each)}`)),
    ...(response === null || response.result === '' ? [] : ['', 'Result']),
    ...indented(response?.result ?? ''),
    ...(response?.partial === true ? ['  (not a result: what there was when it ended)'] : []),
    ...filesOf(response?.files_modified ?? []),
    ...(review === undefined ? [] : renderReview(review)),
    ...renderCritiques(view.iterations),
    ...(citations.length === 0 ? [] : ['', 'Citations']),
    ...citations.map((each, at) => citationLine(each, at + 1, review?.citations[at])),
    ...(response?.grounding_evidence?.overlay_warnings ?? []).map((each) => note(each)),
    ...(error === null ? [] : ['', `${printable(error.code)}: ${printable(error.text)}`]),
    ...(error === null || (!isOver(view) && asks === '') ? [] : whatNext(view, error.code)),
    ...(asks === '' || isOver(view) ? [] : ['', `It asks: ${printable(asks)}`]),
    ...(isOver(view) ? [] : waysOn(view)),
  ].join('\n');
}

/** Where it stopped, and what may be done about it. */
function whatNext(view: TaskView, code: string): string[] {
  const { id, state, notes, response, progress } = view;
  const at = response?.result || progress === '' ? '' : ` (${printable(progress)})`;
  const stopped = notes.findLast((each) => each.state !== state && each.state !== 'blocked');
  const kept = response?.result ? ', with the result above' : '';
  const told = isErrorCode(code) ? new BusError(code, { task: id }).next : '';
  const next = told.replace(/\b(?:ID|TASK)\b/g, id);
  return [
    ...(stopped === undefined
      ? []
      : [`It stopped while it was ${printable(stopped.state)}${at}${kept}.`]),
    ...(next === '' ? [] : [printable(next)]),
    ...(isOver(view) && state !== 'completed' ? [`  sigma task retry ${printable(id)}`] : []),
  ];
}

function headLine({ id, state, attempt, assigned_to, created_ms, finished_ms }: TaskView): string {
  const took = finished_ms > 0 ? ` · ${spanOf(finished_ms - created_ms)}` : '';
  const worker = assigned_to === '' ? '' : ` · attempt ${attempt} by ${printable(assigned_to)}`;
  return `Task ${printable(id)}: ${printable(state)}${worker}${took}`;
}

function renderReview({ attempt, verdict, findings, criteria, ...its }: Review): string[] {
  const marks = { met: '✓ met      ', unmet: '✗ unmet    ', unchecked: '? unchecked' };
  return [
    '',
    `Review of attempt ${attempt}: ${verdict}${groundsOf(its)}`,
    ...findings.map(
      (each) => `  ${each.severity}: ${printable(each.text)} (${printable(each.code)})`,
    ),
    ...(criteria.length === 0 ? [] : ['', 'Criteria']),
    ...criteria.map(({ text, verdict: its, why }) => {
      const mark = Object.hasOwn(marks, its) ? marks[its] : printable(its);
      return `  ${mark}  ${printable(text)} (${printable(why)})`;
    }),
  ];
}

/** How sure the evidence is; nothing of work without evidence. */
function groundsOf({ citations, confidence }: Pick<Review, 'citations' | 'confidence'>): string {
  return citations.length === 0 ? ', without evidence' : `, confidence ${confidence}`;
}

/** Each critique in a line, and what the last one found, worst first. */
function renderCritiques(iterations: readonly TaskIteration[]): string[] {
  const last = iterations.at(-1);
  if (last === undefined) return [];
  return [
    '',
    `Critiques: scores ${printable(trendText(iterations))}`,
    ...iterations.map((each) => `  ${printable(critiqueText(each))}`),
    ...last.findings.map(
      ({ severity, text, id }) => `  ${printable(`${severity}: ${text} (${id})`)}`,
    ),
  ];
}

/** `3 (attempt 2): 0.94 PASS by constitutional, llm-as-judge: why; accepted` */
export function critiqueText(each: TaskIteration): string {
  const { iteration, attempt, score, verdict, modes, why, state, reason, judged } = each;
  const figure = score === null ? 'no score' : score.toFixed(2);
  const flags = each.flags.length === 0 ? '' : ` [${each.flags.join(', ')}]`;
  const said = judged === '' ? '' : `, ${judged} by ${each.judged_by}`;
  const then = `${state}${reason === '' ? '' : ` (${reason})`}${said}`;
  const by = modes.length === 0 ? 'no mode' : modes.join(', ');
  return `${iteration} (attempt ${attempt}): ${figure} ${verdict} by ${by}: ${why}${flags}; ${then}`;
}

/** `[1] valid  mm/slub.c:10-20  kmalloc (O1, mm, similarity 0.62)`; the place can be clicked. */
export function citationLine(
  citation: EvidenceCitation,
  number: number,
  verdict: CitationVerdict | undefined,
): string {
  const { overlay, symbol, agent, similarity } = citation;
  const about = [
    overlay,
    agent,
    ...(similarity === undefined ? [] : [`similarity ${similarity.toFixed(2)}`]),
  ];
  const said = about.filter((each) => each !== '').join(', ');
  const status = (verdict?.status ?? 'unverified').padEnd(10);
  const isGood = verdict === undefined || verdict.status === 'valid';
  const now = verdict === undefined || verdict.now_at === '' ? '' : `, now at ${verdict.now_at}`;
  const why = isGood ? '' : `  ${verdict.reason}${now}`;
  return printable(`  [${number}] ${status} ${placeOf(citation)}  ${symbol} (${said})${why}`);
}

export function placeOf({ file_path, line_start, line_end }: EvidenceCitation): string {
  const end = line_end > line_start ? `-${line_end}` : '';
  return `${file_path || '?'}:${line_start}${end}`;
}

/** What may be said to it now, as commands. */
export function waysOn(view: TaskView): string[] {
  const { id, may, state } = view;
  const its = printable(id);
  const update = (options: string): string => `  sigma task update ${its} ${options}`;
  const can = new Set(may);
  const gates = view.gates.filter((each) => each.state === 'open');
  if (gates.length > 0)
    return [
      '',
      ...gates.map((each) => `It waits at a gate:  sigma gate show ${printable(each.id)}`),
    ];
  if (!can.has('answer') && !can.has('accept') && !can.has('reassign')) return [];
  return [
    '',
    `While it is ${printable(state)}:`,
    ...(can.has('answer') ? [update('--answer "TEXT"')] : []),
    ...(can.has('accept')
      ? [`  sigma task review ${its}`, update('--accept | --refuse | --revise "WHY" | --halt')]
      : []),
    ...(can.has('reassign') ? waysOut(view).map(update) : []),
    ...(can.has('cancel') ? [`  sigma task cancel ${its}`] : []),
  ];
}

/** By what blocked it. */
function waysOut({ error, response, task }: TaskView): string[] {
  switch (error?.code) {
    case 'OUTCOME_UNKNOWN':
      return ['--outcome done|failed', '--reassign    (it is run once more)'];
    case 'PGC_FAILED':
    case 'OVERLAYS_MISSING': {
      const isDone = response?.partial === true;
      const how = isDone ? 'its result counts without evidence' : 'it goes on without evidence';
      const isHinted = (task.grounding?.overlay_hints ?? []).length > 0;
      return [
        '--reassign    (it is tried again)',
        ...(isHinted ? ['--regenerate  (its overlays are made first)'] : []),
        ...(isEvidenceRequired(task.grounding) ? [`--relax       (${how})`] : []),
      ];
    }
    case 'DEPENDENCY_FAILED':
      return ['--relax       (it goes on without that task)'];
    default:
      return ['--reassign    (it is tried again)'];
  }
}

/** A line for each step of a task that is followed. */
export function stepLine({ id, state, assigned_to, attempt, progress }: TaskView): string {
  const worker =
    assigned_to === '' ? '' : ` by ${assigned_to}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  return printable(`${id}: ${state}${worker}${progress === '' ? '' : ` · ${progress}`}`);
}

/** Entries of a list. */
export function counted(entries: number): string {
  return entries === 1 ? '1 entry' : `${entries} entries`;
}

export function renderTodos({ list, todos, warnings }: TodoListView): string {
  const boxes = { pending: '[ ]', in_progress: '[~]', delegated: '[>]', completed: '[x]' };
  return [
    `List of ${printable(list)}: ${todos.length === 0 ? 'nothing' : counted(todos.length)}`,
    ...todos.map((todo) => {
      const { id, content, status, delegated_to, task, task_id } = todo;
      const at =
        status === 'delegated' ? ` → ${delegated_to}, task ${task_id} ${task?.state ?? ''}` : '';
      const asks = task === null || task.asks === '' ? '' : ` (asks: ${task.asks})`;
      const waits = task === null || task.progress === '' ? '' : ` · ${headOf(task.progress)}`;
      const said = saidOf(list, todo);
      return `${boxes[status]} ${printable(`${id}  ${headOf(content)}${at}${waits}${asks}${said}`)}`;
    }),
    ...warnings.map((each) => note(each)),
  ].join('\n');
}

/** Who says what came of an entry: a task whose result was checked, or its agent alone. */
export function saidOf(list: string, todo: TodoListView['todos'][number]): string {
  const { status, result_summary, task_id } = todo;
  if (status !== 'completed') return '';
  return hasResult(todo)
    ? ` (result of task ${task_id}: ${headOf(result_summary)})`
    : ` (not checked; ${list} says: ${headOf(result_summary)})`;
}

export function advisoryText({ signal, action_description, evidence }: RiskFinding): string {
  return `${signal}: ${action_description || evidence}`;
}

function note(text: string): string {
  return `note: ${printable(text)}`;
}

function filesOf(files: readonly string[]): string[] {
  return files.length === 0 ? [] : [`  files: ${files.map(printable).join(', ')}`];
}

function indented(text: string): string[] {
  if (text === '') return [];
  return wrap(printableText(text.trimEnd()), '  ').split('\n');
}

function headOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > rowChars ? `${line.slice(0, rowChars - 1)}…` : line;
}

function age(sinceMs: number): string {
  return spanOf(Date.now() - sinceMs);
}

export function spanOf(ms: number): string {
  const seconds = Math.max(0, ms / 1_000);
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
