import { parseType, type TypeText } from '../../format/expression.js';
import type { TypeRole } from '../../format/facts.js';
import type { TypeRow } from '../../format/shard-index.js';
import type { SourceText } from './source-text.js';

/** A definition of the program, in any shard. */
export interface Definition {
  shard: number;
  symbol: number;
  name: string;
  /** By which it is meant: its name, unless it is inside a function. */
  key: string;
  kind: string;
  container: string;
  /** The type around it, with those around that one: `Outer.Inner`. */
  inside: string;
  /** It has no body: a method of an interface. */
  isAbstract: boolean;
  isDeclaration: boolean;
  /** Where functions of a name are told apart by their arguments; else 0. */
  line: number;
  file: SourceText;
  types: readonly TypeRow[];
  /** Its language says nothing of types. */
  isBare?: boolean;
  /** It is meant in its own text alone. */
  isHidden?: boolean;
}

/** See `TypeRole`. */
export function hasMark({ types }: Pick<Definition, 'types'>, mark: string): boolean {
  return types.some(({ role, name }) => role === 'mark' && name === mark);
}

/** What a definition says in one role, in order. */
export function typesIn(
  { types }: Definition,
  role: TypeRole,
): { name: string; type: TypeText | undefined; text: string }[] {
  return types
    .filter((each) => each.role === role)
    .map(({ name, type }) => ({ name, type: parsed(type), text: type }));
}

const parsedTypes = new Map<string, TypeText | undefined>();
const parsedMax = 100_000;

function parsed(text: string): TypeText | undefined {
  if (parsedTypes.has(text)) return parsedTypes.get(text);
  if (parsedTypes.size >= parsedMax) parsedTypes.clear();
  const type = parseType(text);
  parsedTypes.set(text, type);
  return type;
}
