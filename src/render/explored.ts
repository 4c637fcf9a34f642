import { subjectOf } from '../pgc/answer/evidence-line.js';
import type {
  CallSite,
  Certainty,
  CodedError,
  Definition,
  ExcerptLine,
  FlowEdge,
} from '../pgc/shapes.js';
import { certaintyNotes, code, fence, plain, renderErrors } from './answer.js';
import { count, line, printable } from './terminal.js';

/** One place of the code, with what a reader needs to go on from it. */
export interface Piece {
  /** 1 for the first of an answer. */
  id: number;
  symbol: string;
  container: string;
  kind: string;
  file_path: string;
  /** Of the whole definition. */
  line_start: number;
  line_end: number;
  agent: string;
  role: string;
  /** One sentence about it that stands in the source. */
  said: string;
  why: string[];
  /** Its lines, or those that decide; none where only its place is named. */
  lines: ExcerptLine[];
  /** These are null where nothing looked for them. */
  callers: Related<CallSite> | null;
  /** Sites of the name of which nothing proves what they mean. */
  possible: Related<CallSite> | null;
  /** Where it is used without being called. */
  uses: Related<CallSite> | null;
  callees: Related<CallSite> | null;
  implementations: Related<Definition> | null;
}

/** The first of them, and how many there are. */
export interface Related<T> {
  rows: T[];
  total: number;
}

export interface Explored {
  /** What was found, and how surely. */
  head: string[];
  pieces: Piece[];
  flow: FlowEdge[];
  /** What is not proved, or not shown. */
  unsure: string[];
  errors: CodedError[];
  /** Shows more when it is given to `explore`; empty: that is all. */
  more: string;
  /** Places that it shows. */
  more_total: number;
}

/** For agents and people alike: what was found, the calls among it, each place with its lines, what is unsure. */
export function exploredText(found: Explored): string {
  const { head, pieces, unsure, errors, more, more_total } = found;
  const shown = pieces.filter(({ lines }) => lines.length > 0);
  const named = pieces.filter(({ lines }) => lines.length === 0);
  // A file begins where its first function does.
  const symbols = pieces.filter(({ symbol }) => symbol !== '');
  const ids = new Map(symbols.map((piece) => [placeOf(piece), piece.id]));
  return [
    ...head,
    ...flowOf(found, ids),
    ...shown.flatMap((piece) => ['', ...withLines(piece, ids)]),
    ...section(
      'Also',
      named.map(
        (piece) =>
          headOf(piece) + (piece.said === '' ? '' : ` — ${plain(beginningOf(piece.said))}`),
      ),
    ),
    ...section('Not shown', unsure.map(plain)),
    ...(errors.length === 0 ? [] : ['', ...renderErrors(errors)]),
    ...(more === ''
      ? []
      : [
          '',
          line`More: explore with more=${more} (--more ${more}) shows ${count(more_total, 'further place')}.`,
        ]),
  ].join('\n');
}

/** Of what is said about a place that is only named. */
const saidCharsMax = 100;

function beginningOf(said: string): string {
  return said.length <= saidCharsMax ? said : `${said.slice(0, saidCharsMax)}…`;
}

function section(title: string, rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : ['', `**${title}**`, ...rows.map((each) => `  ${each}`)];
}

const placeOf = ({ file_path, line_start }: Piece): string => `${file_path}:${line_start}`;

function headOf(piece: Piece): string {
  const { id, file_path, line_start, line_end, role, symbol: name } = piece;
  const end = line_end > line_start ? `-${line_end}` : '';
  const note = role === '' || role === 'source' ? '' : ` (${role})`;
  const subject = subjectOf({ ...piece, name });
  return `[${id}] ${code(`${file_path}:${line_start}${end}`)} ${nameOf(subject)}${note}`;
}

function withLines(piece: Piece, ids: Ids): string[] {
  const { said, lines, callees, implementations } = piece;
  const isRepeated = said !== '' && lines.some(({ text }) => text.includes(said));
  return [
    headOf(piece),
    ...(said === '' || isRepeated ? [] : [plain(said)]),
    ...usersOf(piece, ids),
    ...(callees === null ? [] : calleesOf(callees, piece, ids)),
    ...(implementations === null || implementations.total === 0
      ? []
      : [
          `implemented by ${listed(
            implementations.rows.map((each) => implementationOf(each, piece)),
            implementations.total - implementations.rows.length,
          )}`,
        ]),
    ...fence([...numbered(lines), ...((lines.at(-1)?.line ?? 0) < piece.line_end ? ['…'] : [])]),
  ];
}

function usersOf(piece: Piece, ids: Ids): string[] {
  const { callers, possible, uses } = piece;
  const sites = (verb: string, its: Related<CallSite> | null): string[] => {
    if (its === null || its.total === 0) return [];
    const rows = grouped(its.rows).map((each) => callerOf(each, piece, ids));
    return [`${verb} ${listed(rows, its.total - its.rows.length)}`];
  };
  const isUnused = callers?.total === 0 && possible?.total === 0;
  const doubt = `${count(possible?.total ?? 0, 'other site')} of this name may mean it:`;
  return [
    ...sites('called by', callers),
    ...(isUnused ? [`no call of it is known${uses === null ? '; it may be passed on' : ''}`] : []),
    ...sites('used without a call by', uses),
    ...sites(doubt, possible),
  ];
}

