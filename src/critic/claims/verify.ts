import { BusError } from '../../errors/bus-error.js';
import { checkCall, checkCallers } from './check-calls.js';
import {
  checkFileCount,
  checkLineCount,
  checkParameter,
  checkParameterCount,
  checkReturns,
  checkSymbolCount,
} from './check-counts.js';
import { checkAnchor, checkLine, checkPath } from './check-places.js';
import { checkEvent, checkMemberCount, checkMemberOf, checkMention } from './check-members.js';
import {
  checkErrorCode,
  checkListCount,
  checkTable,
  checkText,
  checkWording,
} from './check-wording.js';
import { checkModule, checkSignature } from './check-signatures.js';
import { checkExtends } from './check-extends.js';
import { checkDefinition, checkSymbol, checkTest } from './check-symbols.js';
import {
  checkConstant,
  checkEnvironment,
  checkOption,
  checkPackage,
  checkScript,
} from './check-values.js';
import type { Claim, Stance, Verified } from './claim.js';
import type { ReadDocument } from './document.js';
import type { KnownTree } from './known-tree.js';
import { placeOf } from './places.js';
import { unverified, type Checking, type Verdict } from './verdict.js';

const spoken: Record<Exclude<Stance, 'asserted'>, string> = {
  negated: 'It is said not to be so.',
  future: 'It is said of what is to come.',
  past: 'It is said of what was.',
  conditional: 'It is said under a condition.',
  example: 'It is said as an example.',
};

/** What the tree says of each claim, in order; told one by one. Throws what the index throws, and at the end of `signal`. */
export async function verifyClaims(
  claims: readonly Claim[],
  document: ReadDocument,
  tree: KnownTree,
  told: (verified: Verified) => void = () => undefined,
): Promise<Verified[]> {
  const found: Verified[] = [];
  const areBareNamesOwn = namesOwnFiles(claims, tree);
  const areNamesOwn = await namesOwnSymbols(claims, tree);
  const areTextsOwn = areNamesOwn && (await textsOwn(claims, tree));
  for (const claim of claims) {
    tree.signal.throwIfAborted();
    const verdict = fair(
      claim,
      await asked({ tree, document, claim, areBareNamesOwn, areNamesOwn, areTextsOwn }),
    );
    const each = { claim, ...verdict };
    found.push(each);
    told(each);
  }
  return found;
}

/** Of at least three, three in four. */
function namesOwnFiles(claims: readonly Claim[], tree: KnownTree): boolean {
  const names = new Map<string, boolean>();
  for (const { statement } of claims) {
    if (statement.kind !== 'path') continue;
    const { path } = statement;
    if (path.isStem || path.path.includes('/') || names.has(path.path)) continue;
    names.set(path.path, placeOf(tree, path).is !== 'nowhere');
  }
  const known = [...names.values()].filter((each) => each).length;
  return known >= 3 && 4 * known >= 3 * names.size;
}

/** Of at least eight, three in four. */
async function namesOwnSymbols(claims: readonly Claim[], tree: KnownTree): Promise<boolean> {
  const words = await tree.words();
  const names = new Set<string>();
  for (const { statement } of claims)
    if (statement.kind === 'symbol' && statement.symbol.isMarked) names.add(statement.symbol.name);
  const known = [...names].filter((each) => words.has(each)).length;
  return words.isComplete && known >= 8 && 4 * known >= 3 * names.size;
}

/** Of at least five words in quotes, three in four. */
async function textsOwn(claims: readonly Claim[], tree: KnownTree): Promise<boolean> {
  const words = await tree.words();
  const texts = new Set<string>();
  for (const { statement } of claims) if (statement.kind === 'text') texts.add(statement.text);
  const known = [...texts].filter((each) => words.hasText(each)).length;
  return known >= 5 && 4 * known >= 3 * texts.size;
}

/** What one question cannot answer leaves its claim open, and the others are asked. */
async function asked(checking: Checking): Promise<Verdict> {
  try {
    return await check(checking);
  } catch (error) {
    if (checking.tree.signal.aborted || !(error instanceof BusError)) throw error;
    return unverified(`The index could not say: ${error.code}.`);
  }
}

/** Only what is asserted can be wrong of the tree as it is; calls are also asked for where they are denied. */
function fair(claim: Claim, verdict: Verdict): Verdict {
  const { stance, statement } = claim;
  if (verdict.status === 'verified' && !holds(claim))
    return unverified(
      `${spoken[stance as Exclude<Stance, 'asserted'>]} ${verdict.reason}`,
      verdict.evidence,
    );
  if (verdict.status !== 'contradicted' || stance === 'asserted') return verdict;
  if (stance === 'negated' && statement.kind === 'call') return verdict;
  return unverified(`${spoken[stance]} ${verdict.reason}`, verdict.evidence);
}

const named = new Set(['symbol', 'path', 'option', 'environment', 'script', 'anchor', 'line']);

/** That something is there does not bear out that it is not; nor what is, what was, will be, or might be. */
function holds({ stance, statement: { kind } }: Claim): boolean {
  if (stance === 'asserted' || stance === 'conditional') return true;
  return stance === 'negated' ? kind === 'call' : named.has(kind);
}

function check(checking: Checking): Promise<Verdict> {
  const { statement: its } = checking.claim;
  switch (its.kind) {
    case 'symbol':
      return checkSymbol(checking, its.symbol);
    case 'path':
      return checkPath(checking, its.path);
    case 'line':
      return checkLine(checking, its.path, its.symbol);
    case 'anchor':
      return checkAnchor(checking, its.path);
    case 'definition':
      return checkDefinition(checking, its.symbol, its.path, its.how);
    case 'call':
      return checkCall(checking, its.from, its.to);
    case 'caller_count':
      return checkCallers(checking, its.symbol, its.amount);
    case 'symbol_count':
      return checkSymbolCount(checking, its.path, its.what, its.amount);
    case 'file_count':
      return checkFileCount(checking, its.path, its.what, its.amount);
    case 'line_count':
      return checkLineCount(checking, its.path, its.amount);
    case 'parameter_count':
      return checkParameterCount(checking, its.symbol, its.amount);
    case 'parameter':
      return checkParameter(checking, its.symbol, its.parameter);
    case 'extends':
      return checkExtends(checking, its.symbol, its.base);
    case 'signature':
      return checkSignature(checking, its);
    case 'member':
      return checkMemberOf(checking, its.symbol, its.member);
    case 'member_count':
      return checkMemberCount(checking, its.symbol, its.amount);
    case 'event':
      return checkEvent(checking, its.name);
    case 'mention':
      return checkMention(checking, its.from, its.to);
    case 'list_count':
      return Promise.resolve(checkListCount(its.amount, its.listed));
    case 'error_code':
      return checkErrorCode(checking, its.name, its.symbols);
    case 'text':
      return checkText(checking, its.text);
    case 'table':
      return checkTable(checking, its.name);
    case 'wording':
      return checkWording(checking, its);
    case 'module':
      return checkModule(checking, its.specifier, its.names);
    case 'returns':
      return checkReturns(checking, its.symbol, its.type);
    case 'constant':
      return checkConstant(checking, its.symbol, its.value, its.unit);
    case 'option':
      return checkOption(checking, its.flag, its.command, its.isListed);
    case 'environment':
      return checkEnvironment(checking, its.name);
    case 'script':
      return checkScript(checking, its.name);
    case 'package':
      return checkPackage(checking, its.what, its.name, its.value, its.isOwn);
    case 'test':
      return checkTest(checking, its.symbol, its.path);
  }
}
