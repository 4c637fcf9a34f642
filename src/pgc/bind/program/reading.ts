import { parseExpression } from '../../format/expression.js';
import { joined } from './alternatives.js';
import type { Definition } from './definition.js';
import type { Evaluation, InsideType, Value } from './values.js';

interface How {
  /** What stands for it: a method, and a call of it. */
  steps: string;
  /** Whether the value is of this type. */
  isOwn: (type: InsideType) => boolean;
  evaluation: Evaluation;
}

/** What a value says that it is as a member of another one; undefined: nothing is known. */
export function readAs(value: Value, { steps, isOwn, evaluation }: How): Value | undefined {
  const [first, ...others] = parseExpression(`x${steps}`).steps;
  const own = first && evaluation.bounded(() => evaluation.step(value, first));
  if (own?.kind !== 'function') return undefined;
  const read = (definitions: readonly Definition[]): Value | undefined =>
    evaluation.bounded(() => evaluation.followed({ ...own, definitions }, others));
  const overloads = own.definitions.filter(({ isDeclaration }) => isDeclaration);
  if (overloads.length < 2) return read(own.definitions);
  // Asked of the type that it stands in, it gives itself.
  const isItself = (given: Value | undefined): boolean =>
    given?.kind === 'value' && given.type.kind === 'inside' && isOwn(given.type);
  return joined(overloads.map((each) => read([each])).filter((each) => !isItself(each)));
}
