import type { CodeView } from './code-view.js';
import { allocations } from './allocations.js';
import { escaped } from './effects.js';
import { firstOf, isSaid, placeOf, placesMax, type Gap, type GapRule } from './gap.js';
import { waits } from './waits.js';

/** Of one rule in one text. */
const perRuleMax = 40;
/** A `try` with fewer lines holds so little that everything it throws means the same. */
const broadLinesMin = 4;
/** Of a handler so much is looked at. */
const handlerCharsMax = 4_000;
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

/** The same call is awaited elsewhere in the file: its error is told there. */
function isAwaited(view: CodeView, at: number): boolean {
  const [, name] =
    /([#\w$]{1,80})\([^()]{0,80}\)$/.exec(view.code.slice(Math.max(0, at - 200), at)) ?? [];
  return (
    name !== undefined && new RegExp(`await\\s[^;\\n]{0,60}${escaped(name)}\\(`).test(view.code)
  );
}

const emptyRejection =
  /\.catch\s{0,9}\(\s{0,40}(?:\(\s{0,9}\w{0,40}\s{0,9}\)|\w{1,40})\s{0,9}=>\s{0,40}(?:\{\s{0,40}\}|undefined|null|void 0)\s{0,9},?\s{0,40}\)/g;

function ignoredRejections(view: CodeView): Gap[] {
  return [...firstOf(view.code.matchAll(emptyRejection), handlersMax)]
    .filter(({ index }) => !tidying.test(view.code.slice(Math.max(0, index - 200), index)))
    .filter(({ index }) => !isAwaited(view, index))
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
