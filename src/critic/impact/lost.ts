import type { Change, Pair } from './change.js';
import { exitsHeld, freedUsed, statementsIn } from './held.js';
import type { Loss } from './loss.js';
import { boundsLost, callsLost, handlersLost } from './lost-calls.js';
import { guardsLost, operandsLost } from './lost-checks.js';
import { lossAt, named, short, written } from './lost-parts.js';
import { resultsLost } from './lost-results.js';
import { unitGuardsMax, type Call, type Unit, type Version } from './version.js';

/** Of one change. */
const lossesMax = 60;

/**
 * What the functions that both versions have no longer do: told by what stands in both texts alone. What has moved into
 * another function of the file, or was replaced by something of its kind, is not lost.
 */
export function lossesIn(change: Change): Loss[] {
  if (change.isRewritten) return [];
  const own = change.pairs.filter(({ isHandedOver }) => !isHandedOver);
  const found = [
    ...change.pairs.flatMap((pair) => [...held(change, pair), ...swapped(change, pair)]),
    ...own.flatMap((pair) => [
      ...awaits(change, pair),
      ...(hasManyGuards(pair) ? [] : [...guardsLost(change, pair), ...resultsLost(change, pair)]),
      ...callsLost(change, pair),
      ...handlersLost(change, pair),
      ...operandsLost(change, pair),
    ]),
    ...own.flatMap((pair) => boundsLost(change, pair)),
  ];
  return once(found).slice(0, lossesMax);
}

function hasManyGuards({ before, after }: Pair): boolean {
  return Math.max(before.guards.length, after.guards.length) >= unitGuardsMax;
}

/** A place of the tree's version, or of the artifact where nothing of the tree is named, is told of once: as the first. */
function once(losses: readonly Loss[]): Loss[] {
  const told = new Set<string>();
  return losses.filter(({ places, line, unit, words }) => {
    const [place] = places;
    const key = place === undefined ? `after ${line} ${unit} ${words}` : `before ${place.line}`;
    if (told.has(key)) return false;
    for (let at = place?.line ?? 0; at <= (place?.line_end ?? place?.line ?? -1); at += 1)
      told.add(`before ${at}`);
    told.add(key);
    return true;
  });
}

function held(change: Change, pair: Pair): Loss[] {
  const { before, after } = change;
  if (after.view.family !== 'c' || pair.after.symbol === undefined) return [];
  const [old, now] = [bodyOf(before, pair.before), bodyOf(after, pair.after)];
  const counts = new Map<string, number>();
  for (const { what } of exitsHeld(old)) counts.set(what, (counts.get(what) ?? 0) + 1);
  const exits = exitsHeld(now).filter(({ what }) => {
    const left = (counts.get(what) ?? 0) - 1;
    counts.set(what, left);
    return left < 0;
  });
  const freed = freedUsed(now).filter(
    ({ what }) => !freedUsed(old).some((each) => each.what === what),
  );
  const unit = pair.after.name;
  return [
    ...exits.map(({ line, what }): Loss => ({
      ...{ kind: 'left-held', severity: 'major', unit, line, line_end: line, places: [] },
      text: `\`${unit}\` can be left here with \`${what}\` still locked: \`${written(after, line)}\`. Before, every way out gives it back.`,
      remedy: `Unlock \`${what}\` before it leaves, or leave by the label that does.`,
      words: `${unit} held ${what} ${written(after, line)}`,
    })),
    ...freed.map(({ line, what, freed: at }): Loss => ({
      ...{ kind: 'freed-used', severity: 'critical', unit, line, line_end: line },
      text: `\`${what}\` is freed at line ${at} and used here, which it was not before: \`${written(after, line)}\`.`,
      remedy: 'Use it first, and free it last.',
      ...{ words: `${unit} freed ${what}`, places: [] },
    })),
  ];
}

function bodyOf({ view }: Version, { line, line_end }: Unit): ReturnType<typeof statementsIn> {
  const open = view.code.indexOf('{', view.offsetOf(line));
  if (open < 0 || view.lineOf(open) > line_end) return [];
  return statementsIn(view, open + 1, view.closeOf(open));
}

/** What may be given in any order. */
const symmetric =
  /^(?:max|min|equals?|swap|assert\w*|is|concat|join|merge|assign|union|all|race|has)$/i;

