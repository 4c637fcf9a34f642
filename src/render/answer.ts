import { createHash } from 'node:crypto';
import { leftOutLine, placeOf, roleNote, subjectOf } from '../pgc/answer/evidence-line.js';
import type {
  Answer,
  Certainty,
  Evidence,
  ExcerptLine,
  FlowEdge,
  NextStep,
  TraceAnswer,
} from '../pgc/shapes.js';
import { count, line, printable, shellWord, wrap } from './terminal.js';

/** Edges of the flow that are listed. */
const edgesShown = 12;
const statusWords = { found: 'found', partly: 'partly found', not_found: 'not found' } as const;

/** What differs between a person at a terminal and an agent that reads Markdown. */
interface Style {
  /** Foreign text in one line. */
  text: (text: string) => string;
  /** Foreign text that names something. */
  code: (text: string) => string;
  /** A line by a language model, which may mark up its own text. */
  prose: (line: string) => string;
  /** Lines of a source, with their numbers. */
  excerpt: (lines: readonly ExcerptLine[]) => string[];
  head: (text: string) => string;
  next: (step: NextStep) => string;
}

const terminal: Style = {
  text: printable,
  code: printable,
  prose: printable,
  excerpt: numbered,
  head: (text) => text,
  next: ({ operation, arguments: its }) =>
    ['sigma', operation, ...Object.values(its).map(shellWord)].join(' '),
};

const markdown: Style = {
  text: plain,
  code,
  prose: unlinked,
  excerpt: fenced,
  head: (text) => `**${text}**`,
  // Tools have the names of commands, with an underscore.
  next: ({ operation, arguments: its }) =>
    code(
      `${operation.replaceAll('-', '_')}(${Object.entries(its)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(', ')})`,
    ),
};

/** For people; places are `path:line`, which terminals and editors make clickable. */
export function renderAnswer(answer: Answer): string {
  return [
    ...body(answer, terminal).map((line) => line.trimEnd()),
    '',
    footer(answer, terminal),
  ].join('\n');
}

/** For agents: what was found and how surely, the flow, the evidence with its deciding lines, what is unsure. */
export function markdownOf(answer: Answer): string {
  return [...body(answer, markdown), '', footer(answer, markdown)].join('\n');
}

function body(answer: Answer, style: Style): string[] {
  const { evidence, left_out, overlay_warnings, errors, prose } = answer;
  const notes = [...left_out.map(leftOutLine), ...overlay_warnings];
  return [
    ...headline(answer, style),
    ...(prose === '' ? [] : ['', ...prose.split('\n').map((line) => wrap(style.prose(line)))]),
    ...flowOf(answer, style),
    ...wayOf(answer, style),
    ...evidence.flatMap((each) => shown(each, style)),
    ...unsureOf(answer, style),
    ...notes.map((note) => `note: ${style.text(note)}`),
    ...errors.map(({ code, text }) => style.text(`${code}: ${text}`)),
  ];
}

/** The same for agents. */
export function headlineOf(answer: Answer): string[] {
  return headline(answer, markdown);
}

/** What was found, how surely, and what of the question was not. */
function headline(
  { clauses, evidence, confidence, unsure, errors, prose }: Answer,
  style: Style,
): string[] {
  if (evidence.length === 0 && prose !== '') return ['No line of code proves these words:'];
  if (evidence.length === 0)
    return [
      errors.some(({ code }) => code === 'INDEX_BEHIND')
        ? 'What answers the question has changed since it was indexed, so it cannot be shown.'
        : 'Found nothing in the indexed code that answers the question.',
    ];
  const files = new Set(evidence.map(({ file_path }) => file_path)).size;
  const isWeak = unsure.some(({ kind }) => kind === 'weak');
  const places = `${count(evidence.length, 'place')} in ${count(files, 'file')}`;
  const first = isWeak
    ? `Nothing here clearly answers the question; nearest are ${places}`
    : `Found ${places}`;
  const parts = clauses.length < 2 ? [] : clauses.filter(({ status }) => status !== 'found');
  return [
    `${first}, confidence ${confidence}.`,
    ...parts.map(({ text, status }) => `${statusWords[status]}: ${style.text(text)}`),
  ];
}

