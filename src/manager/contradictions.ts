import { systemClock } from '../base/clock.js';
import type { Client } from '../client/client.js';
import { TreeGround } from '../critic/artifact/tree-ground.js';
import type { Statement } from '../critic/claims/claim.js';
import { extractClaims } from '../critic/claims/extract.js';
import { Tree } from '../critic/claims/tree.js';
import { verifyClaims } from '../critic/claims/verify.js';
import type { DelegatedTask, TaskResponse } from '../delegation/task/shapes.js';
import { LatticeQuestions } from '../lattice/questions.js';
import { remoteAnalyses } from '../remote/analyses.js';
import type { Shards } from '../remote/shards.js';
import { rootOf } from './critiques.js';

/** All of a result together; what is not looked up by then counts as unchecked. */
const lookUpMs = 15_000;
const claimsMax = 20;
/** What the index and the lines that it knows decide. What a result says of commands, packages and plans is not for them. */
const decidable = new Set<Statement['kind']>([
  ...(['calls', 'call_count', 'throws', 'parameter_count', 'definition', 'line'] as const),
  'constant',
]);

/** Reports each sentence of a result that the index contradicts, with what it says. Throws what a tree that cannot be read does. */
export async function contradictionsIn(
  { task, response }: { task: DelegatedTask; response: TaskResponse },
  client: Client,
  shards: Shards,
  report: (contradicted: string) => void,
): Promise<void> {
  const { claims, read } = extractClaims('result.md', response.result);
  const wanted = claims.filter(({ statement }) => decidable.has(statement.kind));
  if (wanted.length === 0) return;
  const root = await rootOf({ task, response }, shards);
  const lattice = (await shards.lattices()).get(root);
  if (lattice === undefined) return;
  const questions = new LatticeQuestions(lattice, systemClock);
  const ground = await TreeGround.open(root, questions, remoteAnalyses(client, root));
  const tree = await Tree.open(ground, '', AbortSignal.timeout(lookUpMs));
  await verifyClaims(wanted.slice(0, claimsMax), read, tree, ({ status, claim, reason }) => {
    if (status === 'wrong') report(`"${claim.text}" – ${reason}`);
  });
}
