import { createRequire } from 'node:module';
import { systemClock } from '../base/clock.js';
import { bundledModel, readVerified, type ModelFiles } from './bundled-model.js';
import { toUnitLength } from './embedder.js';
import { distil, type TableRows } from './token-table.js';

/** Pieces of the vocabulary in one run. */
const piecesPerRun = 512;
const { dims } = bundledModel;

/** Of a vocabulary: ids of the start and end marks, and the number of pieces. */
export interface PieceMarks {
  start: number;
  end: number;
  count: number;
}

/** What is used of onnxruntime, which may not be installed. */
interface Runtime {
  InferenceSession: {
    create(
      model: Uint8Array,
      options: {
        intraOpNumThreads: number;
        interOpNumThreads: number;
        logSeverityLevel: number;
        graphOptimizationLevel: 'disabled';
        extra: { session: { intra_op: { allow_spinning: '0' } } };
      },
    ): Promise<Session>;
  };
  Tensor: new (type: 'int64', data: BigInt64Array, shape: readonly number[]) => object;
}
interface Session {
  run(inputs: Record<string, object>): Promise<Record<string, { data: Float32Array }>>;
}

/**
 * The bundled model in this process, from ids of pieces to vectors. A run blocks it, and the runtime cannot be loaded
 * by two threads of one process: a process with other work uses `Minilm`.
 */
export class ModelRunner {
  private constructor(
    readonly runtime: Runtime,
    readonly session: Session,
  ) {}

  /** `threads`: of the runtime. Throws Error for files that are not those that are known. */
  static async load(files: ModelFiles, threads: number): Promise<ModelRunner> {
    const reading = readVerified(files.weights, bundledModel.weightsSha256);
    // Starts while they are read; a failure here is ignored.
    reading.catch(() => undefined);
    await systemClock.turn();
    const runtime = createRequire(import.meta.url)(files.runtime) as Runtime;
    const weights = await reading;
    const session = await runtime.InferenceSession.create(weights, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      // Errors only: what it warns of is its own graph.
      logSeverityLevel: 3,
      // It would take longer than all that it gains in fifty questions.
      graphOptimizationLevel: 'disabled',
      // On a busy machine threads that wait in loops take each other's time.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
    return new ModelRunner(runtime, session);
  }

  /**
   * Vectors of length 1, one after the other. Each text is read alone: weights of 8 bits scale what they multiply by the
   * whole run, so that a text would mean something else in other company (cosines of .98), and an answer would depend on
   * what was asked before. It costs a sixth more time.
   */
  async embed(texts: readonly (readonly number[])[]): Promise<Float32Array> {
    const vectors = new Float32Array(texts.length * dims);
    for (const [at, ids] of texts.entries())
      vectors.set(toUnitLength(await this.#run([ids])), at * dims);
    return vectors;
  }

  /** The table of single pieces, each read between start and end. Some seven seconds. */
  async derive({ start, end, count }: PieceMarks): Promise<TableRows> {
    const vectors = new Float32Array(count * dims);
    for (let from = 0; from < count; from += piecesPerRun) {
      const length = Math.min(piecesPerRun, count - from);
      const ids = Array.from({ length }, (_, at) => [start, from + at, end]);
      vectors.set(await this.#run(ids), from * dims);
      // Yield between runs: the waiter may be gone.
      await systemClock.turn();
    }
    return distil(vectors, dims);
  }

  /** The mean of the last layer over the tokens of each text. */
  async #run(ids: readonly (readonly number[])[]): Promise<Float32Array> {
    const width = ids.reduce((widest, each) => Math.max(widest, each.length), 0);
    const tokens = new BigInt64Array(ids.length * width);
    const mask = new BigInt64Array(tokens.length);
    for (const [row, each] of ids.entries())
      for (const [column, id] of each.entries()) {
        tokens[row * width + column] = BigInt(id);
        mask[row * width + column] = 1n;
      }
    const tensor = (data: BigInt64Array): object =>
      new this.runtime.Tensor('int64', data, [ids.length, width]);
    const output = await this.session.run({
      input_ids: tensor(tokens),
      attention_mask: tensor(mask),
      token_type_ids: tensor(new BigInt64Array(tokens.length)),
    });
    const hidden = output.last_hidden_state?.data;
    if (hidden?.length !== tokens.length * dims) throw new Error('the model gave another shape');
    const pooled = new Float32Array(ids.length * dims);
    for (const [row, { length }] of ids.entries())
      for (let column = 0; column < length; column += 1) {
        const at = (row * width + column) * dims;
        for (let dim = 0; dim < dims; dim += 1)
          pooled[row * dims + dim] =
            (pooled[row * dims + dim] ?? 0) + (hidden[at + dim] ?? 0) / length;
      }
    return pooled;
  }
}
