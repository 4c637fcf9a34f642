import { z } from 'zod';
import type { AskingOptions, Questions } from '../../lattice/questions.js';
import { nearness } from '../../pgc/bind/visibility.js';
import { analyse } from '../../pgc/search/question/question.js';
import {
  citationsMax,
  engineName,
  type Answer,
  type CallSite,
  type CodedError,
  type FlowEdge,
  type SourcesAnswer,
  type SourceText,
} from '../../pgc/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { headlineOf } from '../../render/answer.js';
import { exploredText, type Explored, type Piece, type Related } from '../../render/explored.js';
import { count } from '../../render/terminal.js';
import { answerTokens, charsPerToken, listsOf } from '../bounds.js';
import { looks, type Asking, type Call, type Operation, type Reply } from '../operation.js';
import { nameCharsMax, questionBytesMax, questionInput } from '../shapes.js';
import { laidOut } from './layout.js';
import {
  draftOf,
  isCallable,
  piecesOf,
  placeOf,
  referenceTo,
  related,
  withCallers,
  withoutLines,
  type Draft,
} from './pieces.js';
import { placesMax, type Left } from './left.js';

const namesMax = 10;
/** Definitions of one name that are shown. */
const ofOneNameMax = 3;
/** Pieces of a question whose callers are asked for. */
const calledMax = 8;
/** And those whose calls are. */
const callingMax = 6;
const implementationsShown = 12;
/** Names that one piece calls. */
const calleesShown = 8;
/** Names that no call connects: pairs between which a chain is looked for. */
const chainsMax = 3;
const chainMsMax = 3_000;
/** Of the room of an answer, what lines may take: flow, callers and names take the rest, and most readers need no more. */
const linesShare = 0.4;

const input = z.strictObject({
  question: questionInput
    .default('')
    .describe('A question, an error text in "quotes", or a stack trace.'),
  names: z
    .array(z.string().trim().min(1).max(nameCharsMax))
    .max(namesMax)
    .default([])
    .describe('Instead: symbols, as name, Type.name or path#name.'),
  more: z.string().max(32).default('').describe('Instead: the id that an answer ended with.'),
});

/** `explore`: from a question, or names, to the code itself. */
export const explore: Operation<typeof input> = {
  name: 'explore',
  title: 'Explore the code',
  description:
    'Call this first, before searching or reading files: for how or why something happens, where it is decided, what a change breaks, or what an error means. Returns the source of the functions that matter, the calls among them, who calls them, and what is not proved.',
  input,
  output: z.looseObject({
    pieces: z.array(z.looseObject({ file_path: z.string(), symbol: z.string() })),
    more: z.string(),
  }),
  annotations: looks,
  doing: 'exploring',
  cli: {
    command: 'explore',
    help: 'show the code that answers a question, with the calls among it',
    arguments: [
      {
        ...{ field: 'question', argument: '[question]' },
        help: 'in words; an error text in quotation marks; a stack trace; - reads standard input',
        source: { holds: 'beginning', names: '-', bytesMax: questionBytesMax },
      },
    ],
    flags: {
      names: { flag: '--names <list>', help: 'instead of a question: symbols, with commas' },
      more: { flag: '--more <id>', help: 'go on where an answer ended' },
    },
  },
  check({ question, names, more }) {
    const given = [question !== '', names.length > 0, more !== ''].filter(Boolean);
    if (given.length !== 1)
      throw new BusError('USAGE', { detail: 'give one of: a question, names, more' });
    if (question !== '') analyse(question);
  },
  async run({ question, names, more }, call): Promise<Reply<Explored>> {
    const { bus, deadlineMs, signal } = call;
    const options = { deadlineMs, signal };
    if (question !== '') return replyOf(await answering(question, bus, options), call);
    if (more !== '') return replyOf(await atPlaces(leftIn(bus, more), bus, options), call);
    return replyOf(await about(names, bus, options), call);
  },
};

/** Throws NOTHING_LEFT. */
function leftIn({ left }: Asking, id: string): Left {
  if (left === undefined) throw new BusError('NOTHING_LEFT', { id });
  return left.of(id);
}

