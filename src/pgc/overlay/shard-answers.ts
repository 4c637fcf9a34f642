import { readFile, rm } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { minerVersion } from '../format/facts.js';
import { segmentFormat, writeAtomically } from '../format/container/segment-file.js';

/** Raised whenever a shard would answer the same question differently. */
const format = 2;
/** Limit for questions × shards; each pair takes a byte before compression. */
const answersMax = 100_000_000;
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
export interface AskedShard {
  /** Changes with the content of the shard: the same version gives the same answers. */
  version: string;
  /** Questions from this shard, which are likely to find their answer in it. */
  own: ReadonlySet<string>;
  /** The version before this one, and whether this one may say yes where that said no. */
  before?: { version: string; mayAnswer: (question: string) => boolean } | undefined;
  /** In the order of the questions. */
  answer(questions: readonly string[]): Promise<readonly boolean[]>;
}

/**
 * Finds out which questions at least one shard answers with yes. Answers are cached by version of the shard, so that
 * after a small change few questions are asked.
 */
export class ShardAnswers {
  /** Question → its number. */
  readonly #numbers = new Map<string, number>();
  /** Version of a shard → its answers by number of the question. */
  readonly #answers = new Map<string, Uint8Array>();

  /** An empty cache when the file is absent, damaged or of another version. */
  static async read(path: string): Promise<ShardAnswers> {
    try {
      const bytes = gunzipSync(await readFile(path), { maxOutputLength: fileBytesMax });
      const rows = bytes.indexOf(lineEnd) + 1;
      const { questions, versions } = schema.parse(JSON.parse(bytes.toString('utf8', 0, rows)));
      const known = new ShardAnswers();
      for (const question of questions) known.#numberOf(question);
      const width = questions.length;
      for (const [row, version] of versions.entries())
        known.#answers.set(version, bytes.subarray(rows + row * width, rows + (row + 1) * width));
      return bytes.length === rows + versions.length * width ? known : new ShardAnswers();
    } catch {
      return new ShardAnswers();
    }
  }

  /** Returns the questions that at least one shard answers with yes. */
  async ask(questions: ReadonlySet<string>, shards: readonly AskedShard[]): Promise<Set<string>> {
    const open = new Set<string>();
    const rows = shards.map(({ version }) => this.#answers.get(version));
    for (const question of questions) {
      const number = this.#numberOf(question);
      if (!rows.some((answers) => answers?.[number] === yes)) open.add(question);
    }
    for (const shard of shards) {
      const likely = [...shard.own].filter((each) => open.has(each));
      await this.#askShard(shard, likely, open);
    }
    for (const shard of shards) await this.#askShard(shard, open, open);
    return new Set([...questions].filter((each) => !open.has(each)));
  }

  /**
   * Keeps the answers of these shards to these questions only; removes the file if there are too many. Throws
   * STORE_UNAVAILABLE.
   */
  async write(
    path: string,
    questions: ReadonlySet<string>,
    shards: readonly AskedShard[],
  ): Promise<void> {
    if (questions.size * shards.length > answersMax) return rm(path, { force: true });
    const numbers = Uint32Array.from(questions, (question) => this.#numberOf(question));
    // As they were read, unless other questions came.
    const isInOrder = numbers.every((number, at) => number === at);
    const rows = shards.map(({ version }) => {
      const answers = this.#answers.get(version);
      if (isInOrder && answers !== undefined && answers.length >= numbers.length)
        return answers.subarray(0, numbers.length);
      const row = new Uint8Array(numbers.length);
      for (let at = 0; at < row.length; at += 1) row[at] = answers?.[numbers[at] ?? 0] ?? 0;
      return row;
    });
    const header: z.infer<typeof schema> = {
      ...{ format, miner: minerVersion, segment_format: segmentFormat },
      ...{ questions: [...questions], versions: shards.map(({ version }) => version) },
    };
    const line = Buffer.from(`${JSON.stringify(header)}\n`);
    await writeAtomically(path, [gzipSync(Buffer.concat([line, ...rows]), { level: 1 })]);
  }

  #numberOf(question: string): number {
    let number = this.#numbers.get(question);
    if (number === undefined) this.#numbers.set(question, (number = this.#numbers.size));
    return number;
  }

  async #askShard(shard: AskedShard, wanted: Iterable<string>, open: Set<string>): Promise<void> {
    const answers = this.#widened(shard.version);
    const { version = '', mayAnswer } = shard.before ?? {};
    const before = this.#answers.get(version);
    const unasked = [...wanted].filter((each) => {
      const number = this.#numberOf(each);
      if (before?.[number] === no && mayAnswer?.(each) === false) answers[number] ||= no;
      return answers[number] !== no;
    });
    if (unasked.length === 0) return;
    const replies = await shard.answer(unasked);
    for (const [at, question] of unasked.entries()) {
      answers[this.#numberOf(question)] = replies[at] === true ? yes : no;
      if (replies[at] === true) open.delete(question);
    }
  }

  /** A row of answers with room for every known question. */
  #widened(version: string): Uint8Array {
    const answers = this.#answers.get(version);
    if (answers !== undefined && answers.length >= this.#numbers.size) return answers;
    const wider = new Uint8Array(this.#numbers.size);
    wider.set(answers ?? []);
    this.#answers.set(version, wider);
    return wider;
  }
}
