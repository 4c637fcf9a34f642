import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Client } from '../../src/client/client.js';
import type { Incoming } from '../../src/client/responder.js';
import type { Config } from '../../src/config/config.js';
import { asBusError, BusError, type ErrorData } from '../../src/errors/bus-error.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';
import type { AnalysisName } from '../../src/pgc/analysis/analyses.js';
import { traceTo, type Logger } from '../../src/observe/log.js';
import { placeOf } from '../../src/pgc/manifest.js';
import { treeMessages } from '../../src/pgc/messages.js';
import { realRoot } from '../../src/pgc/source-tree.js';
import { treeServiceOf } from '../../src/pgc/tree-service.js';
import { openClient, untilAccepted } from '../process.js';

/** Analyses that are asked for and not answered; one more is refused BROKER_BUSY. */
export const jobsMax = 16;
/** A tree that nobody asks about is closed after this: an index of a kernel takes a gigabyte. */
export const idleMs = 120_000;

export interface TreeWorkerData {
  folder: string;
  home: string;
}

export interface TreeJob {
  id: number;
  name: AnalysisName;
  body: Uint8Array;
}

export type TreeReply = { id: number } & (
  | { body: Uint8Array; failure?: never }
  | {
      body?: never;
      failure: { code: ErrorCode; data: ErrorData };
    }
);

export interface TreeDeskParts {
  /** Of the tree, as it was named. */
  folder: string;
  home: string;
  /** Changes when another index is in force. */
  stamp: () => string;
  idleMs?: number;
  /** Of the thread. */
  module?: URL;
}

/**
 * Answers the analyses of a whole tree from its index. In a thread of its own, which opens all shards once more
 * when it is first asked: the shards that answer questions beside it do not wait for a walk over five million calls.
 */
export class TreeDesk {
  readonly #parts: TreeDeskParts;
  #thread: TreeThread | undefined;
  #stamp = '';
  #open = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: TreeDeskParts) {
    this.#parts = parts;
  }

  /** `root`: absolute, without links. Several hosts of one tree share the requests. */
  async serveOn(client: Client, root: string): Promise<void> {
    for (const [name, { type }] of Object.entries(treeMessages)) {
      client.serve({ [type]: ({ body }: Incoming) => this.answer(name as AnalysisName, body) });
    }
    await client.offer([treeServiceOf(root)]);
  }

  /** Throws BROKER_BUSY, AGENT_FAILED (the thread died) and what the analysis throws. */
  async answer(name: AnalysisName, body: Buffer): Promise<Buffer> {
    if (this.#open >= jobsMax) throw new BusError('BROKER_BUSY', { limit: `${jobsMax} analyses` });
    clearTimeout(this.#idle);
    this.#open += 1;
    try {
      return await this.#threadInForce().ask(name, body);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#rest();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }

  /** Of the index that is in force now; what an older one was asked, it still answers. */
  #threadInForce(): TreeThread {
    const stamp = this.#parts.stamp();
    if (this.#thread?.isAlive === true && stamp === this.#stamp) return this.#thread;
    this.#thread?.retire();
    this.#stamp = stamp;
    const { folder, home, module = new URL('./tree-worker.js', import.meta.url) } = this.#parts;
    return (this.#thread = new TreeThread(module, { folder, home }));
  }

  #rest(): void {
    this.#idle = setTimeout(() => {
      this.#thread?.retire();
      this.#thread = undefined;
    }, this.#parts.idleMs ?? idleMs);
    this.#idle.unref();
  }
}

/** The desk of a tree on a connection of its own, which needs no shard to be open. Offers in the background. Throws REPO_UNREADABLE. */
export async function openTreeDesk(
  config: Config,
  folder: string,
  log: Logger,
): Promise<{ close: () => Promise<void> }> {
  const root = await realRoot(folder);
  const { manifest } = placeOf(root, config.home);
  const agent = `tree-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = openClient(config, { agent, role: 'pgc', isEphemeral: true }, traceTo(log));
  const desk = new TreeDesk({ folder, home: config.home, stamp: () => stampOf(manifest) });
  const offered = untilAccepted(client, log, () => desk.serveOn(client, root));
  offered.catch(() => undefined);
  return {
    close: async () => {
      await client.close();
      await desk.close();
    },
  };
}

function stampOf(path: string): string {
  try {
    const { ino, mtimeMs } = statSync(path);
    return `${ino}:${mtimeMs}`;
  } catch {
    return '';
  }
}

interface Waiting {
  resolve: (body: Buffer) => void;
  reject: (error: BusError) => void;
}

class TreeThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #isRetired = false;
  isAlive = true;

  constructor(module: URL, workerData: TreeWorkerData) {
    this.#worker = new Worker(module, { workerData });
    this.#worker.unref();
    this.#worker.on('message', (reply: TreeReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#die(asBusError(error).message));
    this.#worker.on('exit', (code) => this.#die(`its thread ended with code ${code}`));
  }

  ask(name: AnalysisName, body: Buffer): Promise<Buffer> {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, body } satisfies TreeJob);
    });
  }

  /** Ends when what it was asked is answered. */
  retire(): void {
    this.#isRetired = true;
    if (this.#waiting.size === 0) void this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle({ id, body, failure }: TreeReply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (body !== undefined) waiting?.resolve(Buffer.from(body));
    else waiting?.reject(new BusError(failure.code, failure.data));
    if (this.#isRetired && this.#waiting.size === 0) void this.end();
  }

  #die(detail: string): void {
    this.isAlive = false;
    const error = new BusError('AGENT_FAILED', { agent: 'the tree', detail });
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
