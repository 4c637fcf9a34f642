import { jetstream } from '@nats-io/jetstream';
import { setTimeout as wait } from 'node:timers/promises';
import { connectNats } from '../../../dist/src/nats/connect.js';
import { decodeEntry, decodeLead } from '../../../dist/src/nats/log-entry.js';

const fetchMax = 512;
const fetchMs = 1_000;
const againMs = 500;
const wrongMax = 5;

/**
 * Reads the log of one office as it grows, from its first entry, and sees who wrote when: an entry names the one before it, so that
 * a writer that did not know of another leader's entry is found out.
 */
export class LogWatch {
  /** Of each entry by which a process took over: `{ writer, sequence, atMs }`. */
  leads = [];
  entries = 0;
  /** What may not be, in words. */
  wrong = [];
  #last = { sequence: 0, crc: 0 };
  #writers = new Set();
  #stopping = new AbortController();
  #running;
  #connection;

  static async of(access, stream) {
    const watch = new LogWatch();
    watch.name = stream;
    watch.#connection = await connectNats(access, { isLasting: true });
    watch.#running = watch.#run();
    return watch;
  }

  /** Reads until there is no more. */
  async end() {
    this.#stopping.abort();
    await this.#running;
    await this.#connection.close();
  }

  async #run() {
    const client = jetstream(this.#connection);
    const { signal } = this.#stopping;
    let isIdle = false;
    while (!signal.aborted || !isIdle) {
      try {
        const from = this.#last.sequence + 1;
        const reader = await client.consumers.get(this.name, { opt_start_seq: from });
        do {
          const batch = await reader.fetch({ max_messages: fetchMax, expires: fetchMs });
          isIdle = true;
          for await (const message of batch) {
            isIdle = false;
            this.#take(message);
          }
        } while (!signal.aborted || !isIdle);
      } catch {
        // No stream yet, or its server is gone.
        await wait(againMs);
      }
    }
  }

  #take({ seq, data, time }) {
    const { sequence, crc: before } = this.#last;
    if (seq <= sequence) return;
    if (seq !== sequence + 1) this.#complain(`${seq} follows ${sequence}`);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const { kind, previous, body, crc } = decodeEntry(bytes, this.name, seq);
    this.entries += 1;
    this.#last = { sequence: seq, crc };
    // One that takes over while another writes without pause may not know what it stands behind.
    if (previous !== before && !(kind === 'lead' && previous === 0))
      this.#complain(`${seq} was written by one that did not know ${sequence}`);
    if (kind !== 'lead') return;
    const writer = decodeLead(body).writer.toString('hex');
    if (writer === this.leads.at(-1)?.writer) return;
    if (this.#writers.has(writer)) this.#complain(`at ${seq} an earlier writer leads again`);
    this.#writers.add(writer);
    this.leads.push({ writer, sequence: seq, atMs: time.getTime() });
  }

  #complain(what) {
    if (this.wrong.length < wrongMax) this.wrong.push(`${this.name}: ${what}`);
  }
}

/**
 * What does not agree between the log and what processes said of themselves. Each that said that it leads has taken over in the log
 * before, and after every one of an earlier epoch. `said`: `{ epoch, atMs }` of each.
 */
export function disagreements({ leads, name }, said) {
  const wrong = [];
  const inTime = [...said].sort((one, other) => one.atMs - other.atMs);
  let last = { epoch: 0, sequence: 0 };
  for (const { epoch, atMs } of inTime) {
    const lead = leads.findLast((each) => each.atMs <= atMs);
    if (lead === undefined || lead.sequence <= last.sequence)
      wrong.push(`${name}: epoch ${epoch} took over nowhere`);
    if (epoch <= last.epoch) wrong.push(`${name}: epoch ${epoch} follows ${last.epoch}`);
    last = { epoch, sequence: lead?.sequence ?? last.sequence };
  }
  return wrong;
}
