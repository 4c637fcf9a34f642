import path from 'node:path';
import { BusError, asBusError } from '../errors/bus-error.js';
import type { CheckedCitation } from '../delegation/manager/review.js';
import type { EvidenceCitation } from '../delegation/task/shapes.js';
import { verifyAll } from '../lattice/questions.js';
import { placeOf } from '../pgc/plan/manifest.js';
import type { Card } from '../pgc/shapes.js';
import type { Shards } from '../remote/shards.js';
import { existsSync } from 'node:fs';

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
}

/**
 * What becomes of each citation, in their order, in the trees of `project` (a name, or a folder: see `DelegatedTask`); one that names no lines gets those in which its text stands. Throws AGENT_OFFLINE while one names an agent that is registered and whose
 * tree is not known yet: honest evidence is not refused because it could not be checked.
 */
export async function verdictsOn(
  citations: readonly EvidenceCitation[],
  { trees: known, registered, isSettling }: CitationParts,
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
  const own = isFolder ? treeAround(project, trees) : '';
  const meant =
    project === '' || isFolder ? trees : trees.filter((tree) => tree.project === project);
  if (trees.length > 0 && meant.length === 0)
    return citations.map((each) => unverified(each, `no project ${project} is served`));
  const checked: CheckedCitation[] = [];
  for (const each of citations) checked.push(await check(meant, each, own));
  return checked;
}

/** The tree that the folder lies in, the innermost; empty: none. */
function treeAround(folder: string, trees: readonly Tree[]): string {
  const roots = trees.map(({ root }) => root);
  const around = roots.filter((root) => folder === root || folder.startsWith(`${root}${path.sep}`));
  return around.sort((one, other) => other.length - one.length)[0] ?? '';
}

async function check(
  trees: readonly Tree[],
  citation: EvidenceCitation,
  own: string,
): Promise<CheckedCitation> {
  try {
    const [judged] = await verifyAll(trees, [citation], { deadlineMs: verifyMsMax }, own);
    if (judged === undefined) return unverified(citation, 'nothing was found out');
    const { status, reason, now_at, found = {} } = judged;
    const verdict = { status, reason: cut(reason), now_at };
    return { citation: { ...citation, ...found }, verdict };
  } catch (error) {
    const { code, message } = asBusError(error);
    if (code !== 'CITATION_MALFORMED') return unverified(citation, message);
    return { citation, verdict: { status: 'false', reason: cut(message), now_at: '' } };
  }
}

function unverified(citation: EvidenceCitation, reason: string): CheckedCitation {
  return { citation, verdict: { status: 'unverified', reason: cut(reason), now_at: '' } };
}

/** It names a text that another agent wrote. */
function cut(reason: string): string {
  return reason.slice(0, reasonCharsMax);
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
