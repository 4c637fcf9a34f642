import { argumentsAt } from '../../pgc/mine/items/code-text.js';
import type { CodeView } from './code-view.js';
import { escaped } from './effects.js';
import { firstOf, isSaid, placeOf, placesMax, type Gap } from './gap.js';

const functionCharsMax = 20_000;
const allocation =
  /(?<![\w.>])((?:\*\s*)?\w{1,60}(?:(?:->|\.)\w{1,60}|\[[^\][\n]{0,40}\]){0,4})\s*=\s*(?:\([^()\n]{0,60}\)\s*)?(malloc|calloc|realloc|strdup|kmalloc|kzalloc|kcalloc|kmalloc_array|vmalloc|vzalloc|kvmalloc|kvzalloc|kstrdup|devm_kmalloc|devm_kzalloc|devm_kcalloc)\s*\(/g;

/** What is allocated and, as far as its function goes, never compared with anything. */
export function allocations(view: CodeView): Gap[] {
  const found: Gap[] = [];
  const ends = functionEnds(view);
  for (const match of firstOf(view.code.matchAll(allocation), placesMax)) {
    const [whole, target = '', call = ''] = match;
    const from = match.index + whole.length;
    const given = argumentsAt(view.code, from - 1) ?? '';
    // In a condition it is looked at where it stands.
    const head = view.code.slice(Math.max(0, match.index - 40), match.index);
    if (/[(!]\s*$/.test(head) || /NOFAIL/.test(given)) continue;
    const end = Math.min(ends(match.index), from + functionCharsMax);
    const rest = view.code.slice(from + given.length, end);
    const name = nameOf(target);
    if (name === '' || isChecked(name, rest)) continue;
    found.push({
      ...{ rule: 'MEMORY_UNCHECKED', ...placeOf(view, match.index, from) },
      what: `what \`${call}\` gives \`${name}\` is compared with nothing in the rest of its function`,
      then: 'without memory the next use of it is a null pointer',
      remedy: 'Compare it with NULL before it is used, and give back what was taken so far.',
      isExplained: isSaid(view, match.index, from),
    });
  }
  return found;
}

/** `struct x *p` is p. */
function nameOf(target: string): string {
  return target.replace(/^\*\s*/, '').trim();
}

function isChecked(name: string, rest: string): boolean {
  const its = escaped(name).replace(/\s+/g, '\\s*');
  const checks = [
    `!\\s{0,9}\\(?\\s{0,9}${its}(?![\\w.>\\[])`,
    `(?<![\\w.>])${its}\\s*(?:==|!=|\\?|&&|\\|\\|)`,
    `(?:NULL|nullptr|0)\\s*(?:==|!=)\\s*${its}(?![\\w.>\\[])`,
    `(?:if|while|assert\\w*|likely|BUG_ON|WARN_ON\\w*|KUNIT_ASSERT\\w*|IS_ERR\\w*|ZERO_OR_NULL_PTR|VERIFY\\w*|ASSERT\\w*)\\s*\\([^;{}]{0,80}${its}(?![\\w.>\\[])`,
    `return\\s{1,9}\\(?\\s{0,9}${its}(?![\\w.>\\[(])`,
    `&&\\s*${its}(?![\\w.>\\[])`,
  ];
  return checks.some((each) => new RegExp(each).test(rest));
}

/** Where the function around an offset ends: the first brace at the beginning of a line behind it. */
function functionEnds(view: CodeView): (at: number) => number {
  const ends = [...view.code.matchAll(/^\}/gm)].map(({ index }) => index);
  return (at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return ends[low] ?? view.code.length;
  };
}