/** What the graph knows of a symbol is shown whole: no evidence shows the rest of it. */
function flowOf({ flow }: Answer, style: Style): string[] {
  if (flow.length === 0) return [];
  const isWhole = flow.some(({ evidence }) => evidence === 0);
  const edges = isWhole ? flow : flow.slice(0, edgesShown);
  const rest = flow.length - edges.length;
  return [
    '',
    style.head('Flow'),
    ...edges.map((edge) => edgeLine(edge, style)),
    ...(rest > 0 ? [`  and ${count(rest, 'further call')}`] : []),
  ];
}

/** What is said of a call that is not certain to run one definition of the code. */
export const certaintyNotes: Record<Certainty, string> = {
  ...{ exact: '', dispatch: 'through an interface', outside: 'of a library', possible: 'possible' },
};

const verbs: Record<FlowEdge['kind'], string> = {
  ...{ call: 'calls', slot: 'holds', implements: 'implements' },
};

function edgeLine(
  { from, to, kind, site, certainty, definition, evidence }: FlowEdge,
  style: Style,
): string {
  const note = certaintyNotes[certainty];
  const doubt = note === '' ? '' : `, ${note}`;
  const at = definition === '' ? '' : `, defined at ${style.text(definition)}`;
  const number = evidence === 0 ? '' : ` [${evidence}]`;
  return `  ${style.code(from)} ${verbs[kind]} ${style.code(to)} at ${style.text(site)}${at}${doubt}${number}`;
}

/** The way shard by shard: the call that led there, and which of the evidence is from there. */
function wayOf({ hops }: Answer, style: Style): string[] {
  if (hops.length === 0) return [];
  const steps = hops.map(({ agent, via, evidence }, at) => {
    const by =
      via === null ? (at === 0 ? '' : ', found by search') : `, by ${style.code(via.symbol)}`;
    const shown = evidence.map((id) => ` [${id}]`).join('');
    return `  ${at + 1}. ${style.text(agent)}${by}${shown === '' ? '' : `:${shown}`}`;
  });
  return ['', style.head('Way'), ...steps];
}

function shown(evidence: Evidence, style: Style): string[] {
  const { id, said, why, excerpt, kind } = evidence;
  // Of what is read from text the excerpt is the source itself.
  const isRepeated = said !== '' && excerpt.some(({ text }) => text.includes(said));
  const reason = kind === 'call' || why.length === 0 ? '' : `  (${why.map(style.text).join('; ')})`;
  return [
    '',
    `[${id}] ${style.code(placeOf(spanOf(evidence)))}  ${style.text(subjectOf(evidence))}${style.text(roleNote(evidence))}${reason}`,
    ...(said === '' || isRepeated ? [] : [wrap(style.text(said), '    ')]),
    ...style.excerpt(excerpt),
  ];
}

/** From the first to the last line that is cited or shown: what decides may stand further down. */
function spanOf({
  file_path,
  line_start,
  line_end,
  excerpt,
}: Evidence): Parameters<typeof placeOf>[0] {
  const last = excerpt.at(-1)?.line ?? line_end;
  return { file_path, line_start, line_end: Math.max(line_end, last) };
}

/** `>` marks the lines that decide; a gap is three dots. */
function numbered(lines: readonly ExcerptLine[]): string[] {
  const width = String(lines.at(-1)?.line ?? 0).length;
  return lines.flatMap(({ line, text, decides }, at) => {
    const before = lines[at - 1]?.line ?? line - 1;
    const gap = line > before + 1 ? [`    ${'…'.padStart(width + 2)}`] : [];
    const mark = decides ? '>' : ' ';
    return [
      ...gap,
      `    ${mark} ${String(line).padStart(width)}  ${printable(text.replaceAll('\t', '  '))}`,
    ];
  });
}

