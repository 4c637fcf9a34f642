import { readFile, rm } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { minerVersion } from '../format/facts.js';
import { segmentFormat, writeAtomically } from '../format/segment-file.js';

/** Raised whenever a shard would answer the same question differently. */
const format = 2;
/** Limit for questions × shards; each pair takes a byte before compression. */
const verdictsMax = 100_000_000;
const fileBytesMax = 256 * 1024 * 1024;

/** The first line of the file. Then one row for each version, with one byte for each question. */
const schema = z.object({
  format: z.literal(format),
  miner: z.literal(minerVersion),
  segment_format: z.literal(segmentFormat),
  questions: z.array(z.string()),
  /** Of shards. */
  versions: z.array(z.string()),
});
const lineEnd = 0x0a;
/** A shard's answer to a question; 0: not asked. */
const yes = 1;
const no = 2;

/** A shard that can be asked; it is opened only when there is something to ask. */
export interface Witness {
  /** Changes with the content of the shard: the same version gives the same answers. */
  version: string;
  /** Questions from this shard, which are likely to find their answer in it. */
  own: ReadonlySet<string>;
  /** In the order of the questions. */
  testify(questions: readonly string[]): Promise<readonly boolean[]>;
}

/**
 * Finds out which questions at least one shard answers with yes. Answers are cached by version of the shard, so that
 * after a small change few questions are asked.
 */
export class Verdicts {
  /** Question → its number. */
  readonly #numbers = new Map<string, number>();
  /** Version of a shard → its answers by number of the question. */
  readonly #said = new Map<string, Uint8Array>();

  /** An empty cache when the file is absent, damaged or of another version. */
  static async read(path: string): Promise<Verdicts> {
    try {
      const whole = gunzipSync(await readFile(path), { maxOutputLength: fileBytesMax });
      const rows = whole.indexOf(lineEnd) + 1;
      const { questions, versions } = schema.parse(JSON.parse(whole.toString('utf8', 0, rows)));
      const verdicts = new Verdicts();
      for (const question of questions) verdicts.#numberOf(question);
      const width = questions.length;
      for (const [row, version] of versions.entries())
        verdicts.#said.set(version, whole.subarray(rows + row * width, rows + (row + 1) * width));
      return whole.length === rows + versions.length * width ? verdicts : new Verdicts();
    } catch {
      return new Verdicts();
    }
  }

  /** Returns the questions that at least one shard answers with yes. */
  async ask(questions: ReadonlySet<string>, witnesses: readonly Witness[]): Promise<Set<string>> {
    const open = new Set<string>();
    const known = witnesses.map(({ version }) => this.#said.get(version));
    for (const question of questions) {
      const number = this.#numberOf(question);
      if (!known.some((said) => said?.[number] === yes)) open.add(question);
    }
    for (const witness of witnesses)
      await this.#hear(
        witness,
        [...witness.own].filter((each) => open.has(each)),
        open,
      );
    for (const witness of witnesses) await this.#hear(witness, open, open);
    return new Set([...questions].filter((each) => !open.has(each)));
  }

  /**
   * Keeps the answers of these shards to these questions only; removes the file if there are too many. Throws
   * STORE_UNAVAILABLE.
   */
  async write(
    path: string,
    questions: ReadonlySet<string>,
    witnesses: readonly Witness[],
  ): Promise<void> {
    if (questions.size * witnesses.length > verdictsMax) return rm(path, { force: true });
    const numbers = Uint32Array.from(questions, (question) => this.#numberOf(question));
    const rows = witnesses.map(({ version }) => {
      const said = this.#said.get(version);
      return Uint8Array.from(numbers, (number) => said?.[number] ?? 0);
    });
    const header: z.infer<typeof schema> = {
      ...{ format, miner: minerVersion, segment_format: segmentFormat },
      ...{ questions: [...questions], versions: witnesses.map(({ version }) => version) },
    };
    const line = Buffer.from(`${JSON.stringify(header)}\n`);
    await writeAtomically(path, [gzipSync(Buffer.concat([line, ...rows]), { level: 1 })]);
  }

  #numberOf(question: string): number {
    let number = this.#numbers.get(question);
    if (number === undefined) this.#numbers.set(question, (number = this.#numbers.size));
    return number;
  }

  async #hear(witness: Witness, wanted: Iterable<string>, open: Set<string>): Promise<void> {
    const said = this.#widened(witness.version);
    const unasked = [...wanted].filter((each) => said[this.#numberOf(each)] !== no);
    if (unasked.length === 0) return;
    const answers = await witness.testify(unasked);
    for (const [at, question] of unasked.entries()) {
      said[this.#numberOf(question)] = answers[at] === true ? yes : no;
      if (answers[at] === true) open.delete(question);
    }
  }

  /** A row of answers with room for every known question. */
  #widened(version: string): Uint8Array {
    const said = this.#said.get(version);
    if (said !== undefined && said.length >= this.#numbers.size) return said;
    const wider = new Uint8Array(this.#numbers.size);
    wider.set(said ?? []);
    this.#said.set(version, wider);
    return wider;
  }
}
