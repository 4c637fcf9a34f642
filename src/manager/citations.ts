import { BusError, asBusError } from '../errors/bus-error.js';
import type { CheckedCitation } from '../delegation/manager/review.js';
import type { EvidenceCitation } from '../delegation/task/shapes.js';
import { verifyAll } from '../lattice/questions.js';

/** How long one citation may take to be checked. */
const verifyMsMax = 20_000;
/** Of the verdict on a citation. */
const reasonCharsMax = 500;

type Trees = Parameters<typeof verifyAll>[0];

export interface CitationParts {
  /** Of all shards that are known. */
  trees: () => Promise<Trees>;
  /** Ids and aliases of PGC agents that are registered, there or not. */
  registered: () => Promise<ReadonlySet<string>>;
  /** Whether shards may still be on their way: this process or its broker has just begun. */
  isSettling: () => boolean;
}

/**
 * What becomes of each citation, in their order; one that names no lines gets those in which its text stands. Throws AGENT_OFFLINE while one names an agent that is registered and whose
 * tree is not known yet: honest evidence is not refused because it could not be checked.
 */
export async function verdictsOn(
  citations: readonly EvidenceCitation[],
  { trees: known, registered, isSettling }: CitationParts,
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
  const checked: CheckedCitation[] = [];
  for (const each of citations) checked.push(await check(trees, each));
  return checked;
}

async function check(trees: Trees, given: EvidenceCitation): Promise<CheckedCitation> {
  const citation = below(trees, given);
  try {
    const [judged] = await verifyAll(trees, [citation], { deadlineMs: verifyMsMax });
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

/** From the root on, where it names a file of a tree by its whole path. */
function below(trees: Trees, citation: EvidenceCitation): EvidenceCitation {
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