/** The tree of what was found: another one may have the same places. */
async function askingIn(root: string, bus: Asking, options: AskingOptions): Promise<Asked> {
  return { questions: await bus.questions(root === '' ? undefined : root), options };
}

interface Asked {
  questions: Questions;
  options: AskingOptions;
}

/** What is known before it is laid out. */
interface Found {
  /** Of the tree that it stands in. */
  root: string;
  head: string[];
  drafts: Draft[];
  flow: FlowEdge[];
  unsure: string[];
  errors: CodedError[];
}

/** As much as there is room for; the rest is kept, to be gone on with. */
function replyOf({ drafts, root, ...its }: Found, { bus, charsMax }: Call): Reply<Explored> {
  const room = Number.isFinite(charsMax) ? charsMax : answerTokens.default * charsPerToken;
  const pieces = laidOut(drafts, room * linesShare);
  const left = leftOf(pieces, its.flow);
  const more = left.length === 0 ? '' : (bus.left?.keep({ root, places: left }) ?? '');
  const value: Explored = { ...its, pieces, more, more_total: left.length };
  return {
    value,
    cut: listsOf<Explored>('pieces', 'flow', 'unsure', 'errors'),
    total: pieces.length,
    shown: (part) => part.pieces.length,
    rest: () => (more === '' ? 'Call again with a larger max_tokens.' : `Go on with more=${more}.`),
    text: exploredText,
    structure: (part) => ({ ...part, pieces: part.pieces.map(({ lines: _, ...piece }) => piece) }),
    ...(pieces.length === 0 && { failure: its.errors[0], isEmpty: true }),
  };
}

/** Places that are named here without their lines: the pieces themselves, what they call, who calls them. */
function leftOf(pieces: readonly Piece[], flow: readonly FlowEdge[]): string[] {
  const placed = (piece: Piece): string => `${piece.file_path}:${piece.line_start}`;
  const shown = new Set(pieces.filter(({ lines }) => lines.length > 0).map(placed));
  const places = [
    ...pieces.map(placed),
    ...flow.map(({ definition }) => definition),
    ...pieces.flatMap(({ callees }) => callees?.rows ?? []).map(({ definition }) => definition),
    ...pieces.flatMap(({ callers }) => callers?.rows ?? []).map(({ definition }) => definition),
    ...pieces.flatMap(({ implementations }) => implementations?.rows ?? []).map(placeOf),
  ];
  return [...new Set(places)].filter((each) => each !== '' && !shown.has(each)).slice(0, placesMax);
}

async function answering(question: string, bus: Asking, options: AskingOptions): Promise<Found> {
  const request = { question, overlays: [], query_hints: [], roles: [], engine: engineName };
  const all = await bus.questions();
  const answer = await all.ask({ ...request, top_k: citationsMax }, options);
  const asked = await askingIn(answer.root, bus, options);
  const drafts = await piecesOf(answer, asked.questions, options);
  const called = await allWithCallers(drafts, asked, calledMax);
  const calling = await withRelations(called, asked, callingMax);
  // What a piece calls is told with it.
  const told = new Set(calling.flatMap(({ piece }) => (piece.callees === null ? [] : piece.id)));
  const flow = answer.flow.filter(({ evidence }) => !told.has(evidence));
  return {
    ...{ head: headlineOf(answer), drafts: calling, flow },
    unsure: [...unsureIn(answer), ...withoutLines(calling.filter(({ hidden }) => hidden > 0))],
    ...{ errors: answer.errors, root: answer.root },
  };
}

function unsureIn({ unsure, left_out, overlay_warnings }: Answer): string[] {
  return [
    ...unsure.filter(({ kind }) => kind !== 'weak').map(({ text }) => text),
    ...left_out.map(({ overlay, why }) => `${overlay} was not consulted: ${why}`),
    ...overlay_warnings,
  ];
}

