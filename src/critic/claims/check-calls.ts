import type { CallSite, Definition } from '../../pgc/shapes.js';
import type { Evidence } from '../shapes.js';
import { claimLimits, type Amount, type PathName, type SymbolName } from './claim.js';
import { definitionsOf } from './check-symbols.js';
import { hasWord, lineOfWord, testPath, type KnownTree } from './known-tree.js';
import { placeOf } from './places.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

/** Steps between two functions that may still be called a call. */
const indirectMax = 4;

export async function checkCall(
  { tree, claim }: Checking,
  from: SymbolName | PathName,
  to: SymbolName,
): Promise<Verdict> {
  const { callers, isPartial } = await tree.uses(to.name);
  const sites =
    'path' in from
      ? within(tree, callers, from)
      : callers.filter(({ symbol }) => symbol === from.name);
  const written = sites.length > 0 ? sites[0] : undefined;
  const said = 'path' in from ? from.path : from.name;
  const isDenied = claim.stance === 'negated';
  if (written !== undefined) {
    const evidence = await siteEvidence(tree, [written], to.name);
    const text = `${said} calls ${to.name} at ${written.file_path}:${written.line}.`;
    return isDenied
      ? contradicted(text, 'It is called there.', evidence)
      : verified(text, evidence);
  }
  if (isPartial) return unverified('A part of the index did not answer.');
  // What nothing calls by this name may be called by the name of its inner part.
  const inner = callers.length === 0 ? `__${to.name}` : to.name;
  const body = (await mention(tree, from, to.name)) ?? (await mention(tree, from, inner));
  if (body === 'unknown') return unverified(`Nothing is known of ${said}.`);
  if (isDenied) {
    const reason = `The index has no call of ${to.name} from ${said}.`;
    return body === undefined ? verified(reason, [], 'medium') : unverified(reason);
  }
  if (body !== undefined) return verified(`${said} names ${to.name}.`, body, 'medium');
  return noCall({ tree, claim }, from, to, callers);
}

/** Said of a call by way of others. */
const isLoose =
  /\b(?:indirectly|eventually|ultimately|in turn|in the end|ends? up|by way of|by means of|through|via|what it is made of|chain|leads? to|transitively|finally)\b/i;

/** The index knows both, and neither a call nor the name is where it is said to be. */
async function noCall(
  { tree, claim }: Pick<Checking, 'tree' | 'claim'>,
  from: SymbolName | PathName,
  to: SymbolName,
  callers: readonly CallSite[],
): Promise<Verdict> {
  const said = 'path' in from ? from.path : from.name;
  const targets = await definitionsOf(tree, to);
  const words = await tree.words();
  if (targets.length === 0 && callers.length === 0 && !words.has(to.name))
    return unverified(`${to.name} is not in the code.`);
  if (!('path' in from) && targets.length > 0) {
    const options = { deadlineMs: claimLimits.questionMs, signal: tree.signal };
    const { found, path } = await tree.ground.questions.trace(from.name, to.name, options);
    const between = path.slice(1, -1).map(({ symbol }) => symbol);
    if (found && path.length <= indirectMax && isLoose.test(claim.text))
      return unverified(`Not directly: by way of ${between.join(', ')}.`);
  }
  const [first] = callers;
  const [definition] = 'path' in from ? [] : await definitionsOf(tree, from);
  const at: Evidence[] =
    definition === undefined
      ? []
      : await tree.evidence(
          definition.file_path,
          definition.line,
          definition.line_end,
          definition.symbol,
        );
  return contradicted(
    `${said} does not call ${to.name}.`,
    first === undefined
      ? `The index knows no call of ${to.name}.`
      : `It is called by ${names(callers)}.`,
    [...at, ...(await siteEvidence(tree, callers.slice(0, 1), to.name))],
  );
}

/** Where a word stands in what calls; `unknown`: that is not in the tree. */
async function mention(
  tree: KnownTree,
  from: SymbolName | PathName,
  word: string,
): Promise<Evidence[] | 'unknown' | undefined> {
  if ('path' in from) {
    const place = placeOf(tree, from);
    if (place.is !== 'file') return 'unknown';
    const text = (await tree.text(place.file)) ?? '';
    return hasWord(text, word) ? tree.evidence(place.file, lineOfWord(text, word)) : undefined;
  }
  const bodies = (await definitionsOf(tree, from)).filter(
    ({ declaration, line, line_end }) => !declaration && line_end > line,
  );
  if (bodies.length === 0) return 'unknown';
  for (const body of bodies) {
    const at = await inBody(tree, body, word);
    if (at > 0) return tree.evidence(body.file_path, at, at, word);
  }
  return undefined;
}

