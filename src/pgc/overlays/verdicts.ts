import { readFile, rm } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { minerVersion } from '../facts.js';
import { segmentFormat, writeAtomically } from '../segment-file.js';

/** Raised whenever a shard would answer another thing to the same question. */
const format = 1;
/** Each takes some eight bytes. */
const verdictsMax = 20_000_000;
const fileBytesMax = 256 * 1024 * 1024;

const schema = z.object({
  format: z.literal(format),
  miner: z.literal(minerVersion),
  segment_format: z.literal(segmentFormat),
  questions: z.array(z.string()),
  /** By the version of a shard: positions in `questions` of what it said yes, and no, to. */
  shards: z.record(z.string(), z.object({ yes: z.array(z.number()), no: z.array(z.number()) })),
});

/** What one shard can be asked: opened when there is something to ask. */
export interface Witness {
  /** Of all that is in it: the same version answers the same. */
  version: string;
  /** Questions that are likely to find their answer here. */
  own: ReadonlySet<string>;
  /** Answers each in turn. */
  testify(questions: readonly string[]): Promise<readonly boolean[]>;
}

/**
 * Questions that one shard of many answers with yes, or none. Who has answered once is not asked again for as
 * long as it has not changed, so that a small change asks few.
 */
export class Verdicts {
  readonly #yes = new Map<string, Set<string>>();
  readonly #no = new Map<string, Set<string>>();

  /** Without any when the file is absent, damaged or of another version. */
  static async read(path: string): Promise<Verdicts> {
    const verdicts = new Verdicts();
    try {
      const text = gunzipSync(await readFile(path), { maxOutputLength: fileBytesMax }).toString();
      const { questions, shards } = schema.parse(JSON.parse(text));
      const named = (positions: number[]): Set<string> =>
        new Set(positions.map((at) => questions[at] ?? ''));
      for (const [version, { yes, no }] of Object.entries(shards)) {
        verdicts.#yes.set(version, named(yes));
        verdicts.#no.set(version, named(no));
      }
      return verdicts;
    } catch {
      return new Verdicts();
    }
  }

  /** Those of the questions to which somebody says yes. */
  async ask(questions: ReadonlySet<string>, witnesses: readonly Witness[]): Promise<Set<string>> {
    const open = new Set(questions);
    for (const { version } of witnesses)
      for (const question of this.#yes.get(version) ?? []) open.delete(question);
    for (const witness of witnesses)
      await this.#hear(
        witness,
        [...witness.own].filter((each) => open.has(each)),
        open,
      );
    for (const witness of witnesses) await this.#hear(witness, [...open], open);
    return new Set([...questions].filter((each) => !open.has(each)));
  }

  /** Only of these questions and witnesses, which are those of the next time; none where there are too many. Throws STORE_UNAVAILABLE. */
  async write(
    path: string,
    questions: ReadonlySet<string>,
    witnesses: readonly Witness[],
  ): Promise<void> {
    const listed = [...questions];
    const position = new Map(listed.map((question, at) => [question, at]));
    const positions = (which: ReadonlySet<string> | undefined): number[] =>
      [...(which ?? [])].flatMap((question) => position.get(question) ?? []);
    const whole: z.infer<typeof schema> = {
      ...{ format, miner: minerVersion, segment_format: segmentFormat, questions: listed },
      shards: Object.fromEntries(
        witnesses.map(({ version }) => [
          version,
          { yes: positions(this.#yes.get(version)), no: positions(this.#no.get(version)) },
        ]),
      ),
    };
    const count = Object.values(whole.shards).reduce(
      (sum, { yes, no }) => sum + yes.length + no.length,
      0,
    );
    if (count > verdictsMax) return rm(path, { force: true });
    await writeAtomically(path, [gzipSync(JSON.stringify(whole), { level: 1 })]);
  }

  async #hear(witness: Witness, wanted: readonly string[], open: Set<string>): Promise<void> {
    const yes = this.#yes.get(witness.version) ?? new Set();
    const no = this.#no.get(witness.version) ?? new Set();
    this.#yes.set(witness.version, yes);
    this.#no.set(witness.version, no);
    const unasked = wanted.filter((each) => !no.has(each));
    if (unasked.length === 0) return;
    const answers = await witness.testify(unasked);
    for (const [at, question] of unasked.entries()) {
      (answers[at] === true ? yes : no).add(question);
      if (answers[at] === true) open.delete(question);
    }
  }
}
