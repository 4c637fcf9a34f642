import { splitList } from '../../signature.js';

/** `a::{b, c::d as e, self}` → `a::b`, `a::c::d` as `e`, `a`. Names are as in `ImportFact`. */
export function usesOf(source: string): { target: string; name: string }[] {
  const brace = source.indexOf('{');
  if (brace < 0) return [useOf(source)];
  const prefix = source.slice(0, brace);
  const inner = source.slice(brace + 1, source.lastIndexOf('}'));
  return splitList(inner).flatMap((each) =>
    each === 'self' || each.startsWith('self as ')
      ? [useOf(prefix.replace(/::\s*$/, '') + each.slice('self'.length))]
      : usesOf(prefix + each),
  );
}

function useOf(source: string): { target: string; name: string } {
  const [path = '', alias] = source.split(/\s+as\s+/);
  const parts = path.split('::').map((part) => part.trim());
  const last = parts.pop() ?? '';
  const target = parts.join('::');
  if (last === '*') return { target, name: '*' };
  return { target, name: alias === undefined ? last : `${last}:${alias}` };
}
