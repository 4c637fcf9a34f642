import { assert } from '../base/assert.js';
import type { ModelFiles } from './bundled-model.js';
import { ModelRunner, type PieceMarks } from './model-runner.js';
import type { TableRows } from './token-table.js';

/** Requests to the model's process, answered in order. */
export type ModelRequest =
  | { what: 'load'; files: ModelFiles; threads: number }
  | { what: 'embed'; ids: readonly (readonly number[])[] }
  | { what: 'derive'; marks: PieceMarks };

export type ModelAnswer = { vectors: Float32Array } | { table: TableRows } | { failure: string };

assert(process.connected, 'this module runs as the process of the model');
let runner: Promise<ModelRunner> | undefined;
let last: Promise<void> = Promise.resolve();

// The parent process is gone.
process.on('disconnect', () => process.exit());
process.on('message', (request: ModelRequest) => {
  last = last.then(async () => {
    process.send?.(await answerTo(request));
  });
});

async function answerTo(request: ModelRequest): Promise<ModelAnswer> {
  try {
    if (request.what === 'load') {
      runner = ModelRunner.load(request.files, request.threads);
      await runner;
      return { vectors: new Float32Array() };
    }
    assert(runner, 'the model is loaded first');
    const loaded = await runner;
    if (request.what === 'embed') return { vectors: await loaded.embed(request.ids) };
    return { table: await loaded.derive(request.marks) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