function fenced(lines: readonly ExcerptLine[]): string[] {
  return fence(numbered(lines));
}

/** Lines in a fence that none of them can close. */
export function fence(lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const runs = lines.flatMap((text) => text.match(/`+/g) ?? []).map(({ length }) => length);
  const marks = '`'.repeat(Math.max(3, ...runs.map((run) => run + 1)));
  return [marks, ...lines, marks];
}

function unsureOf({ unsure, next }: Answer, style: Style): string[] {
  const open = unsure.filter(({ kind }) => kind !== 'weak').map(({ text }) => style.text(text));
  const steps = next.map((step) => `${style.next(step)}  (${style.text(step.why)})`);
  return [
    ...(open.length === 0 ? [] : ['', style.head('Not shown'), ...open.map((each) => `  ${each}`)]),
    ...(steps.length === 0 ? [] : ['', style.head('Next'), ...steps.map((each) => `  ${each}`)]),
  ];
}

/** Of the versions of all shards that an answer is from: another one after a refresh that changed any of them. */
function markOf(versions: string): string {
  return createHash('sha256').update(versions).digest('hex').slice(0, 7);
}

function footer({ metadata, safety, partial, query_path }: Answer, style: Style): string {
  const { agents_asked, elapsed_ms, index_version, engine, model } = metadata;
  const visited =
    safety === null
      ? []
      : [
          `${safety.actual_hops} of at most ${safety.max_hops} agents visited: ${style.text(query_path.join(' → '))}`,
        ];
  return [
    ...visited,
    agents_asked === 1 ? '1 agent asked' : `${agents_asked} agents asked`,
    `${Math.round(elapsed_ms)} ms`,
    ...(index_version === '' ? [] : [`index ${markOf(index_version)}`]),
    ...(partial ? ['partial: not every agent answered'] : []),
    ...(model === null
      ? []
      : [
          style.text(engine),
          count(model.tokens, 'token'),
          ...(model.dropped === 0
            ? []
            : [`${count(model.dropped, 'sentence')} without evidence dropped`]),
        ]),
  ].join(' · ');
}

export function renderErrors(errors: readonly { code: string; text: string }[]): string[] {
  return errors.map((error) => line`${error.code}: ${error.text}`);
}

export function renderTrace(answer: TraceAnswer): string {
  if (!answer.found) return renderErrors(answer.errors).join('\n');
  return answer.path
    .map((step, at) => {
      const note = step.certainty === '' ? '' : certaintyNotes[step.certainty];
      const sure = note === '' ? '' : `, ${note}`;
      const call = step.call_site === '' ? '' : `  called at ${step.call_site}${sure}`;
      return line`${'  '.repeat(at)}${step.symbol}  ${step.file_path}:${step.line}  [${step.agent}]${call}`;
    })
    .join('\n');
}

/** Within a line. An underscore within a word marks nothing, nor does `&` before what is no entity. */
const inlineMark = /[\\`*<>[\]|~]|&(?=#?\w+;)|(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu;
/** Where a line begins: a heading, an entry of a list, a line below a title or across the page. */
const leadingMark = /^(\s*)(?:(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|[-=]+\s*$)|(\d{1,9})(?=[.)](?:\s|$)))/;

/** In one line, and without what Markdown would read as markup. */
export function plain(text: string): string {
  return printable(text)
    .replace(inlineMark, (signs) => signs.replaceAll(/./g, '\\$&'))
    .replace(leadingMark, '$1$2\\');
}

/** In one line as code, in which nothing is markup but its end. */
export function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'")}\``;
}

/**
 * One line with its markup, but without elements and links, which what a model has read may have made it write, and
 * without fences: one that stays open would turn those of the evidence round.
 */
function unlinked(line: string): string {
  return printable(line).replace(/[<>]|\](?=[(:])|`{3,}|~{3,}/g, (marks) =>
    marks.replaceAll(/./g, '\\$&'),
  );
}
