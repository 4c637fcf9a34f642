import type { AskingOptions, Questions } from '../../lattice/questions.js';
import type {
  Answer,
  CallSite,
  Definition,
  Evidence,
  ExcerptLine,
  SourceText,
} from '../../pgc/shapes.js';
import type { Piece, Related } from '../../render/explored.js';
import { count } from '../../render/terminal.js';

/** Callers that are named of one piece, and of those that may be meant. */
export const callersShown = 6;
const possibleShown = 2;

/** A piece and what its lines may be: the whole definition, or those that decide. */
export interface Draft {
  piece: Piece;
  whole: ExcerptLine[];
  excerpt: ExcerptLine[];
  /** Lines of the whole that show a credential, and are not in it. */
  hidden: number;
}

export const isCallable = ({ kind }: Piece): boolean => kind === 'function' || kind === 'method';

/** Of a piece about which nothing was asked yet. */
const unasked = { callers: null, possible: null, uses: null, callees: null, implementations: null };

/** `path:line`, by which a definition is asked for. */
export const placeOf = ({ file_path, line }: Pick<Definition, 'file_path' | 'line'>): string =>
  `${file_path}:${line}`;

/** What answers a question, best first, each definition with its whole text. */
export async function piecesOf(
  { evidence }: Answer,
  questions: Questions,
  options: AskingOptions,
): Promise<Draft[]> {
  const places = evidence.flatMap((each) => definitionIn(each) ?? []);
  const { sources } = await questions.sources({ symbols: places }, options);
  // Two may begin on one line.
  const keyOf = (place: string, name: string): string => `${place} ${name}`;
  const known = new Map(
    sources.map((each) => [keyOf(placeOf(each.definition), each.definition.symbol), each]),
  );
  return evidence.map((each): Draft => {
    const place = definitionIn(each);
    const source = place === undefined ? undefined : known.get(keyOf(place, each.name));
    const whole = source === undefined || source.cut ? [] : decidingIn(source.lines, each.excerpt);
    const hidden = source?.hidden ?? 0;
    return { piece: pieceOf(each, source?.definition), whole, excerpt: each.excerpt, hidden };
  });
}

/** Definitions themselves. */
export function draftOf({ definition, lines, hidden }: SourceText): Draft {
  const { symbol, container, kind, file_path, line, line_end, agent, role = '', doc } = definition;
  const piece: Piece = {
    ...{ id: 0, symbol, container, kind, file_path, line_start: line, line_end, agent, role },
    ...{ said: doc, why: [], lines: [], ...unasked },
  };
  return { piece, whole: lines, excerpt: lines, hidden };
}

/** Where the evidence is a definition. */
function definitionIn({ overlay, kind, name, excerpt, ...its }: Evidence): string | undefined {
  const isSite = kind === 'call' || kind === 'slot' || kind === 'message' || kind === 'file';
  if (overlay !== 'O1' || isSite || name === '') return undefined;
  return `${its.file_path}:${excerpt[0]?.line ?? its.line_start}`;
}

function pieceOf(evidence: Evidence, definition: Definition | undefined): Piece {
  const { id, name, container, kind, file_path, line_start, line_end, agent, ...its } = evidence;
  const { role = '', said, why, excerpt } = its;
  return {
    ...{ id, symbol: name, container, kind, file_path, agent, role, said, why },
    line_start: definition?.line ?? line_start,
    line_end: definition?.line_end ?? Math.max(line_end, excerpt.at(-1)?.line ?? 0),
    lines: [],
    ...unasked,
  };
}

/** All lines; those that decide in the excerpt decide here, too. */
function decidingIn(lines: readonly ExcerptLine[], excerpt: readonly ExcerptLine[]): ExcerptLine[] {
  const deciding = new Set(excerpt.flatMap(({ line, decides }) => (decides ? [line] : [])));
  return lines.map((each) => ({ ...each, decides: deciding.has(each.line) }));
}

/** A piece with who calls it; uses of another kind are not looked for. */
export async function withCallers(
  piece: Piece,
  questions: Questions,
  options: AskingOptions,
): Promise<Piece> {
  if (!isCallable(piece)) return piece;
  const found = await questions.callers({ symbol: referenceTo(piece), calls_alone: true }, options);
  return {
    ...piece,
    callers: related(sourcesFirst(found.callers), callersShown),
    possible: { ...related(found.possible, possibleShown), total: found.possible_total },
  };
}

/** Definitions of which lines are missing, and why: they show a credential, or their file has changed since it was indexed. */
export function withoutLines(drafts: readonly Draft[]): string[] {
  return drafts.flatMap(({ piece, whole, hidden }) => {
    if (hidden > 0)
      return [
        `${count(hidden, 'line')} of ${piece.symbol} left out: a credential may be seen there`,
      ];
    return whole.length > 0
      ? []
      : [`${piece.file_path} has changed since ${piece.symbol} was indexed`];
  });
}

export const referenceTo = ({ file_path, line_start }: Piece): string =>
  `${file_path}:${line_start}`;

/** Who reads for the code looks at its tests last. */
export function sourcesFirst(sites: readonly CallSite[]): CallSite[] {
  const isAside = ({ role = '' }: CallSite): number => Number(role !== '' && role !== 'source');
  return sites.toSorted((one, other) => isAside(one) - isAside(other));
}

export function related<T>(rows: readonly T[], shown: number): Related<T> {
  return { rows: rows.slice(0, shown), total: rows.length };
}