/** Names that an earlier answer had no room for. */
async function atPlaces(
  { root, places }: Left,
  bus: Asking,
  options: AskingOptions,
): Promise<Found> {
  const asked = await askingIn(root, bus, options);
  const { sources, errors } = await asked.questions.sources({ symbols: places }, asked.options);
  const order = new Map(places.map((place, at) => [place, at]));
  const rank = ({ definition }: SourceText): number => order.get(placeOf(definition)) ?? 0;
  const drafts = sources.toSorted((one, other) => rank(one) - rank(other)).map(draftOf);
  const gone = places.length - new Set(sources.map(({ definition }) => placeOf(definition))).size;
  return {
    head: [`${count(drafts.length, 'further place')}.`],
    drafts: numbered(await allWithCallers(drafts, asked, calledMax)),
    flow: [],
    unsure: [
      // Known only when every shard has answered. A file, or a call that was shown, is none; and the index may have changed.
      ...(gone > 0 && errors.length === 0
        ? [`at ${count(gone, 'place')} of the answer before no definition begins`]
        : []),
      ...withoutLines(drafts),
    ],
    ...{ errors, root },
  };
}

async function about(names: string[], bus: Asking, options: AskingOptions): Promise<Found> {
  const anywhere = await bus.questions();
  const found = await Promise.all(
    names.map((name) => anywhere.sources({ symbols: [name] }, options)),
  );
  const root = found.find(({ sources }) => sources.length > 0)?.root ?? '';
  const asked = await askingIn(root, bus, options);
  const each = found.map((its) => (its.root === root ? meant(its.sources) : []));
  const unsure = names.flatMap((name, at) => notShown(name, each[at] ?? [], found[at], root));
  const errors = found.flatMap((its) => its.errors);
  const shown = each.map((all) => all.slice(0, ofOneNameMax));
  const distinct = new Map(shown.flat().map((one) => [placeOf(one.definition), one]));
  const drafts = numbered([...distinct.values()].map(draftOf));
  const every = namesMax * ofOneNameMax;
  const called = await withRelations(await allWithCallers(drafts, asked, every), asked, every);
  const flow = among(called.map(({ piece }) => piece));
  const isJoined = flow.length > 0 || shown.length < 2;
  const chains = isJoined ? [] : await chainsOf(shown, asked);
  const unknown = errors[0] ?? {
    ...new BusError('NO_SUCH_SYMBOL', { symbol: names.join(', ') }).toFailure(),
    agent: '',
  };
  return {
    head: [`${count(called.length, 'definition')} of ${count(names.length, 'name')}.`],
    ...{ drafts: called, flow: [...flow, ...chains], root },
    unsure: [...unsure, ...withoutLines(called)],
    errors: called.length === 0 ? [unknown] : errors,
  };
}

/** What of a name is not in the answer. That there is none is known only when every shard has answered. */
function notShown(
  name: string,
  meaning: readonly SourceText[],
  found: SourcesAnswer | undefined,
  root: string,
): string[] {
  if (found === undefined || found.errors.length > 0) return [];
  if (found.sources.length === 0) return [`no symbol ${name} is defined here`];
  if (found.root !== root) return [`${name} is defined in another code base, ${found.root}`];
  if (meaning.length <= ofOneNameMax) return [];
  const all = count(meaning.length, 'definition');
  return [
    `${name} has ${all}, of which ${ofOneNameMax} are shown: name one as path#name, such as ${referenceOf(meaning[ofOneNameMax])}`,
  ];
}

function numbered(drafts: readonly Draft[]): Draft[] {
  return drafts.map((each, at) => ({ ...each, piece: { ...each.piece, id: at + 1 } }));
}

/** Definitions; declarations where there is nothing else, or where they belong to a type that others implement. */
export function meant(sources: readonly SourceText[]): SourceText[] {
  const real = sources.filter(({ definition }) => !definition.declaration);
  return real.length > 0 ? real : [...sources];
}

function referenceOf(source: SourceText | undefined): string {
  if (source === undefined) return '';
  const { file_path, container, symbol } = source.definition;
  return `${file_path}#${container === '' ? '' : `${container}.`}${symbol}`;
}

