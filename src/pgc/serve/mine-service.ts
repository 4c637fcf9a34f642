import type { Client } from '../../client/client.js';
import { BusError } from '../../errors/bus-error.js';
import { codec, pgc } from '../../wire/codec.js';
import {
  grammarLanguages,
  minerVersion,
  textLanguages,
  type FactsLanguage,
} from '../format/facts.js';
import { MinerPool } from '../mine/pool.js';
import type { FarMiners } from '../mine/spread.js';

/** Only hosts of shards may offer it. Facts of another version of the miner are others: who asks finds only those of its own. */
const mineService = `mine.v${minerVersion}`;
const mineType = 'pgc.mine';
const mineRequest = codec<{ language: string; source: Uint8Array }>(pgc.MineRequest);
/** One file takes half a minute at most, and others wait before it. */
const mineMsMax = 120_000;
/** Files that one host takes at once: it says its number of threads nowhere. */
const placesPerHost = 8;

/** Mines files for index runs elsewhere, on up to `jobs` threads. */
export class MineService implements AsyncDisposable {
  readonly #pool: MinerPool;
  mined = 0;

  constructor(jobs: number) {
    this.#pool = new MinerPool(jobs);
  }

  async serveOn(client: Client): Promise<void> {
    client.serve({
      [mineType]: async ({ body }) => {
        const { language, source } = mineRequest.decode(body);
        const facts = await this.#pool.mine(languageOf(language), source);
        this.mined += 1;
        return Buffer.from(facts.buffer, facts.byteOffset, facts.byteLength);
      },
    });
    await client.offer([mineService]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.close();
  }
}

/** Those on the bus that mine for others, with this version of the miner; undefined: there are none. */
export async function minersOn(client: Client): Promise<FarMiners | undefined> {
  const { services } = await client.status();
  const hosts = services.find(({ name }) => name === mineService)?.agents.length ?? 0;
  if (hosts === 0) return undefined;
  return {
    places: hosts * placesPerHost,
    async mine(language, source) {
      const body = mineRequest.encode({ language, source });
      const options = { deadlineMs: mineMsMax, isIdempotent: true };
      const { from, body: facts } = await client.request(
        `service:${mineService}`,
        mineType,
        body,
        options,
      );
      return { facts, by: from };
    },
  };
}

function languageOf(name: string): FactsLanguage {
  const found = [...grammarLanguages, ...textLanguages].find((each) => each === name);
  if (found === undefined)
    throw new BusError('MALFORMED_PAYLOAD', { detail: `no language ${name}` });
  return found;
}
