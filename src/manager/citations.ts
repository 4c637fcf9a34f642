import { existsSync } from 'node:fs';
import path from 'node:path';
import { BusError, asBusError } from '../errors/bus-error.js';
import type { CheckedCitation } from '../delegation/manager/review.js';
import type { EvidenceCitation } from '../delegation/task/shapes.js';
import type { Lattice } from '../lattice/lattice.js';
import { verifyAll } from '../lattice/questions.js';
import { plainName, type Reading } from '../pgc/answer/verify.js';
import { placeOf } from '../pgc/plan/manifest.js';
import type { Card, Definition, ShardPort } from '../pgc/shapes.js';
import type { Shards } from '../remote/shards.js';

/** How long one citation may take to be checked. */
const verifyMsMax = 20_000;
/** Of the verdict on a citation. */
const reasonCharsMax = 500;

type Tree = Pick<Card, 'agent' | 'alias' | 'root' | 'project'>;

export interface CitationParts {
  /** Of all shards that are known. */
  trees: () => Promise<readonly Tree[]>;
  /** Ids and aliases of PGC agents that are registered, there or not. */
  registered: () => Promise<ReadonlySet<string>>;
  /** Whether shards may still be on their way: this process or its broker has just begun. */
  isSettling: () => boolean;
  /** Whether the symbol of a citation is defined around its lines. */
  encloses: (citation: EvidenceCitation) => Promise<boolean>;
}

/**
 * What becomes of each citation, in their order, in the trees of `project` (a name, or a folder: see `DelegatedTask`); one that names no lines gets those in which its text stands. Throws AGENT_OFFLINE while one names an agent that is registered and whose
 * tree is not known yet: honest evidence is not refused because it could not be checked.
 */
export async function verdictsOn(
  citations: readonly EvidenceCitation[],
  { trees: known, registered, isSettling, encloses }: CitationParts,
  project = '',
): Promise<CheckedCitation[]> {
  if (citations.length === 0) return [];
  const trees = await known();
  if (isSettling()) {
    const there = new Set(trees.flatMap(({ agent, alias }) => [agent, alias]));
    const unknown = citations.map(({ agent }) => agent).filter((each) => !there.has(each));
    const agents = unknown.some((each) => each !== '') ? await registered() : new Set();
    const awaited = unknown.find((each) => agents.has(each));
    if (awaited !== undefined) throw new BusError('AGENT_OFFLINE', { agent: awaited });
  }
  const isFolder = path.isAbsolute(project);
  const own = isFolder
    ? treeAround(
        project,
        trees.map(({ root }) => root),
      )
    : '';
  const meant =
    project === '' || isFolder ? trees : trees.filter((tree) => tree.project === project);
  if (trees.length > 0 && meant.length === 0)
    return citations.map((each) => unverified(each, `no project ${project} is served`));
  const checked: CheckedCitation[] = [];
  const how = { own, encloses };
  for (const each of citations) checked.push(await check(meant, each, how));
  return checked;
}

/** The tree that the folder lies in, the innermost; empty: none. */
export function treeAround(folder: string, roots: readonly string[]): string {
  const around = roots.filter((root) => folder === root || folder.startsWith(`${root}${path.sep}`));
  return around.sort((one, other) => other.length - one.length)[0] ?? '';
}

interface Checking extends Pick<CitationParts, 'encloses'> {
  /** Of the task; empty: it names none. */
  own: string;
}

async function check(
  trees: readonly Tree[],
  given: EvidenceCitation,
  how: Checking,
): Promise<CheckedCitation> {
  const citation = below(trees, given);
  try {
    const judged = await judge(trees, citation, { own: how.own });
    if (judged.verdict.status !== 'false' || citation.line_start === 0) return judged;
    return (await readKindly(trees, citation, how)) ?? judged;
  } catch (error) {
    return unverified(citation, asBusError(error).message);
  }
}

/**
 * People and agents write citations: a line without its indentation, a part of a line, the function around the lines as the symbol. Where that stands in the
 * cited lines, the citation gets these lines as they are.
 */
async function readKindly(
  trees: readonly Tree[],
  { symbol, ...citation }: EvidenceCitation,
  { own, encloses }: Checking,
): Promise<CheckedCitation | undefined> {
  const quoted = await judge(trees, { ...citation, symbol: '' }, { own, isQuote: true });
  if (quoted.verdict.status !== 'valid') return undefined;
  const named = { ...quoted.citation, symbol };
  const asNamed = await judge(trees, named, { own });
  if (asNamed.verdict.status === 'valid') return asNamed;
  return (await encloses(named)) ? { ...quoted, citation: named } : undefined;
}

async function judge(
  trees: readonly Tree[],
  citation: EvidenceCitation,
  reading: Reading & { own: string },
): Promise<CheckedCitation> {
  const [judged] = await verifyAll(trees, [citation], { deadlineMs: verifyMsMax, ...reading });
  if (judged === undefined) return unverified(citation, 'nothing was found out');
  const { status, reason, now_at, found = {} } = judged;
  // Evidence that is none proves as little as a false one.
  const its = status === 'malformed' ? 'false' : status;
  const verdict = { status: its, reason: cut(reason), now_at };
  return { citation: { ...citation, ...found }, verdict };
}

/** From the root on, where it names a file of a tree by its whole path. */
function below(trees: readonly Tree[], citation: EvidenceCitation): EvidenceCitation {
  const { file_path } = citation;
  const root = trees.map((each) => `${each.root}/`).find((each) => file_path.startsWith(each));
  return root === undefined ? citation : { ...citation, file_path: file_path.slice(root.length) };
}

function unverified(citation: EvidenceCitation, reason: string): CheckedCitation {
  return { citation, verdict: { status: 'unverified', reason: cut(reason), now_at: '' } };
}

/** It names a text that another agent wrote. */
function cut(reason: string): string {
  return reason.slice(0, reasonCharsMax);
}

/** By the definitions that the shards know. */
export async function isAround(
  lattices: Iterable<Lattice>,
  { symbol, file_path, line_start, line_end }: EvidenceCitation,
): Promise<boolean> {
  const name = plainName(symbol);
  if (name === '') return false;
  const ports = [...lattices].flatMap((each) => [...each.ports.values()]);
  const signal = AbortSignal.timeout(verifyMsMax);
  const ask = (port: ShardPort): Promise<Definition[]> =>
    port.definitions([`${file_path}#${name}`], signal).catch(() => []);
  const all = (await Promise.all(ports.map(ask))).flat();
  return all.some(
    (each) => each.file_path === file_path && each.line <= line_start && each.line_end >= line_end,
  );
}

/**
 * Trees that citations may be checked in: those that this home has an index of. A card may name any folder, and a verdict on a file in it
 * would tell what stands there.
 */
export async function citableTrees(shards: Shards, home: string): Promise<Card[]> {
  const cards = [...(await shards.lattices()).values()].flatMap((each) => [...each.cards.values()]);
  const roots = new Set(cards.map(({ root }) => root));
  const indexed = new Set([...roots].filter((root) => existsSync(placeOf(root, home).manifest)));
  return cards.filter(({ root }) => indexed.has(root));
}