function calleesOf({ rows, total }: Related<CallSite>, piece: Piece, ids: Ids): string[] {
  if (total === 0) return [];
  const calls = grouped(rows).map((sites) => {
    const [first] = sites as [CallSite];
    const { symbol, line: at, certainty } = first;
    const targets = [...new Set(sites.map(({ definition }) => definition))];
    return called({ to: symbol, at, targets, certainty }, piece.file_path, ids);
  });
  return [`calls ${listed(calls, total - rows.length)}`];
}

/** Sites of one name, and of one function that holds them. */
function grouped(sites: readonly CallSite[]): CallSite[][] {
  const groups = new Map<string, CallSite[]>();
  for (const each of sites) {
    const key = `${each.symbol} ${each.file_path}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

function listed(rows: readonly string[], left: number): string {
  return left > 0 ? `${rows.join(', ')} and ${left} more` : rows.join(', ');
}

/** Who calls, and the lines of the calls. */
function callerOf(sites: readonly CallSite[], piece: Piece, ids: Ids): string {
  const [first] = sites as [CallSite];
  const { symbol, file_path, certainty, definition, role = '' } = first;
  const id = ids.get(definition);
  const name = nameOf(symbol === '' ? '(file level)' : symbol);
  const lines = [...new Set(sites.map((each) => each.line))].join(', :');
  const site = code(near(`${file_path}:${lines}`, piece.file_path));
  const doubt = certainty === '' || certainty === 'possible' ? '' : certaintyNotes[certainty];
  return `${name}${id === undefined ? '' : ` [${id}]`} ${site}${noted([doubt, role])}`;
}

function implementationOf(
  { symbol, container, file_path, line: at }: Definition,
  piece: Piece,
): string {
  const name = container === '' ? symbol : `${container}.${symbol}`;
  return `${nameOf(name)} ${code(near(`${file_path}:${at}`, piece.file_path))}`;
}

/** `tryAgain [5] :535`: the callee, where it is defined, and the line of the call. */
function called(
  its: { to: string; at: number; targets: readonly string[]; certainty: Certainty | '' },
  path: string,
  ids: Ids,
): string {
  const { to, at, targets, certainty } = its;
  const [first = ''] = targets;
  const id = ids.get(first);
  const where = first === '' ? '' : ` (${code(near(first, path))})`;
  const many = targets.length > 1 ? `${targets.length} definitions` : '';
  const doubt = certainty === '' ? '' : certaintyNotes[certainty];
  return `${nameOf(to)}${id === undefined ? where : ` [${id}]`} :${at}${noted([doubt, many])}`;
}

/** As it is written in the source, for that is how it is looked for. */
function nameOf(name: string): string {
  return plain(name) === name ? name : code(name);
}

/** A place as it is read from a file: `:12` in the same one, `./b.go:12` in the same folder. */
function near(place: string, path: string): string {
  if (place.startsWith(`${path}:`)) return place.slice(path.length);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const isBeside =
    folder !== '' && place.startsWith(folder) && !place.slice(folder.length).includes('/');
  return isBeside ? `./${place.slice(folder.length)}` : place;
}

function noted(notes: readonly string[]): string {
  const all = notes.filter((each) => each !== '' && each !== 'source');
  return all.length === 0 ? '' : ` (${all.join(', ')})`;
}

/** By place. */
type Ids = ReadonlyMap<string, number>;

const verbs: Record<FlowEdge['kind'], string> = {
  call: 'calls',
  slot: 'holds',
  implements: 'implements',
};

/** The calls of one function in one line. */
function flowOf({ flow, pieces }: Explored, ids: Ids): string[] {
  const groups = new Map<string, FlowEdge[]>();
  for (const each of flow) {
    const key = `${each.kind} ${each.from} ${pathOf(each.site)}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const rows = [...groups.values()].map((edges) => {
    const [first] = edges as [FlowEdge];
    const path = pathOf(first.site);
    const piece = pieces.find(
      (each) =>
        each.file_path === path &&
        each.symbol === first.from &&
        each.line_start <= lineOf(first.site) &&
        lineOf(first.site) <= each.line_end,
    );
    const from =
      piece === undefined
        ? `${nameOf(first.from)} in ${code(path)}`
        : `${nameOf(first.from)} [${piece.id}]`;
    const to = edges.map(({ to: name, certainty, definition, site }) =>
      called({ to: name, at: lineOf(site), targets: [definition], certainty }, path, ids),
    );
    return `${from} ${verbs[first.kind]} ${[...new Set(to)].join(', ')}`;
  });
  return section('Flow', rows);
}

const pathOf = (site: string): string => site.slice(0, site.lastIndexOf(':'));
const lineOf = (site: string): number => Number(site.slice(site.lastIndexOf(':') + 1));

/** `>` marks the lines that decide; a gap is three dots. */
export function numbered(lines: readonly ExcerptLine[]): string[] {
  const indent = Math.min(...lines.map(({ text }) => text.search(/\S|$/)));
  return lines.flatMap(({ line: at, text, decides }, index) => {
    const before = lines[index - 1]?.line ?? at - 1;
    const shown = printable(text.slice(indent).replaceAll('\t', '  '));
    return [...(at > before + 1 ? ['…'] : []), `${at}${decides ? '>' : ' '} ${shown}`];
  });
}
