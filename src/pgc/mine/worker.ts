import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/assert.js';
import type { FactsLanguage } from '../format/facts.js';
import { encodeFacts } from '../format/packed-facts.js';
import type { RulesInForce } from './items/rules-in-force.js';
import { Miner } from './mine.js';

/** What the pool posts; the answer is the encoded facts alone. One file at a time. */
export interface MineRequest {
  language: FactsLanguage;
  source: Uint8Array;
}

assert(parentPort, 'this module runs as a worker of the miner pool');
const port = parentPort;
// Rules of O2 where a tree has its own.
const { rules } = (workerData ?? {}) as { rules?: RulesInForce };
const miner = new Miner(rules);

// A failure is not caught: what WebAssembly leaves behind cannot be trusted, so the thread ends and the
// pool starts another.
port.on('message', (request: MineRequest) => {
  void mine(request);
});

async function mine({ language, source }: MineRequest): Promise<void> {
  // The encoder writes into a pooled buffer; only an own one can be handed over.
  const facts = new Uint8Array(encodeFacts(await miner.mine(language, source)));
  port.postMessage(facts, [facts.buffer]);
}
