import { argumentsAt } from '../../pgc/items/code-text.js';
import type { CodeView } from './code-view.js';
import { escaped } from './effects.js';

export const gapRules = [
  'ERROR_SWALLOWED',
  'ERROR_CATCH_ALL',
  'LOOP_WITHOUT_END',
  'WAIT_WITHOUT_END',
  'MEMORY_UNCHECKED',
] as const;
export type GapRule = (typeof gapRules)[number];

/** Something that the text itself shows to be missing. */
export interface Gap {
  rule: GapRule;
  line_start: number;
  line_end: number;
  /** What is so, in a clause that begins with a small letter. */
  what: string;
  /** What happens then. */
  then: string;
  remedy: string;
  /** A remark stands there which says why. */
  isExplained: boolean;
}

/** Of one rule in one text. */
const perRuleMax = 40;
/** A `try` with fewer lines holds so little that everything it throws means the same. */
const broadLinesMin = 4;
const functionCharsMax = 20_000;
/** Of a handler so much is looked at. */
const handlerCharsMax = 4_000;
/** Places of one pattern that are looked at: what each costs is bounded, and so is all of it. */
const placesMax = 200;
const handlersMax = 2_000;

/** Every gap of a text, in order of the text. Each is decided by what stands in the text alone. */
export function gapsIn(view: CodeView): Gap[] {
  const found = [
    ...handlers(view),
    ...(view.family === 'es' ? ignoredRejections(view) : []),
    ...(view.family === 'python' ? pythonHandlers(view) : []),
    ...(view.family === 'python' ? pythonLoops(view) : loops(view)),
    ...waits(view),
    ...(view.family === 'c' ? allocations(view) : []),
  ];
  const counts = new Map<GapRule, number>();
  return found
    .sort((one, other) => one.line_start - other.line_start)
    .filter(({ rule }) => {
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
      return (counts.get(rule) ?? 0) <= perRuleMax;
    });
}

const swallowedThen = 'nobody is told there that it failed, neither a caller nor a log';
const swallowedRemedy =
  'Hand the error on or count and log it; where nothing has to be done, say why in that place.';

function swallowed(view: CodeView, from: number, to: number): Gap {
  return {
    ...{ rule: 'ERROR_SWALLOWED', ...placeOf(view, from, to), isExplained: isSaid(view, from, to) },
    ...{ what: 'an error is caught and nothing is done about it', then: swallowedThen },
    remedy: swallowedRemedy,
  };
}

/** A remark in the place, on its line, or on the line above. */
function isSaid(view: CodeView, from: number, to: number): boolean {
  const { line_start, line_end } = placeOf(view, from, to);
  return view.comments.some(
    (each) => each.line_end >= line_start - 1 && each.line_start <= line_end && each.text !== '',
  );
}

/** Any way out of a block of a `catch` that is more than a value: the error goes on, or somebody is told. */
const handsOn =
  /\b(?:throw|reject|raise|abort|exit|fail\w*|destroy|emit|warn\w*|error|log\w*|print\w*|report\w*|note\w*|close\w*|count\w*)\b/i;