/** The first of them with who calls them. That it could not be asked costs no answer. */
async function allWithCallers(
  drafts: readonly Draft[],
  { questions, options }: Asked,
  most: number,
): Promise<Draft[]> {
  return Promise.all(
    drafts.map(async (draft, at) => {
      if (at >= most) return draft;
      const piece = await withCallers(draft.piece, questions, options).catch(() => draft.piece);
      return { ...draft, piece };
    }),
  );
}

/** The first of them with what they call, and what may run or stand in their place. */
async function withRelations(
  drafts: readonly Draft[],
  { questions, options }: Asked,
  most: number,
): Promise<Draft[]> {
  return Promise.all(
    drafts.map(async ({ piece, ...lines }, at) => {
      // Of what is no definition the graph knows nothing.
      if (at >= most || lines.whole.length === 0) return { piece, ...lines };
      const symbol = referenceTo(piece);
      const [called, implementing] = await Promise.all([
        isCallable(piece)
          ? questions.callees({ symbol }, options).catch(() => undefined)
          : undefined,
        questions.implementations({ symbol }, options).catch(() => undefined),
      ]);
      const own = nearestFirst(called?.callees.filter(isOwn) ?? [], piece.file_path);
      return {
        ...lines,
        piece: {
          ...piece,
          callees: called === undefined ? null : calling(own),
          implementations:
            implementing === undefined
              ? null
              : related(implementing.implementations, implementationsShown),
        },
      };
    }),
  );
}

/** What the code base defines: a library says nothing of it. */
export const isOwn = ({ definition }: CallSite): boolean => definition !== '';

/** All calls of the first few names. */
function calling(sites: readonly CallSite[]): Related<CallSite> {
  const names = new Set([...new Set(sites.map((each) => each.symbol))].slice(0, calleesShown));
  const rows = sites.filter((each) => names.has(each.symbol));
  return { ...related(rows, rows.length), total: sites.length };
}

/** What is called from everywhere is defined elsewhere, and says least of who calls it. */
export function nearestFirst(sites: readonly CallSite[], path: string): CallSite[] {
  const near = ({ definition }: CallSite): number =>
    nearness(path, definition.replace(/:\d+$/, ''));
  return sites.toSorted((one, other) => near(other) - near(one));
}

/** Calls from one piece to another. */
function among(pieces: readonly Piece[]): FlowEdge[] {
  const places = new Map(pieces.map((each) => [`${each.file_path}:${each.line_start}`, each]));
  return pieces.flatMap((piece) =>
    (piece.callees?.rows ?? []).flatMap((site): FlowEdge[] => {
      const target = places.get(site.definition);
      if (target === undefined || target === piece) return [];
      return [
        {
          ...{ from: piece.symbol, to: site.symbol, site: `${site.file_path}:${site.line}` },
          ...{ kind: 'call', certainty: site.certainty === '' ? 'possible' : site.certainty },
          ...{ agent: site.agent, evidence: piece.id, definition: site.definition },
        },
      ];
    }),
  );
}

/** The calls that lead from one name to the next, whichever way round they lead. */
async function chainsOf(
  names: readonly (readonly SourceText[])[],
  { questions, options }: Asked,
): Promise<FlowEdge[]> {
  const known = names.flatMap(([first]) =>
    first === undefined ? [] : [placeOf(first.definition)],
  );
  const pairs = known.slice(1).map((to, at): [string, string] => [known[at] ?? '', to]);
  const deadlineMs = Math.min(options.deadlineMs, chainMsMax);
  const chain = async (from: string, to: string): Promise<FlowEdge[]> => {
    const { path } = await questions.trace({ from, to }, { ...options, deadlineMs });
    return path.slice(1).map((step, at): FlowEdge => ({
      ...{ from: path[at]?.symbol ?? '', to: step.symbol, site: step.call_site, kind: 'call' },
      certainty: step.certainty === '' ? 'possible' : step.certainty,
      ...{ agent: step.agent, evidence: 0, definition: `${step.file_path}:${step.line}` },
    }));
  };
  const found = pairs.slice(0, chainsMax).map(async ([from, to]) => {
    const there = await chain(from, to).catch(() => []);
    return there.length > 0 ? there : chain(to, from).catch(() => []);
  });
  return (await Promise.all(found)).flat();
}
