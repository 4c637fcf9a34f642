import type { ReferenceTo, Taken } from '../rules.js';

/** What must not be changed becomes of what may be. */
const guarded = 0.25;
/** A template is meant where nothing else takes the same as well; what takes everything only behind the others. */
const template = 0.1;
const anything = 0.03;
const changeable = 0.02;
const never = Infinity;

/**
 * How far a parameter is from a value of its own type by what may be done with the value: `T&` takes what stays, `T&&` what
 * passes, `const T&` both. Undefined: not known.
 */
export function cppReference(
  { mark, isConst, isOpen }: ReferenceTo,
  given: Taken,
): number | undefined {
  if (given.stays === undefined) return undefined;
  if (isOpen) {
    const its = openReference(mark, isConst, given);
    return its === undefined ? undefined : its + template;
  }
  if (mark === '&&') return given.stays ? never : 0;
  if (mark === '&' && !isConst) {
    if (!given.stays) return never;
    return given.isConst === true ? never : 0;
  }
  return undefined;
}

/** Of a type parameter, which becomes what is given. */
function openReference(
  mark: string,
  isConst: boolean,
  { stays, isConst: isGuarded }: Taken,
): number | undefined {
  if (stays === false) {
    if (mark === '&&') return isConst ? guarded / 2 : 0;
    if (mark === '&') return isConst ? guarded : never;
    return guarded;
  }
  if (mark === '&&' && isConst) return never;
  if (isGuarded === undefined) return undefined;
  if (mark === '&&') return anything;
  if (isGuarded) return isConst ? 0 : changeable;
  return isConst ? guarded : 0;
}