function handlers(view: CodeView): Gap[] {
  if (view.family !== 'es' && view.family !== 'java' && view.family !== 'c') return [];
  const found: Gap[] = [];
  const trying = /\btry\s{0,20}(?:\([^{}]{0,400}\)\s{0,20})?\{/g;
  for (const match of firstOf(view.code.matchAll(trying), handlersMax)) {
    const close = view.closeOf(match.index + match[0].length - 1);
    const caught = /^\}\s*catch\s*(?:\(([^(){}]{0,200})\))?\s*\{/.exec(
      view.code.slice(close, close + 400),
    );
    if (caught === null) continue;
    const open = close + caught[0].length - 1;
    const end = view.closeOf(open);
    const body = view.code.slice(open + 1, Math.min(end, open + handlerCharsMax));
    // Masked: a text that is thrown away with its line of code leaves a blank, a statement does not.
    const tried = view.code.slice(Math.max(match.index, close - 200), close);
    if (body.trim() === '' && tidying.test(tried.trimEnd())) continue;
    if (body.trim() === '') {
      found.push(swallowed(view, close, end));
      continue;
    }
    const isBroad = catchesAll(view.family, caught[1], body);
    const lines = view.lineOf(close) - view.lineOf(match.index) - 1;
    if (!isBroad || lines < broadLinesMin || handsOn.test(body)) continue;
    found.push({
      ...{ rule: 'ERROR_CATCH_ALL', ...placeOf(view, close, end) },
      what: `whatever ${lines} lines throw is taken for one and the same thing, and the error itself is not looked at`,
      then: 'a fault of the program or of the machine passes for the case that was meant',
      remedy: 'Look at the kind of the error, and let those go on that were not meant.',
      isExplained: isSaid(view, close, end) || isForetold(view, close),
    });
  }
  return found;
}

const remarkLinesMax = 25;
const failing =
  /\b(?:damaged|unreadable|absent|missing|not there|fail\w*|cannot|unknown|undefined|anew|whatever|errors?|invalid|malformed|broken|none|nothing|empty|throws?)\b/i;

/** The remark above the function says what is given when it does not work. */
function isForetold(view: CodeView, from: number): boolean {
  const line = view.lineOf(from);
  const above = view.comments.findLast((each) => each.line_end < line);
  return above !== undefined && line - above.line_end <= remarkLinesMax && failing.test(above.text);
}

/** Whatever is thrown, and the block does not even look at it. */
function catchesAll(family: string, caught: string | undefined, body: string): boolean {
  const name = /([\w$]+)\s*(?::\s*\w+\s*)?$/.exec(caught?.trim() ?? '')?.[1];
  if (family === 'c') return /^\s*\.\.\.\s*$/.test(caught ?? '');
  if (family === 'java' && !/\b(?:Exception|Throwable|Error)\s+\w+\s*$/.test(caught ?? ''))
    return false;
  return name === undefined || !new RegExp(`(?<![.\\w$])${escaped(name)}\\b`).test(body);
}

/** What ends something anyway: whether that failed concerns nobody. */
const tidying =
  /\b(?:cancel|close|closeSync|destroy|end|kill|unlink|unlinkSync|rm|rmSync|dispose|release|stop|abort|terminate)\s{0,4}\([^()]{0,120}\)\s{0,40};?\s*$/;

const emptyRejection =
  /\.catch\s{0,9}\(\s{0,40}(?:\(\s{0,9}\w{0,40}\s{0,9}\)|\w{1,40})\s{0,9}=>\s{0,40}(?:\{\s{0,40}\}|undefined|null|void 0)\s{0,9},?\s{0,40}\)/g;

function ignoredRejections(view: CodeView): Gap[] {
  return [...firstOf(view.code.matchAll(emptyRejection), handlersMax)]
    .filter(({ index }) => !tidying.test(view.code.slice(Math.max(0, index - 200), index)))
    .map((match) => swallowed(view, match.index, match.index + match[0].length));
}

const pythonCatch =
  /^([ \t]*)except(?:[ \t]+(?:Base)?Exception(?:[ \t]+as[ \t]+\w+)?)?[ \t]*:[ \t]*(?:(pass|\.\.\.|continue)[ \t]*)?$/gm;

function pythonHandlers(view: CodeView): Gap[] {
  const found: Gap[] = [];
  for (const match of firstOf(view.code.matchAll(pythonCatch), handlersMax)) {
    const line = view.lineOf(match.index);
    const end = view.offsetOf(line + 1);
    const next = view.code.slice(end, view.offsetOf(line + 2));
    const isEmpty =
      match[2] !== undefined || /^[ \t]+(?:pass|\.\.\.|continue)[ \t]*\r?\n?$/.test(next);
    if (isEmpty) found.push(swallowed(view, match.index, match[2] === undefined ? end : end - 1));
  }
  return found;
}

const endless =
  /\b(?:while\s*\(\s*(?:true|1)\s*\)|for\s*\(\s*;\s*;\s*\)|loop(?=\s*\{)|for(?=\s*\{))\s*\{/g;
/** Whatever may leave a loop; calls that never return, and what only waits, count. */
const wayOut =
  /\b(?:break|return|throw|goto|yield|await|exit|_exit|do_exit|abort|panic|BUG|die|longjmp|kthread_exit|make_task_dead|stop_this_cpu|cpu_relax|halt|cpu_die|cpu_do_idle|play_dead)\b|\?\s*;/;

function loops(view: CodeView): Gap[] {
  const found: Gap[] = [];
  for (const match of firstOf(view.code.matchAll(endless), placesMax)) {
    const open = match.index + match[0].length - 1;
    const isOther = view.family !== 'rust' && match[0].startsWith('loop');
    if (isOther || (view.family !== 'go' && /^for\s*\{/.test(match[0]))) continue;
    const close = view.closeOf(open);
    if (!wayOut.test(view.code.slice(open, close))) found.push(endlessAt(view, match.index, close));
  }
  return found;
}

function endlessAt(view: CodeView, from: number, to: number): Gap {
  return {
    ...{
      rule: 'LOOP_WITHOUT_END',
      ...placeOf(view, from, to),
      isExplained: isSaid(view, from, to),
    },
    what: 'a loop has no end, and nothing in it leaves it',
    then: 'whoever gets there stays there, and no time or signal ends it from inside',
    remedy: 'Give it a condition, a bound or a signal that ends it.',
  };
}

function pythonLoops(view: CodeView): Gap[] {
  const found: Gap[] = [];
  const lines = view.code.split('\n');
  const begins = /^([ \t]*)while[ \t]+(?:True|1)[ \t]*:[ \t]*$/gm;
  for (const match of firstOf(view.code.matchAll(begins), placesMax)) {
    const depth = (match[1] ?? '').length;
    const first = view.lineOf(match.index);
    let last = first;
    for (let at = first; at < lines.length; at += 1) {
      const line = lines[at] ?? '';
      if (line.trim() !== '' && line.length - line.trimStart().length <= depth) break;
      last = at + 1;
    }
    const body = lines.slice(first, last).join('\n');
    if (!/\b(?:break|return|raise|yield|await|exit|_exit|abort)\b/.test(body))
      found.push(endlessAt(view, match.index, view.offsetOf(last)));
  }
  return found;
}

interface Waiting {
  pattern: RegExp;
  /** Which, where its arguments have it, ends the wait. */
  ends: RegExp;
  /** Its arguments decide only when they stand there as they are. */
  isKnown: (given: string) => boolean;
}

const spread = /\.\.\.|\*\*/;
const literalOptions = (given: string): boolean =>
  !spread.test(given) && (!given.includes(',') || /\{[^]*\}\s*,?\s*$/.test(given));
const keywords = (given: string): boolean => !spread.test(given);

const waiting: Partial<Record<CodeView['family'], readonly Waiting[]>> = {
  es: [
    { pattern: /(?<![.\w$#])fetch(?=\s*\()/g, ends: /\bsignal\b/, isKnown: literalOptions },
    {
      pattern: /(?<![.\w$#])(?:execSync|execFileSync|spawnSync)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: (given) => !spread.test(given) && /\{[^]*\}\s*,?\s*$/.test(given),
    },
  ],
  python: [
    {
      pattern: /\brequests\.(?:get|post|put|delete|head|patch|request)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: keywords,
    },
    {
      pattern: /\b(?:subprocess\.(?:run|call|check_call|check_output)|urlopen)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: keywords,
    },
  ],
  go: [
    { pattern: /\bhttp\.(?:Get|Post|Head|PostForm)(?=\s*\()/g, ends: /^\0/, isKnown: () => true },
  ],
};

function waits(view: CodeView): Gap[] {
  const found: Gap[] = [];
  for (const { pattern, ends, isKnown } of waiting[view.family] ?? []) {
    for (const match of firstOf(view.code.matchAll(pattern), placesMax)) {
      const end = match.index + match[0].length;
      const given = argumentsAt(view.code, end);
      // Cut at its limit: what stands behind is not known.
      if (given === undefined || given.length >= 400) continue;
      if (!isKnown(given) || ends.test(given)) continue;
      found.push({
        ...{ rule: 'WAIT_WITHOUT_END', ...placeOf(view, match.index, end + given.length) },
        what: `\`${match[0]}\` is called without a time after which it gives up`,
        then: 'when the other side neither answers nor fails, whoever called waits as long',
        remedy: 'Give the call a time limit or a signal, and say what happens at it.',
        isExplained: isSaid(view, match.index, end),
      });
    }
  }
  return found;
}

const allocation =
  /(?<![\w.>])((?:\*\s*)?\w{1,60}(?:(?:->|\.)\w{1,60}|\[[^\][\n]{0,40}\]){0,4})\s*=\s*(?:\([^()\n]{0,60}\)\s*)?(malloc|calloc|realloc|strdup|kmalloc|kzalloc|kcalloc|kmalloc_array|vmalloc|vzalloc|kvmalloc|kvzalloc|kstrdup|devm_kmalloc|devm_kzalloc|devm_kcalloc)\s*\(/g;

/** What is allocated and, as far as its function goes, never compared with anything. */
function allocations(view: CodeView): Gap[] {
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
    `return\\s+\\(?[^;]{0,40}${its}(?![\\w.>\\[])`,
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

function* firstOf<T>(all: Iterable<T>, most: number): Generator<T> {
  let count = 0;
  for (const each of all) {
    if ((count += 1) > most) return;
    yield each;
  }
}

function placeOf(
  view: CodeView,
  from: number,
  to: number,
): { line_start: number; line_end: number } {
  return { line_start: view.lineOf(from), line_end: view.lineOf(Math.max(from, to)) };
}
