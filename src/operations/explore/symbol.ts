import { z } from 'zod';
import type { AskingOptions, Questions } from '../../lattice/questions.js';
import type { CallSite } from '../../pgc/shapes.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { exploredText, type Explored, type Piece } from '../../render/explored.js';
import { count } from '../../render/terminal.js';
import { answerTokens, charsPerToken, listsOf } from '../bounds.js';
import { looks, type Operation, type Reply } from '../operation.js';
import { symbolInput } from '../shapes.js';
import { isOwn, meant, nearestFirst } from './explore.js';
import { laidOut } from './layout.js';
import {
  draftOf,
  isCallable,
  placeOf,
  referenceTo,
  related,
  sourcesFirst,
  withoutLines,
} from './pieces.js';

/** Definitions of the name that are shown. */
const definitionsMax = 8;
const rowsShown = 40;
const possibleShown = 5;
const linesShare = 0.6;

const input = z.strictObject({ symbol: symbolInput });

/** `symbol`: all that is known of one name. */
export const symbol: Operation<typeof input> = {
  name: 'symbol',
  title: 'All about one symbol',
  description:
    'Before you read or change a function, method, type or constant: its source, every caller, what it calls, what implements it. Resolved by the compiler’s rules, not matched by text; what is not proved is said.',
  input,
  output: z.looseObject({
    pieces: z.array(z.looseObject({ file_path: z.string(), symbol: z.string() })),
  }),
  annotations: looks,
  doing: 'looking the symbol up',
  cli: {
    command: 'symbol',
    help: 'show a symbol: its source, callers, callees and implementations',
    arguments: ['symbol'],
  },
  async run({ symbol: name }, { bus, deadlineMs, signal, charsMax }): Promise<Reply<Explored>> {
    const options = { deadlineMs, signal };
    const anywhere = await bus.questions();
    const { sources, errors, root } = await anywhere.sources({ symbols: [name] }, options);
    // Another tree may have the same places.
    const questions = await bus.questions(root === '' ? undefined : root);
    const all = meant(sources);
    const room = Number.isFinite(charsMax) ? charsMax : answerTokens.default * charsPerToken;
    const drafts = all.slice(0, definitionsMax).map(draftOf);
    const unsure = withoutLines(drafts);
    const pieces = await Promise.all(
      laidOut(drafts, room * linesShare).map((piece, at) =>
        known({ ...piece, id: at + 1 }, questions, options, unsure),
      ),
    );
    const left = all.slice(definitionsMax).map(({ definition }) => placeOf(definition));
    const more = left.length === 0 ? '' : (bus.left?.keep({ root, places: left }) ?? '');
    const unknown = { ...new BusError('NO_SUCH_SYMBOL', { symbol: name }).toFailure(), agent: '' };
    const value: Explored = {
      head: [`${count(all.length, 'definition')} of ${name}.`],
      ...{ pieces, flow: [], unsure, more, more_total: left.length },
      errors: pieces.length === 0 && errors.length === 0 ? [unknown] : errors,
    };
    return {
      value,
      cut: listsOf<Explored>('pieces', 'errors'),
      total: pieces.length,
      shown: (part) => part.pieces.length,
      rest: () => 'Name one as path#name, or call again with a larger max_tokens.',
      text: exploredText,
      structure: (part) => ({
        ...part,
        pieces: part.pieces.map(({ lines: _, ...piece }) => piece),
      }),
      ...(pieces.length === 0 && { failure: value.errors[0], isEmpty: true }),
    };
  },
};

/** What could not be asked is null, and said in `unsure`: it costs no answer. */
async function known(
  piece: Piece,
  questions: Questions,
  options: AskingOptions,
  unsure: string[],
): Promise<Piece> {
  const place = { symbol: referenceTo(piece) };
  const asked = async <A>(what: string, answer: Promise<A>): Promise<A | undefined> => {
    try {
      return await answer;
    } catch (error) {
      unsure.push(`${what} ${piece.symbol} is not known: ${asBusError(error).message}`);
      return undefined;
    }
  };
  const [used, called, implementing] = await Promise.all([
    asked('who uses', questions.references(place, options)),
    asked('what is called by', questions.callees(place, options)),
    asked('what implements', questions.implementations(place, options)),
  ]);
  const sites = sourcesFirst(used?.callers ?? []);
  const calls = sites.filter(isCall);
  const callees = nearestFirst(called?.callees.filter(isOwn) ?? [], piece.file_path);
  const isCalled = isCallable(piece) || calls.length > 0;
  return {
    ...piece,
    callers: used !== undefined && isCalled ? related(calls, rowsShown) : null,
    uses:
      used === undefined
        ? null
        : related(
            sites.filter((each) => !isCall(each)),
            rowsShown,
          ),
    possible:
      used === undefined
        ? null
        : { ...related(used.possible, possibleShown), total: used.possible_total },
    callees: called === undefined ? null : related(callees, rowsShown),
    implementations:
      implementing === undefined ? null : related(implementing.implementations, rowsShown),
  };
}

/** What is put into a structure, or passed on, is not called there. */
const isCall = ({ kind }: CallSite): boolean => !/^(?:value|type|slot)$/.test(kind);
