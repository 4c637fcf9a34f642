import { auditOutcomes, type AuditEntry } from '../base/audit.js';

/** A batch leaves when either is full; a larger body gets a batch of its own. */
export const batchBodyBytes = 256 * 1024;
const batchEntriesMax = 1_024;
const batchTextChars = 256 * 1_024;

/** Per entry: time, outcome, seq, body length, then the lengths of its seven texts. */
const numbersPerEntry = 11;
const batchNumbersBytes = batchEntriesMax * numbersPerEntry * Float64Array.BYTES_PER_ELEMENT;

/** As it travels to the thread that writes: two buffers that change hands, and one text. */
export interface PackedBatch {
  count: number;
  /** Entries before these that could not be recorded. */
  lost: number;
  text: string;
  numbers: ArrayBuffer;
  bodies: ArrayBuffer;
}

/**
 * Entries on their way to the writer. Cloning objects between threads costs microseconds each; lengths in
 * one buffer, bodies in another and all texts joined into one cost a fraction of one per entry.
 */
export class AuditBatch {
  readonly #numbers: Float64Array<ArrayBuffer>;
  readonly #bodies: Uint8Array<ArrayBuffer>;
  #text = '';
  #bodyBytes = 0;
  #count = 0;

  constructor(numbers = new ArrayBuffer(batchNumbersBytes), bodies = new ArrayBuffer(0)) {
    this.#numbers = new Float64Array(numbers);
    this.#bodies = new Uint8Array(bodies);
  }

  /** Carries only the number of lost entries. */
  static empty(): AuditBatch {
    return new AuditBatch(new ArrayBuffer(0));
  }

  /** The bytes of its bodies' buffer. */
  get bytes(): number {
    return this.#bodies.byteLength;
  }

  get count(): number {
    return this.#count;
  }

  /** False: it is full, and the entry belongs into the next one. */
  add(entry: AuditEntry): boolean {
    const { atMs, what, seq, body, from, to, type, id, correlation, code, person } = entry;
    if (
      this.#count >= batchEntriesMax ||
      this.#text.length >= batchTextChars ||
      this.#bodyBytes + body.length > this.#bodies.length
    )
      return false;
    const numbers = this.#numbers;
    const at = this.#count * numbersPerEntry;
    numbers[at] = atMs;
    numbers[at + 1] = auditOutcomes.indexOf(what);
    numbers[at + 2] = seq;
    numbers[at + 3] = body.length;
    numbers[at + 4] = from.length;
    numbers[at + 5] = to.length;
    numbers[at + 6] = type.length;
    numbers[at + 7] = id.length;
    numbers[at + 8] = correlation.length;
    numbers[at + 9] = code.length;
    numbers[at + 10] = person.length;
    this.#text += from + to + type + id + correlation + code + person;
    this.#bodies.set(body, this.#bodyBytes);
    this.#bodyBytes += body.length;
    this.#count += 1;
    return true;
  }

  /** The batch must not be used afterwards: its buffers go with the message. */
  packed(lost: number): PackedBatch {
    return {
      count: this.#count,
      lost,
      text: this.#text,
      numbers: this.#numbers.buffer,
      bodies: this.#bodies.buffer,
    };
  }
}

/** The entries of a batch; their bodies are views of its buffer. */
export function* unpacked(batch: PackedBatch): Generator<AuditEntry> {
  const numbers = new Float64Array(batch.numbers);
  let textAt = 0;
  let bodyAt = 0;
  for (let count = 0; count < batch.count; count += 1) {
    const at = count * numbersPerEntry;
    const number = (which: number): number => numbers[at + which] as number;
    const text = (which: number): string => {
      const from = textAt;
      textAt += number(which);
      return batch.text.slice(from, textAt);
    };
    const body = new Uint8Array(batch.bodies, bodyAt, number(3));
    bodyAt += body.length;
    yield {
      atMs: number(0),
      what: auditOutcomes[number(1)] ?? 'delivered',
      seq: number(2),
      from: text(4),
      to: text(5),
      type: text(6),
      id: text(7),
      correlation: text(8),
      code: text(9),
      person: text(10),
      body,
    };
  }
}