async function inBody(tree: KnownTree, body: Definition, word: string): Promise<number> {
  const lines = ((await tree.text(body.file_path)) ?? '').split('\n');
  // A variable of the same name is another thing.
  const local = new RegExp(`\\b(?:const|let|var)\\s+${word.replaceAll('$', '\\$')}\\s*=`);
  if (lines.slice(body.line - 1, body.line_end).some((line) => local.test(line))) return 0;
  for (let at = body.line; at <= body.line_end; at += 1)
    if (hasWord(lines[at - 1] ?? '', word)) return at;
  return 0;
}

function within(tree: KnownTree, callers: readonly CallSite[], name: PathName): CallSite[] {
  const place = placeOf(tree, name);
  if (place.is === 'file') return callers.filter(({ file_path }) => file_path === place.file);
  if (place.is === 'folder')
    return callers.filter(({ file_path }) => file_path.startsWith(`${place.folder}/`));
  return place.is === 'several'
    ? callers.filter(({ file_path }) => place.files.includes(file_path))
    : [];
}

function names(callers: readonly CallSite[]): string {
  const all = [...new Set(callers.map(({ symbol, file_path }) => symbol || file_path))];
  return all.slice(0, 5).join(', ') + (all.length > 5 ? ` and ${all.length - 5} more` : '');
}

async function siteEvidence(
  tree: KnownTree,
  sites: readonly CallSite[],
  symbol: string,
): Promise<Evidence[]> {
  const found = sites
    .slice(0, claimLimits.evidence)
    .map((each) => tree.evidence(each.file_path, each.line, each.line, symbol));
  return (await Promise.all(found)).flat();
}

/** Places, functions or files may have been counted, with the tests or without: each count that agrees will do. */
export async function checkCallers(
  { tree, claim }: Checking,
  symbol: SymbolName,
  amount: Amount,
): Promise<Verdict> {
  const { definitions, callers, isPartial } = await tree.uses(symbol.name);
  if (isPartial) return unverified('A part of the index did not answer.');
  if (definitions.length === 0 && callers.length === 0)
    return unverified(`Nothing is known of ${symbol.name}.`);
  const product = callers.filter(({ file_path }) => !testPath.test(file_path));
  const counts = new Set([callers, product].flatMap(countsOf));
  const evidence = await siteEvidence(tree, callers, symbol.name);
  const sites = callers.length === 1 ? 'place' : 'places';
  const found = `${symbol.name} is called in ${callers.length} ${sites}${callers.length === 0 ? '' : `: ${places(callers)}`}.`;
  if ([...counts].some((count) => agrees(count, amount))) return verified(found, evidence);
  if (claim.stance === 'negated') return unverified(found, evidence);
  // What is given away as a value is called where no index sees it.
  if (definitions.length === 0)
    return unverified(`${found} Its definition is not in the tree.`, evidence);
  return contradicted(found, `Say ${callers.length}, or what is counted.`, evidence);
}

function countsOf(sites: readonly CallSite[]): number[] {
  const lines = new Set(sites.map((each) => `${each.file_path}:${each.line}`));
  const functions = new Set(sites.map((each) => `${each.file_path}#${each.symbol}`));
  const named = new Set(sites.map((each) => each.symbol).filter((each) => each !== ''));
  const files = new Set(sites.map((each) => each.file_path));
  return [sites.length, lines.size, functions.size, named.size, files.size];
}

function places(callers: readonly CallSite[]): string {
  const all = callers.map((each) => `${each.file_path}:${each.line}`);
  return all.slice(0, 6).join(', ') + (all.length > 6 ? ' …' : '');
}

export function agrees(count: number, { value, bound }: Amount): boolean {
  switch (bound) {
    case 'exactly':
      return count === value;
    case 'at least':
      return count >= value;
    case 'at most':
      return count <= value;
    case 'about':
      return Math.abs(count - value) <= Math.max(1, value / 10);
  }
}