function swapped(change: Change, pair: Pair): Loss[] {
  const found: Loss[] = [];
  const still = new Set(pair.after.calls.map(({ name, given }) => `${name}(${given.join()})`));
  const news = new Map(
    pair.after.calls
      .filter(({ line, given }) => change.isAdded(line) && given.length > 1)
      .map((call) => [sortedCall(call), call]),
  );
  for (const call of pair.before.calls) {
    if (call.given.length < 2 || !change.isRemoved(call.line) || symmetric.test(call.name))
      continue;
    const other = news.get(sortedCall(call));
    if (other === undefined || still.has(`${call.name}(${call.given.join()})`)) continue;
    if (isOwn(change, call)) continue;
    found.push({
      ...lossAt(change, pair, call, {
        ...{ kind: 'arguments-swapped', severity: 'major' },
        text: `\`${call.name}\` is given the same arguments in another order than before: (${short(other.given.join(', '))}) for (${short(call.given.join(', '))}), and nothing in this change says that it takes them so now.`,
        remedy: `Give \`${call.name}\` its arguments in their order, or change it and all who call it.`,
        words: `${pair.before.key} swapped ${call.name} ${call.given.join()}`,
      }),
      ...{ line: other.line, line_end: other.line },
    });
    if (found.length >= lossesMax) break;
  }
  return found;
}

/** The same for calls of one name with the same arguments in any order. */
function sortedCall({ name, given }: Call): string {
  return `${name}(${[...given].sort().join()})`;
}

/** Its definition stands in this file and takes other parameters by now. */
function isOwn({ before, after }: Change, { name }: Call): boolean {
  const of = ({ facts }: Version): string =>
    facts.symbols.find((symbol) => symbol.name === name && !symbol.declaration)?.signature ?? '';
  return of(before) !== of(after);
}

function awaits(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const still = after.awaits.map(({ head }) => head);
  const added = addedIn(change, after);
  let told = 0;
  return before.awaits.flatMap(({ head, line }): Loss[] => {
    const at = still.indexOf(head);
    if (at >= 0) {
      still.splice(at, 1);
      return [];
    }
    const last = head.split('.').at(-1) ?? head;
    if (told >= awaitsMax || !change.isRemoved(line)) return [];
    const place = firstUse(change, added, head, last);
    if (place === undefined) return [];
    told += 1;
    return [
      {
        ...lossAt(
          change,
          pair,
          { line },
          {
            ...{ kind: 'await-lost', severity: 'major' },
            text: `\`${head}\` is no longer awaited in ${named(after)}: what follows goes on before it is done, and nobody is told when it fails. It had \`${written(change.before, line)}\`.`,
            remedy: `Await \`${last}\`, or say in a remark why nobody has to wait for it and who hears of its failure.`,
            words: `${before.key} await ${head}`,
          },
        ),
        ...{ line: place, line_end: place },
      },
    ];
  });
}

/** Of one function. */
const awaitsMax = 20;

interface Added {
  line: number;
  code: string;
}

function addedIn(change: Change, { line: from, line_end }: Unit): Added[] {
  const { view } = change.after;
  const added: Added[] = [];
  for (let line = from; line <= line_end; line += 1)
    if (change.isAdded(line))
      added.push({ line, code: view.code.slice(view.offsetOf(line), view.offsetOf(line + 1)) });
  return added;
}

/** A new line in which it stands, and neither awaits it, hands it on, nor gives it to whoever awaits all. */
function firstUse(
  { after: { view } }: Change,
  added: readonly Added[],
  head: string,
  last: string,
): number | undefined {
  const name = head.replace(/[^\w]/g, '\\$&');
  const use = new RegExp(`(?<![\\w$#.])${name}(?![\\w$])`);
  for (const { line, code } of added) {
    if (!code.includes(last) || !use.test(code)) continue;
    const around = view.code.slice(view.offsetOf(Math.max(1, line - 3)), view.offsetOf(line + 1));
    // Handed on: by an arrow, which may stand on the line before.
    if (/=>\s*$/.test(view.code.slice(Math.max(0, view.offsetOf(line) - 200), view.offsetOf(line))))
      return undefined;
    if (/\b(?:await|return|yield|using)\b|=>|\?\?=|\.(?:then|catch|finally)\b/.test(code))
      return undefined;
    if (/\bPromise\.(?:all|allSettled|race|any)\b|\bawait\b/.test(around)) return undefined;
    return line;
  }
  return undefined;
}
