import { expect, test } from 'vitest';
import { textOf, type Asking, type Operation } from '../../../src/operations/operation.js';
import { latticePath, topology } from '../../../src/operations/topology.js';

test.each([
  ['topology', topology as never, {}],
  ['lattice_path', latticePath as never, { from: 'a', to: 'b' }],
] as [string, Operation<never>, object][])('%s ends with its call', async (_, operation, args) => {
  const over = new AbortController();
  const untilOver = (...its: unknown[]): Promise<never> =>
    new Promise((_resolve, reject) => {
      const { signal } = its.at(-1) as { signal: AbortSignal };
      signal.addEventListener('abort', () => reject(new Error('given up')));
    });
  const questions = { topology: untilOver, path: untilOver };
  const bus = { questions: () => Promise.resolve(questions) } as unknown as Asking;
  const asked = textOf(operation, args, { bus, signal: over.signal, tell: () => undefined });
  setImmediate(() => over.abort());
  await expect(asked).rejects.toThrow('given up');
});
